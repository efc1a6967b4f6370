# frozen_string_literal: true

require_relative "../support/markdown"
require_relative "../support/provenance"

module GeneratorBenchmark
  # What is printed, and docs/generator.md. Generated; nothing in it is written by hand. Pure but for its date.
  class Page
    OUTCOMES = {met: "met", missed: "**missed**", not_shown: "not shown"}.freeze

    # @param machine [PumaTuner::Probe::MachineFacts] before the run
    # @param cost [Array<Cost::Series>] empty when it was left out
    # @param lag [Array<Lag::Series>] likewise
    # @param verdicts [Array<Overhead::Verdict>]
    # @param tools [String] names and versions
    # @param at [Time]
    def initialize(machine:, cost:, lag:, verdicts:, tools:, at: Time.now)
      @machine = machine
      @cost = cost
      @lag = lag
      @verdicts = verdicts
      @tools = tools
      @at = at
    end

    # @return [String] the tables and what they rest on
    def results = [facts, *@cost.flat_map { |series| cost_tables(series) }, *lag_table, *targets].join("\n\n")

    # @return [String] the whole page
    def to_s
      parts = [INTRO.strip, facts, *targets, "## #{Cost::TITLE}", Cost::METHOD.strip, *@cost.flat_map { |series| cost_tables(series) },
        "## #{Lag::TITLE}", Lag::METHOD.strip, *lag_table]
      "#{parts.join("\n\n")}\n"
    end

    INTRO = <<~TEXT
      # What the load generator costs, and how late it is

      Written by `benchmark/generator.rb`; not to be edited. To repeat it: `bin/exec rake generator`, which takes nine minutes
      (`OPTIONS=--help` tells how to have less of it, `OPTIONS=--write` writes this page). Whether its latencies are right is another
      question: [stall.md](stall.md).
    TEXT

    TARGETS = <<~TEXT
      A target is missed when the whole interval lies beyond it and the noise (the far end of the interval of two equals), met when
      the whole interval is within it, and otherwise not shown either way. Intervals are of the exact signed-rank test over rounds.
    TEXT
    private_constant :INTRO, :TARGETS

    private

    def facts = "#{Provenance.line(@machine, at: @at)}\n#{@tools}."

    def cost_tables(series)
      rows = Cost::VARIANTS.map do |key, name|
        values = series.samples.fetch(key).sort
        compared = Judge.ratio(series, ours: key)
        [name, us(median(values)), us(values.first), us(values.last), (key == "wrk") ? "-" : ratio(compared), values.size.to_s]
      end
      start = series.start_samples.sort
      rows << ["puma_tuner, with its start", us(median(start)), us(start.first), us(start.last), "-", start.size.to_s]
      ["### #{series.title.sub(/\A./, &:upcase)}", Accuracy::Markdown.table(["", "median µs", "least", "most", "times wrk's", "loads"], rows)]
    end

    def lag_table
      return [] if @lag.empty?
      rows = @lag.map do |series|
        [series.rate_per_s.to_s, *LAG_COLUMNS.values.map { |figure| range(series.outcomes.map(&figure)) }]
      end
      [Accuracy::Markdown.table(["requests/s", *LAG_COLUMNS.keys], rows, left_count: 0)]
    end

    US = PumaTuner::Units::NS_PER_US
    LAG_COLUMNS = {
      "lag p50 µs" => ->(outcome) { outcome.lag.quantile_ns(0.5).fdiv(US) }, "p99 µs" => ->(outcome) { outcome.lag_p99_ns.fdiv(US) },
      "max µs" => ->(outcome) { outcome.lag.quantile_ns(1.0).fdiv(US) }, "latency p50 µs" => ->(outcome) { outcome.p50_ns.fdiv(US) },
      "p99 µs " => ->(outcome) { outcome.p99_ns.fdiv(US) }, "CPU per request µs" => ->(outcome) { outcome.generator_cpu_ns.fdiv(US * outcome.requests_count) },
      "requests" => ->(outcome) { outcome.requests_count }, "held back" => ->(outcome) { outcome.held_back_count }
    }.freeze
    private_constant :US, :LAG_COLUMNS

    def targets
      return [] if @verdicts.empty?
      rows = @verdicts.map do |verdict|
        digits = (verdict.unit == "x") ? 2 : 0
        figures = [verdict.estimate.value, verdict.estimate.low, verdict.estimate.high, verdict.noise_width].map { |number| format("%.#{digits}f", number) }
        [verdict.claim, "#{figures[0]} #{verdict.unit}", figures[1..2].join(" to "), figures[3], OUTCOMES.fetch(verdict.outcome)]
      end
      ["## Targets", TARGETS.strip, Accuracy::Markdown.table(["target", "measured", "interval", "noise", "outcome"], rows)]
    end

    def median(sorted) = PumaTuner::Stats::Quantile.of(sorted, 0.5)

    def us(number) = number ? format("%.1f", number) : "-"

    def ratio(estimate) = format("%.2f (%.2f to %.2f)", estimate.value, estimate.low, estimate.high)

    def range(values)
      sorted = values.sort
      "#{rounded(median(sorted))} (#{rounded(sorted.first)} to #{rounded(sorted.last)})"
    end

    def rounded(number) = (number < 100) ? format("%.1f", number).delete_suffix(".0") : number.round.to_s
  end
end
