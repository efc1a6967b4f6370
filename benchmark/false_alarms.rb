# frozen_string_literal: true

# How often does each way of comparing call a difference where there is none? Simulated machines, no servers: the truth is
# known. Ends with status 1 when ours does so more often than it promises, by more than chance in so many repeats.
#
#   bin/exec rake false_alarms    (a few minutes; the machine need not be quiet)

require_relative "support/bench"
%w[methods simulation neighbour].each { |name| require_relative "false_alarms/#{name}" }

module FalseAlarms
  REPEATS_COUNT = 3_000

  # repeats_count: simulated proofs of each kind
  Options = Bench::Options.define("false_alarms", page: "docs/measured/false_alarms.md", needs: "#{REPEATS_COUNT} repeats or more", repeats_count: REPEATS_COUNT, seed: 1) do |parser, given|
    parser.on("--repeats N", Integer, "simulated proofs of each kind (default: #{REPEATS_COUNT})") { |count| given[:repeats_count] = positive(count) }
    parser.on("--seed N", Integer, "of all chance (default: 1)") { |seed| given[:seed] = seed }
  end

  class Options
    # @return [Boolean] whether it is worth a page
    def whole? = repeats_count >= REPEATS_COUNT
  end

  # @param machine [PumaTuner::Probe::MachineFacts] which has no part in the figures
  # @return [Page]
  def self.run(options, machine)
    RubyVM::YJIT.enable if defined?(RubyVM::YJIT.enable)
    seeded = ->(subjects, kind) { subjects.each_with_index.map { |subject, index| kind.new(subject, repeats_count: options.repeats_count, seed: options.seed + index).run } }
    simulations, tails = [Simulation, Tail].map { |kind| seeded.call(Condition::ALL, kind) }
    beside = seeded.call(Neighbour::ALL, Neighbour::Simulation)
    Page.new(machine:, options:, simulations:, tails:, beside:, broken: broken(simulations, tails) + beside.flat_map(&:broken))
  end

  # @return [Array<String>] where ours calls more differences than promised
  def self.broken(simulations, tails)
    tallies = simulations.flat_map do |simulation|
      [*Simulation::ROUNDS_COUNTS.map { |count| ["#{simulation.condition.name}, #{count} rounds", simulation.fixed(Methods::Ours, count)] },
        ["#{simulation.condition.name}, looks", simulation.plan(Plans::Ours)]]
    end
    tallies += tails.map { |tail| ["#{tail.condition.name}, p99", tail.tally(:by_round)] }
    tallies.select { |_, tally| tally.broken? }.map { |what, tally| "#{what}: #{format("%.1f", tally[:false_alarm] * 100)}% false alarms" }
  end

  # Tallies as tables; per cent, unless said otherwise.
  module Table
    class << self
      # @param simulation [Simulation]
      # @return [String]
      def fixed(simulation)
        counts = Simulation::ROUNDS_COUNTS
        groups = {false_alarm: "false alarms", shown: "shows 3%", covered: "holds it"}
        headings = groups.values.flat_map { |title| ["#{title}, #{counts.first} rounds", *counts.drop(1).map(&:to_s)] }
        rows = Methods::ALL.map do |method|
          [method::TITLE, *groups.keys.product(counts).map { |name, count| percent(simulation.fixed(method, count)[name]) }]
        end
        Bench::Markdown.table(["", *headings], rows)
      end

      # @param simulation [Simulation]
      # @return [String]
      def plans(simulation)
        rows = Plans::ALL.map do |plan|
          tally = simulation.plan(plan)
          [plan::TITLE, *%i[false_alarm shown covered].map { |name| percent(tally[name]) },
            *%i[rounds_of_equals rounds_of_others].map { |name| format("%.1f", tally[name]) }]
        end
        Bench::Markdown.table(["", "false alarms", "shows 3%", "holds it", "rounds, of equals", "rounds, of 3%"], rows)
      end

      # @param tail [Tail]
      # @return [String]
      def tail(tail)
        rows = Tail::TITLES.map { |name, title| [title, percent(tail.tally(name)[:false_alarm]), percent(tail.tally(name)[:shown])] }
        Bench::Markdown.table(["", "false alarms", "shows 10%"], rows)
      end

      # @param simulations [Array<Neighbour::Simulation>]
      # @return [String]
      def beside(simulations)
        rows = simulations.map do |simulation|
          tally = simulation.tally
          [simulation.neighbour.name, *%i[false_alarm shown covered].map { |name| percent(tally[name]) }, format("%.2f", tally[:again])]
        end
        Bench::Markdown.table(["", "false alarms", "shows 10%", "holds it", "rounds run again"], rows)
      end

      private

      def percent(ratio) = format("%.1f", ratio * 100)
    end
  end

  # docs/measured/false_alarms.md
  class Page < Bench::Page
    # @param options [Options]
    # @param simulations [Array<Simulation>] that ran
    # @param tails [Array<Tail>] that ran
    # @param beside [Array<Neighbour::Simulation>] that ran
    # @param broken [Array<String>] promises that were not kept
    def initialize(options:, simulations:, tails:, beside:, broken:, **)
      super(**)
      @options = options
      @simulations = simulations
      @tails = tails
      @beside = beside
      @broken = broken
    end

    # @return [Array<Symbol>]
    def outcomes = [@broken.empty? ? :met : :missed]

    # @return [String] the tables and what came of them
    def results = paragraphs(facts, tables, outcome)

    # @return [String] the whole page
    def to_s = paragraphs(INTRO, facts, outcome, tables, "## The methods", METHODS)

    INTRO = <<~TEXT
      # How often does it call a difference where there is none?

      Written by `benchmark/false_alarms.rb`; not to be edited. To repeat it: `bin/exec rake false_alarms`, which takes a few
      minutes (`--help` tells how to have less of it, `--write` writes this page).

      All of it is simulated, as only there the truth is known: trials follow each other on a machine whose speed wanders, and
      each fresh process is off by something of its own. Two equal variants are compared, over and over; whatever is then called
      a difference is a false alarm, of which 5 in 100 are promised. Then one is made 3% faster: *shows 3%* is how often
      that is seen, *holds it* how often the interval has the true 3% in it, which should be 95 in 100. To see much is no
      merit in who sees as much where there is nothing. How much a real machine wanders is its own affair:
      `puma_tuner prove --false-alarms` measures it.
    TEXT

    METHODS = <<~TEXT
      A round is one trial of each variant, one after the other; which comes first is shuffled, each order followed by its
      reverse. Ours takes the log of the ratio within each round, the middle of the mean of any two of them (Hodges-Lehmann), and
      the interval of the exact signed-rank test. The other methods get the same trials. Blocks give the first half of them to one
      variant, the second half to the other. One run each takes two trials, and of each as many samples as the rounds would have
      given, which scatter by 2% within their process: it mistakes what a process is off by for a difference.

      Looks: a proof may end when the interval excludes "no difference", or lies within 1 ± 2%. Ours looks three times, each time
      with an interval of 98.3% (a third of the 5% each).

      p99: ten rounds of 3,000 requests for each variant, whose latencies are exponential about what the process is good for.
    TEXT

    BESIDE = <<~TEXT
      Whole proofs of 12 rounds, with PumaTuner's own rules for rounds that others disturb (`lib/puma_tuner/prove/disturbance.rb`): a round is
      run again when it is an outlier in how much more they took from one variant than from the other, at most a third of the planned ones. A
      server's speed is what others leave of the machine, and each process scatters by 1.5% besides. The two variants take eight turns each in a
      round, unless said otherwise. Promised: at most 5% false alarms, and an interval that holds the truth in 94 to 96 of 100.
    TEXT
    private_constant :INTRO, :METHODS, :BESIDE

    private

    def facts
      count = @options.repeats_count
      "#{super}\n#{count} repeats of each (p99: #{count / Tail::REPEATS_SHARE}), seed #{@options.seed}; a figure near 5% is known to about " \
        "#{format("%.1f", 200 * Math.sqrt(0.05 * 0.95 / count))}%."
    end

    def tables
      list = @beside.map { |one| "- *#{one.neighbour.name}*: #{one.neighbour.description}." }.join("\n")
      [*of_conditions, "## Beside others on the machine", BESIDE.strip, list, Table.beside(@beside)]
    end

    def of_conditions
      @simulations.zip(@tails).flat_map do |simulation, tail|
        condition = simulation.condition
        [
          "## A #{condition.name} machine", "#{condition.description.sub(/\A./, &:upcase)}. Numbers are per cent.",
          "### After a number of rounds fixed beforehand", Table.fixed(simulation), "### When to stop", Table.plans(simulation),
          "### p99", Table.tail(tail)
        ]
      end
    end

    def outcome
      return "Ours keeps its promise everywhere, but for what chance explains in so many repeats." if @broken.empty?
      ["**Ours does not keep its promise:**", *@broken.map { |line| "- #{line}" }].join("\n")
    end
  end
end

Bench.program(__FILE__, FalseAlarms::Options) { |options, machine| FalseAlarms.run(options, machine) }
