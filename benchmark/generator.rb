# frozen_string_literal: true

# What our own load generator costs beside wrk, and how late it sends on a machine that it shares with the server.
# Ends with status 1 when it misses one of its targets by more than the noise that was measured, with 3 when noise leaves one open.
#
#   bin/exec rake generator    (9 minutes; of any use only on a machine with nothing else to do)

require_relative "support/bench"
require_relative "generator/loads"

module GeneratorBenchmark
  PARTS = {"cost" => Cost, "lag" => Lag}.freeze

  Options = Bench::Options.define("generator", page: "docs/measured/generator.md", needs: "both parts, and no --quick", quick: Bench::Options::QUICK,
    rounds: "every variant this often (default: cost #{Cost::ROUNDS_COUNT}, lag #{Lag::ROUNDS_COUNT})", parts: PARTS.keys) do |parser, given|
    parser.on("--only PART", PARTS.keys, "cost or lag") { |part| given[:parts] = [part] }
  end

  class Options
    # @return [Boolean] whether it is worth a page
    def whole? = super && parts == PARTS.keys
  end

  # @param machine [PumaTuner::Probe::MachineFacts]
  # @return [Page]
  def self.run(options, machine)
    measured = PARTS.to_h do |name, part|
      [name.to_sym, options.parts.include?(name) ? part.new(rounds_count: options.rounds_count, quick: options.quick).tap(&:run).series : []]
    end
    Page.new(machine:, **measured, verdicts: Judge.verdicts(**measured), tools: [PumaTuner::Load::Native.new, OtherGenerators::Wrk.new].map(&:name).join(", "))
  end

  # The generator's targets. Pure.
  module Judge
    COST_TARGET_RATIO = 1.5
    LAG_TARGET_US = 1_000
    LAG_TARGET_RATE_PER_S = 2_000

    class << self
      # @param cost [Array<Cost::Series>]
      # @param lag [Array<Lag::Series>]
      # @return [Array<Bench::Verdict>] none for what was not measured
      def verdicts(cost:, lag:)
        [*cost.map { |series| dearer(series) }, *lag.select { |series| series.rate_per_s == LAG_TARGET_RATE_PER_S }.map { |series| late(series) }]
      end

      # @param series [Cost::Series]
      # @return [PumaTuner::Stats::Estimate] ours over wrk's, of the same rounds
      def ratio(series, ours: "ours", other: "wrk") = PumaTuner::Stats::PairedRatio.of(series.samples.fetch(other), series.samples.fetch(ours))

      private

      def dearer(series)
        Bench::Verdict.new(claim: "CPU per request, #{series.title}: at most #{COST_TARGET_RATIO} times wrk's", unit: "x",
          target: COST_TARGET_RATIO, estimate: ratio(series), noise: noise(series))
      end

      # By how much equals differ, at the size of the target: the wider of both pairs.
      def noise(series)
        pairs = [ratio(series, ours: "ours_again", other: "ours"), ratio(series, ours: "wrk_again", other: "wrk")]
        pairs.map { |pair| pair.with(low: (pair.low - 1) * COST_TARGET_RATIO, high: (pair.high - 1) * COST_TARGET_RATIO) }
          .max_by { |pair| [pair.low.abs, pair.high.abs].max }
      end

      def late(series)
        lags_us = series.outcomes.map { |outcome| outcome.lag_p99_ns.fdiv(PumaTuner::Units::NS_PER_US) }
        Bench::Verdict.new(claim: "lag's p99 at #{LAG_TARGET_RATE_PER_S} requests/s: below #{LAG_TARGET_US} µs", unit: "µs",
          target: LAG_TARGET_US, estimate: Bench::Difference.of(lags_us), noise: Bench::Verdict::NO_PAIR)
      end
    end
  end

  # docs/measured/generator.md
  class Page < Bench::Page
    # @param cost [Array<Cost::Series>] empty when it was left out
    # @param lag [Array<Lag::Series>] likewise
    # @param tools [String] names and versions
    def initialize(cost:, lag:, tools:, **)
      super(**)
      @cost = cost
      @lag = lag
      @tools = tools
    end

    # @return [String] the tables and what they rest on
    def results = paragraphs(facts, cost_tables, lag_table, targets)

    # @return [String] the whole page
    def to_s = paragraphs(INTRO, facts, targets, "## #{Cost::TITLE}", Cost::METHOD, cost_tables, "## #{Lag::TITLE}", Lag::METHOD, lag_table)

    INTRO = <<~TEXT
      # What the load generator costs, and how late it is

      Written by `benchmark/generator.rb`; not to be edited. To repeat it: `bin/exec rake generator`, which takes nine minutes
      (`OPTIONS=--help` tells how to have less of it, `OPTIONS=--write` writes this page). Whether its latencies are right is another
      question: [stall.md](stall.md).
    TEXT
    private_constant :INTRO

    private

    def facts = "#{super}\n#{@tools}."

    def targets = super { |number, verdict| format("%.#{(verdict.unit == "x") ? 2 : 0}f", number) }

    def cost_tables = @cost.flat_map { |series| of_server(series) }

    def of_server(series)
      rows = Cost::VARIANTS.map do |key, name|
        values = series.samples.fetch(key).sort
        compared = Judge.ratio(series, ours: key)
        [name, us(Bench.median(values)), us(values.first), us(values.last), (key == "wrk") ? "-" : ratio(compared), values.size.to_s]
      end
      start = series.start_samples.sort
      rows << ["puma_tuner, with its start", us(Bench.median(start)), us(start.first), us(start.last), "-", start.size.to_s]
      ["### #{series.title.sub(/\A./, &:upcase)}", Bench::Markdown.table(["", "median µs", "least", "most", "times wrk's", "loads"], rows)]
    end

    def lag_table
      return [] if @lag.empty?
      rows = @lag.map do |series|
        [series.rate_per_s.to_s, *LAG_COLUMNS.values.map { |figure| range(series.outcomes.map(&figure)) }]
      end
      [Bench::Markdown.table(["requests/s", *LAG_COLUMNS.keys], rows, left_count: 0)]
    end

    US = PumaTuner::Units::NS_PER_US
    LAG_COLUMNS = {
      "lag p50 µs" => ->(outcome) { outcome.lag.quantile_ns(0.5).fdiv(US) }, "p99 µs" => ->(outcome) { outcome.lag_p99_ns.fdiv(US) },
      "max µs" => ->(outcome) { outcome.lag.quantile_ns(1.0).fdiv(US) }, "latency p50 µs" => ->(outcome) { outcome.p50_ns.fdiv(US) },
      "p99 µs " => ->(outcome) { outcome.p99_ns.fdiv(US) }, "CPU per request µs" => ->(outcome) { outcome.generator_cpu_ns.fdiv(US * outcome.requests_count) },
      "requests" => ->(outcome) { outcome.requests_count }, "waited for a connection" => ->(outcome) { outcome.connection_wait_count }
    }.freeze
    private_constant :US, :LAG_COLUMNS

    def us(number) = number ? format("%.1f", number) : "-"

    def ratio(estimate) = format("%.2f (%.2f to %.2f)", estimate.value, estimate.low, estimate.high)

    def range(values)
      sorted = values.sort
      "#{rounded(Bench.median(sorted))} (#{rounded(sorted.first)} to #{rounded(sorted.last)})"
    end

    def rounded(number) = (number < 100) ? format("%.1f", number).delete_suffix(".0") : number.round.to_s
  end
end

Bench.program(__FILE__, GeneratorBenchmark::Options) { |options, machine| GeneratorBenchmark.run(options, machine) }
