# frozen_string_literal: true

require_relative "../support/provenance"

module FalseAlarms
  # What is printed, and docs/false_alarms.md. Generated; nothing in it is written by hand.
  class Page
    # @param options [Options]
    # @param simulations [Array<Simulation>] that ran
    # @param tails [Array<Tail>] that ran
    # @param beside [Array<Neighbour::Simulation>] that ran
    # @param broken [Array<String>] promises that were not kept
    # @param machine [PumaTuner::Probe::MachineFacts] which has no part in the figures
    # @param at [Time]
    def initialize(options:, simulations:, tails:, beside:, broken:, machine: PumaTuner::Probe::MachineFacts.read, at: Time.now)
      @options = options
      @simulations = simulations
      @tails = tails
      @beside = beside
      @broken = broken
      @machine = machine
      @at = at
    end

    # @return [String] the tables and what came of them
    def results = [facts, *tables, outcome].join("\n\n")

    # @return [String] the whole page
    def to_s = "#{[INTRO.strip, facts, outcome, *tables, "## The methods", METHODS.strip].join("\n\n")}\n"

    INTRO = <<~TEXT
      # How often does it call a difference where there is none?

      Written by `benchmark/false_alarms.rb`; not to be edited. To repeat it: `bin/exec rake false_alarms`, which takes a few
      minutes (`--help` tells how to have less of it, `--write` writes this page).

      All of it is simulated, as only there the truth is known: trials follow each other on a machine whose speed wanders, and
      each fresh process is off by something of its own. Two equal variants are compared, over and over; whatever is then called
      a difference is a false alarm, of which 5 in 100 are promised. Then one is made 3 % faster: *shows 3 %* is how often
      that is seen, *holds it* how often the interval has the true 3 % in it, which should be 95 in 100. To see much is no
      merit in who sees as much where there is nothing. How much a real machine wanders is its own affair:
      `puma_tuner prove --calibrate` measures it.
    TEXT

    METHODS = <<~TEXT
      A round is one trial of each variant, one after the other; which comes first is shuffled, each order followed by its
      reverse. Ours takes the log of the ratio within each round, the middle of the mean of any two of them (Hodges-Lehmann), and
      the interval of the exact signed-rank test. The other methods get the same trials. Blocks give the first half of them to one
      variant, the second half to the other. One run each takes two trials, and of each as many samples as the rounds would have
      given, which scatter by 2 % within their process: it mistakes what a process is off by for a difference.

      Looks: a proof may end when the interval excludes "no difference", or lies within 1 ± 2 %. Ours looks three times, each time
      with an interval of 98.3 % (a third of the 5 % each).

      p99: ten rounds of 3,000 requests for each variant, whose latencies are exponential about what the process is good for.
    TEXT

    BESIDE = <<~TEXT
      Whole proofs of 12 rounds, with PumaTuner's own rules for rounds that others disturb (`lib/puma_tuner/prove/disturbance.rb`): a round is
      run again when it is an outlier in how much more they took from one variant than from the other, at most a third of the planned ones. A
      server's speed is what others leave of the machine, and each process scatters by 1.5 % besides. The two variants take eight turns each in a
      round, unless said otherwise. Promised: at most 5 % false alarms, and an interval that holds the truth in 94 to 96 of 100.
    TEXT
    private_constant :INTRO, :METHODS, :BESIDE

    private

    def facts
      count = @options.repeats_count
      "#{Provenance.line(@machine, at: @at)}\n#{count} repeats of each (p99: #{count / Tail::REPEATS_SHARE}), seed #{@options.seed}; a figure near 5 % is known to about " \
        "#{format("%.1f", 200 * Math.sqrt(0.05 * 0.95 / count))} %."
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
