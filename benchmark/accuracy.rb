# frozen_string_literal: true

# Does each tool say where time went as it truly did? Work of known truth, under the probe and under others' tools.
# Ends with status 1 when the probe misses one of its targets, and with 3 when noise leaves that open: 0 only when all are met.
#
#   bin/exec rake accuracy    (half an hour; of any use only on a machine with nothing else to do)

require_relative "support/bench"
require_relative "accuracy/trial"
require_relative "accuracy/workloads"

module Accuracy
  ROUNDS_COUNT = 3
  QUICK_SCALE = 0.25
  CONDITIONS = %w[idle loaded].freeze

  # tools, workloads, conditions: names; blame: whether to look at who held the GVL, too
  Options = Bench::Options.define("accuracy", page: "docs/measured/accuracy.md", needs: "all tools, workloads, conditions and blame, #{ROUNDS_COUNT} rounds or more, and no --quick",
    rounds: "everything this often (default: #{ROUNDS_COUNT})", quick: "one round of short work, to see whether it works", tools: Tools::NAMES, workloads: Workloads::NAMES,
    conditions: CONDITIONS, blame: true) do |parser, given|
    {tools: Tools::NAMES, workloads: Workloads::NAMES, conditions: CONDITIONS}.each do |option, names|
      parser.on("--#{option} A,B", Array, "some of #{names.join(",")}") { |some| given[option] = known(some, names) }
    end
    parser.on("--[no-]blame", "without who held the GVL") { |blame| given[:blame] = blame }
  end

  class Options
    def initialize(rounds_count:, quick:, **others)
      super(rounds_count: rounds_count || (quick ? 1 : ROUNDS_COUNT), quick:, **others)
    end

    # @return [Float] of the workloads' usual length
    def scale = quick ? QUICK_SCALE : 1.0

    # @return [Boolean] whether it is worth a page
    def whole?
      super && rounds_count >= ROUNDS_COUNT && blame && tools == Tools::NAMES && workloads == Workloads::NAMES && conditions == CONDITIONS
    end
  end

  # Measures everything.
  class Suite
    # @param options [Options]
    def initialize(options)
      @options = options
      @results = Results.new
    end

    # @param machine [PumaTuner::Probe::MachineFacts]
    # @return [Page]
    def run(machine)
      @trial = Trial.new(scale: @options.scale)
      blame = (@options.blame && @options.tools.include?(Tools::OURS)) ? blame_rounds : {}
      @options.conditions.each { |condition| under(condition) { rounds(condition) } }
      verdicts = Judge.verdicts(@results, conditions: @options.conditions, workloads: @options.workloads) + Judge.blame_verdicts(blame)
      Page.new(machine:, options: @options, results: @results, blame:, verdicts:)
    end

    private

    # @return [Hash{Blame::Scenarios::Entry => Array<Blame::Sample, Bench::Failure>}]
    def blame_rounds
      @options.rounds_count.times.flat_map { |round|
        warn "accuracy: who held the GVL, round #{round + 1} of #{@options.rounds_count}"
        Blame::Scenarios::ALL.map { |scenario| [scenario, @trial.blame(scenario)] }
      }.group_by(&:first).transform_values { |pairs| pairs.map(&:last) }
    end

    def under(condition, &) = (condition == "loaded") ? Spinners.run(&) : yield

    # Every tool once a round and workload, each time beginning with another one.
    def rounds(condition)
      @options.rounds_count.times do |round|
        @options.workloads.each_with_index do |workload, index|
          warn "accuracy: #{condition}, round #{round + 1} of #{@options.rounds_count}, #{workload}"
          @options.tools.rotate(round + index).each do |tool|
            @results.add(condition, workload, tool, @trial.run(Tools.entry(tool), workload))
          end
        end
      end
    end
  end

  # All samples, by condition, workload and tool. Pure.
  class Results
    # A part's errors over the rounds, in per cent of wall time.
    Spread = Data.define(:part, :values) do
      # @return [Float]
      def median = Bench.median(values)

      def min = values.min

      def max = values.max
    end

    def initialize
      @answers = Hash.new { |answers, key| answers[key] = [] }
    end

    # @param answer [Sample, Bench::Failure]
    def add(condition, workload, tool, answer) = @answers[[condition, workload, tool]] << answer

    # @return [Array<Sample>]
    def samples(condition, workload, tool) = answers(condition, workload, tool).grep(Sample)

    # @return [Array<Bench::Failure>]
    def failures(condition, workload, tool) = answers(condition, workload, tool).grep(Bench::Failure)

    # @return [Hash{Array(String, String, String) => Array<Bench::Failure>}] condition, workload and tool => failures, if any
    def all_failures = @answers.transform_values { |answers| answers.grep(Bench::Failure) }.reject { |_, failures| failures.empty? }

    # @return [Array<Spread>] of the parts that the tool tells, the worst first
    def spreads(condition, workload, tool)
      samples = samples(condition, workload, tool)
      parts = samples.flat_map { |sample| sample.reported.keys }.uniq
      found = parts.map { |part| Spread.new(part:, values: samples.filter_map { |sample| sample.error_percent(part) }) }
      found.sort_by { |spread| -spread.median.abs }
    end

    # @return [String, nil] of the tool, as it said in a child
    def version(tool) = @answers.filter_map { |(_, _, name), answers| answers.grep(Sample).first&.version if name == tool }.first

    private

    def answers(*key) = @answers.fetch(key, [])
  end

  # The probe's targets. Pure.
  module Judge
    PART_TARGET_PERCENT = 1.0
    WALL_TARGET_PERCENT = 0.5
    CPU_CLOCK_TARGET_PERCENT = 1.0
    BLAME_TARGET_PERCENT = 3.0

    # By how much the probe was off in one round, and how far the truth itself may have been.
    Round = Data.define(:error_percent, :doubt_percent) do
      # @return [Float] at the worst, and at the least
      def most = error_percent.abs + doubt_percent

      def least = [error_percent.abs - doubt_percent, 0.0].max
    end

    # One target, in all rounds.
    #
    # note: what came instead of numbers
    Verdict = Data.define(:condition, :workload, :what, :target_percent, :rounds, :note) do
      # Met takes every round, with the doubt about its truth held against the probe: a noisy machine makes errors and doubts
      # larger, and with more rounds there are more to pass. So noise turns what is met into what is not shown, and never the
      # other way round. (The best of the rounds would be met by whatever is noisy enough, the median by half of them.)
      # Missed takes no more than the middle round, the doubt in the probe's favour: one disturbed round is no evidence.
      #
      # @return [Symbol] :met, :missed or :not_shown
      def outcome
        return :missed if note || Bench.median(rounds.map(&:least)) > target_percent
        (rounds.all? { |round| round.most <= target_percent }) ? :met : :not_shown
      end
    end

    class << self
      # @param results [Results]
      # @param conditions [Array<String>]
      # @param workloads [Array<String>]
      # @return [Array<Verdict>] parts, and their sum, are judged on an idle machine only: elsewhere the truth is too coarse, but
      #   for the CPU clock
      def verdicts(results, conditions:, workloads:)
        conditions.product(workloads).flat_map do |condition, workload|
          samples = results.samples(condition, workload, Tools::OURS)
          failures = results.failures(condition, workload, Tools::OURS)
          [*failed(condition, workload, failures), *(judged(condition, workload, samples) if samples.any?)]
        end
      end

      # @param blame [Hash{Blame::Scenarios::Entry => Array<Blame::Sample, Bench::Failure>}]
      # @return [Array<Verdict>]
      def blame_verdicts(blame)
        blame.flat_map do |scenario, answers|
          samples, failures = answers.partition { |answer| answer.is_a?(Blame::Sample) }
          holders = samples.empty? ? [] : scenario.holders
          [*failed("idle", scenario.name, failures), *holders.map { |holder|
            rounds = samples.map { |sample| Round.new(error_percent: sample.error_percent(holder), doubt_percent: sample.doubt_percent) }
            verdict("idle", scenario.name, "waits for #{holder}", BLAME_TARGET_PERCENT, rounds)
          }]
        end
      end

      private

      def judged(condition, workload, samples)
        cpu_clock = verdict(condition, workload, "cpu and gc, by the CPU clock", CPU_CLOCK_TARGET_PERCENT, rounds(samples, &:cpu_clock_error_percent))
        return [cpu_clock] unless condition == "idle"
        parts = Truth::PARTS.map do |part|
          verdict(condition, workload, part.to_s, PART_TARGET_PERCENT,
            rounds(samples, doubt: ->(sample) { sample.doubt_percent(part) + sample.wall_doubt_percent }) { |sample| sample.error_percent(part) })
        end
        sum = verdict(condition, workload, "sum, by the wall clock", WALL_TARGET_PERCENT, rounds(samples, doubt: :wall_doubt_percent.to_proc, &:wall_error_percent))
        [*parts, sum, cpu_clock]
      end

      # @return [Array<Round, nil>] nil where nothing was told
      def rounds(samples, doubt: ->(_) { 0.0 })
        samples.map do |sample|
          error_percent = yield(sample)
          Round.new(error_percent:, doubt_percent: doubt.call(sample)) if error_percent
        end
      end

      def verdict(condition, workload, what, target_percent, rounds)
        Verdict.new(condition:, workload:, what:, target_percent:, rounds: rounds.compact, note: ("not told" unless rounds.all?))
      end

      # A crash is a miss, however many rounds went well.
      def failed(condition, workload, failures)
        failures.map(&:kind).tally.map do |kind, count|
          Verdict.new(condition:, workload:, what: "every run", target_percent: 0, rounds: [], note: "#{kind} #{count} times")
        end
      end
    end
  end

  # Results as Markdown tables. Pure.
  class Table
    # @param results [Results]
    # @param tools [Array<String>]
    # @param workloads [Array<String>]
    def initialize(results, tools:, workloads:)
      @results = results
      @tools = tools
      @workloads = workloads
    end

    # @return [String] each tool's worst part, workload by workload
    def overview(condition)
      rows = @workloads.map { |workload| [workload, *@tools.map { |tool| brief(condition, workload, tool) }] }
      Bench::Markdown.table(["worst part, % of wall", *@tools], rows)
    end

    # @return [String] the same with the range over the rounds
    def details(condition)
      rows = @workloads.product(@tools).map do |workload, tool|
        worst = @results.spreads(condition, workload, tool).first
        [workload, tool, worst ? worst.part.to_s : "-", *figures(worst), runs(condition, workload, tool)]
      end
      Bench::Markdown.table(["workload", "tool", "worst part", "median %", "min…max %", "runs"], rows, left_count: 3)
    end

    # @return [String] every part of ours: the truth in ms and the error in per cent of wall time
    def ours(condition)
      rows = @workloads.filter_map do |workload|
        samples = @results.samples(condition, workload, Tools::OURS)
        [workload, *own_cells(samples)] if samples.any?
      end
      headings = Truth::PARTS.map { |part| part.to_s.tr("_", " ") }
      Bench::Markdown.table(["truth ms (error %)", *headings, "sum, wall", "doubt %"], rows)
    end

    # @param verdicts [Array<Judge::Verdict>]
    # @return [String]
    def self.verdicts(verdicts)
      by_outcome = Bench::OUTCOMES.to_h { |outcome, _| [outcome, verdicts.select { |verdict| verdict.outcome == outcome }] }
      return "All #{verdicts.size} targets are met." if by_outcome[:met].size == verdicts.size
      counts = Bench::OUTCOMES.map { |outcome, word| "#{by_outcome[outcome].size} #{word}" }
      rows = (by_outcome[:missed] + by_outcome[:not_shown]).map do |verdict|
        [verdict.condition, verdict.workload, verdict.what, verdict.note || rounds(verdict), verdict.target_percent.to_s, Bench::OUTCOMES.fetch(verdict.outcome)]
      end
      "Of #{verdicts.size} targets: #{counts.join(", ")}.\n\n" +
        Bench::Markdown.table(["condition", "work", "what", "error (doubt), each round", "target", "outcome"], rows, left_count: 4)
    end

    def self.rounds(verdict)
      verdict.rounds.map { |round| format("%s (%.2f)", Bench::Markdown.signed(round.error_percent), round.doubt_percent) }.join(", ")
    end
    private_class_method :rounds

    # @param blame [Hash{Blame::Scenarios::Entry => Array<Blame::Sample, Bench::Failure>}]
    # @return [String] each holder's share, known and told, and the error of every round
    def self.blame(blame)
      rows = blame.flat_map do |scenario, answers|
        samples = answers.grep(Blame::Sample)
        next [[scenario.title, "-", *["-"] * 4, answers.first.kind]] if samples.empty?
        scenario.holders.map { |holder| blame_row(scenario, holder, samples) }
      end
      Bench::Markdown.table(["beside the sleeper", "holder", "known %", "told %", "median error", "min…max", "doubt"], rows, left_count: 2)
    end

    def self.blame_row(scenario, holder, samples)
      known, reported = %i[known reported].map { |which| samples.map { |sample| sample.public_send(which).fetch(holder) } }
      errors = Results::Spread.new(part: holder, values: samples.map { |sample| sample.error_percent(holder) })
      [scenario.title, holder, *[known, reported].map { |values| format("%.1f", Bench.median(values)) }, Bench::Markdown.signed(errors.median),
        "#{Bench::Markdown.signed(errors.min)}…#{Bench::Markdown.signed(errors.max)}", format("%.2f", Bench.median(samples.map(&:doubt_percent)))]
    end
    private_class_method :blame_row

    # @return [Array<String>] a line per kind of failure
    def failures
      @results.all_failures.flat_map do |(condition, workload, tool), failures|
        failures.tally.map do |failure, count|
          "#{tool} #{failure.kind} #{count}x in #{workload}, #{condition}: #{failure.reason}."
        end
      end
    end

    private

    def brief(condition, workload, tool)
      worst = @results.spreads(condition, workload, tool).first
      return "#{Bench::Markdown.signed(worst.median)} #{worst.part}" if worst
      @results.failures(condition, workload, tool).first&.kind || "-"
    end

    def figures(spread)
      return ["-", "-"] unless spread
      [Bench::Markdown.signed(spread.median), "#{Bench::Markdown.signed(spread.min)}…#{Bench::Markdown.signed(spread.max)}"]
    end

    def runs(condition, workload, tool)
      failed = @results.failures(condition, workload, tool).map(&:kind).tally.map { |kind, count| "#{count} #{kind}" }
      [@results.samples(condition, workload, tool).size.to_s, *failed].join(", ")
    end

    def own_cells(samples)
      parts = Truth::PARTS.map do |part|
        own_cell(samples.map { |sample| sample.truth[part] }, samples.map { |sample| sample.error_percent(part) })
      end
      doubt = Truth::PARTS.map { |part| Bench.median(samples.map { |sample| sample.doubt_percent(part) }) }.max
      [*parts, own_cell(samples.map(&:wall_ns), samples.map(&:wall_error_percent)), format("%.2f", doubt)]
    end

    def own_cell(truths_ns, errors_percent)
      format("%.1f (%s)", Bench.median(truths_ns) / 1e6, Bench::Markdown.signed(Bench.median(errors_percent)))
    end
  end

  # docs/measured/accuracy.md
  class Page < Bench::Page
    TITLES = {"idle" => "On an idle machine", "loaded" => "With all cores loaded"}.freeze

    # @param options [Options]
    # @param results [Results]
    # @param blame [Hash{Blame::Scenarios::Entry => Array<Blame::Sample, Bench::Failure>}]
    def initialize(options:, results:, blame:, **)
      super(**)
      @options = options
      @blame = blame
      @results = results
      @table = Table.new(results, tools: options.tools, workloads: options.workloads)
    end

    # @return [String] the tables and what they rest on
    def results = paragraphs(facts, targets, blame, conditions)

    # @return [String] the whole page
    def to_s
      paragraphs(BEGINNING, INTRO, facts, targets, "## How each tool is read", tools, "## The work and its truth", workloads, blame, conditions, ENDING)
    end

    BEGINNING = "<!-- generated by benchmark/accuracy.rb: begin -->"
    ENDING = "<!-- generated by benchmark/accuracy.rb: end -->"

    INTRO = <<~TEXT
      # How true it is

      Written by `benchmark/accuracy.rb`; not to be edited. To repeat it: `bin/exec rake accuracy`, which takes half an hour
      (`--help` tells how to have less of it, `--write` writes this page).

      Each tool watches the same work, of which it is known otherwise where its time went. Each run is a fresh process; tools take
      turns. The work is done by a thread that is not the main one, as in Puma; tools whose timer signals the whole process
      (pf2, stackprof) see more of a main thread, as that is where the kernel delivers signals first.

      An error is what a tool said less the truth, in per cent of the work's wall time: the median over the rounds, and the
      range. Tables show each tool's worst part. Parts that a tool does not tell are not held against it: a small error may
      mean that little was said. A tool that files two of our parts under one word by its own account is held against their sum.
    TEXT

    TARGETS = <<~TEXT
      Of puma_tuner, on an idle machine: every part within 1% of wall time; their sum within 0.5% of the wall time that the work
      took of itself (that they sum to the probe's own wall time is so by construction, and shows nothing); and each share of who
      held the GVL within 3 percentage points. On any machine: cpu and gc together within 1% of the CPU clock as the work read it.

      A target is **met** when every single round is within it, even with the doubt about the truth held against the probe. It is
      **missed** when the middle round is beyond it with the doubt in the probe's favour, or when any run fails. All else is **not
      shown**, which is no success: the run then ends with status 3. So a noisy machine, whose errors and doubts are larger, can't
      turn a miss into a success; nor can more rounds.
    TEXT

    BLAME = <<~TEXT
      A Puma with five threads; an endpoint that sleeps again and again, and wants the GVL at the end of each sleep; beside it those
      who hold the GVL meanwhile, each known. What is known is of the app's own stamps (CLOCK_MONOTONIC), which share no code with the
      probe: when each holder began to compute and when it was done, which releases nothing in between, and from when the sleeper
      should have gone on to when it did. Where there is but one holder, it is known by construction, too. In a part of the wait no
      stamp says that anybody computed (a timer, a core that wakes up, Puma): a true share lies between what its stamps cover and that
      with all of this part on top. Known is the middle, doubt the way to either end. Shares are of the whole wait.
    TEXT
    private_constant :BEGINNING, :ENDING, :INTRO, :TARGETS, :BLAME

    private

    def facts = "#{super}\nRounds: #{@options.rounds_count}."

    def targets = @verdicts.empty? ? [] : ["## Targets", TARGETS, Table.verdicts(@verdicts)]

    def tools
      rows = @options.tools.map do |name|
        tool = Tools.entry(name)
        [name, "#{tool.gem_name} #{@results.version(name) || "(never answered)"}", tool.covers.keys.join(", "), tool.reading]
      end
      Bench::Markdown.table(["name", "version", "tells", "read as"], rows, left_count: 4)
    end

    def workloads
      rows = @options.workloads.map { |name| Workloads.entry(name).then { |entry| [name, entry.title, entry.truth] } }
      Bench::Markdown.table(["name", "what it does", "where the truth comes from"], rows, left_count: 3)
    end

    def blame
      @blame.empty? ? [] : ["## Who held the GVL", BLAME, Table.blame(@blame)]
    end

    def conditions
      shown = @options.conditions.flat_map do |condition|
        own = @options.tools.include?(Tools::OURS) ? ["### Every part of puma_tuner's budget", @table.ours(condition)] : []
        title = "## #{TITLES.fetch(condition)}"
        [title, @table.overview(condition), *own, "### The spread over the rounds", @table.details(condition)]
      end
      [*shown, *failures]
    end

    def failures
      lines = @table.failures
      lines.empty? ? [] : ["## Runs without a response", lines.map { |line| "- #{line}" }.join("\n")]
    end
  end
end

Bench.program(__FILE__, Accuracy::Options) { |options, machine| Accuracy::Suite.new(options).run(machine) }
