# frozen_string_literal: true

require_relative "../support/markdown"
require_relative "../support/provenance"

module FleetScale
  # What was found, as text.
  class Page
    # The weekly comparison of the whole fleet.
    TARGET_S = 10

    HEADINGS = ["workers", "hours", "by", "samples", "on disk", "bytes/sample", "a worker a day", "rules, once", "comparison", "of it Prometheus' CPU"].freeze
    DAYS = 7

    # @param machine [PumaTuner::Probe::MachineFacts]
    # @param outcomes [Array<Trial::Outcome>] those in full, then the whole fleet by rules
    # @param options [Options]
    # @param at [Time]
    def initialize(machine:, outcomes:, options:, at: Time.now)
      @machine = machine
      @raw, @recorded = outcomes.partition { |outcome| outcome.source == "raw" }
      @options = options
      @at = at
    end

    # @return [Boolean] whether the comparison took longer than it may
    def missed? = @recorded.any? { |outcome| outcome.comparison_s > TARGET_S }

    # @return [String]
    def results
      [Accuracy::Markdown.table(HEADINGS, (@raw + @recorded).map { |outcome| row(outcome) }, left_count: 0), *growth, verdict].join("\n\n") << "\n"
    end

    # @return [String] the page
    def to_s
      <<~TEXT
        # Fleet: how it grows

        Written by `bin/exec rake fleet_scale OPTIONS=--write`; not to be edited.

        #{Provenance.line(@machine, at: @at)}

        Fleets that never were, of servers with four workers and ten endpoints each, written into a real Prometheus by `promtool`: some in full, as the
        exporter tells it every #{Trial::SCRAPE_S} s; the last one as [ops/prometheus/rules.yml](../ops/prometheus/rules.yml) would have recorded it every
        #{Trial::RECORD_S} s (endpoints every #{SimulatedFleet::ENDPOINTS_RECORD_S} s), which does not depend on the number of servers. "comparison" is `puma_tuner fleet` over all hours, the median of
        #{@options.rounds_count}, and its p99 was held against the truth each time.

        #{results}
      TEXT
    end

    private

    def row(outcome)
      [count(outcome.workers_count), outcome.hours_count.to_s, outcome.source, count(outcome.samples_count), PumaTuner::Units.mebibytes(outcome.data_bytes), format("%.2f", outcome.bytes_per_sample),
        (outcome.source == "raw") ? PumaTuner::Units.mebibytes(outcome.bytes_per_worker_day) : "-", seconds(outcome.rules_s), seconds(outcome.comparison_s), seconds(outcome.cpu_s)]
    end

    def count(number) = PumaTuner::Report::Figures.count(number)

    def seconds(number) = number ? PumaTuner::Units.duration(number * 1e9) : "-"

    # From those that were written in full: series, samples and the rules' work are each server's own.
    def growth
      largest = @raw.max_by(&:workers_count) or return []
      disk_bytes = largest.bytes_per_worker_day * @options.workers_count * DAYS
      ["In proportion to the largest, #{count(@options.workers_count)} workers in full would take #{(disk_bytes / 2**30).round(1)} GiB for #{DAYS} days (Prometheus' own compaction leaves less). " \
        "Growing on as from the smallest to the largest, evaluating all rules once would take #{seconds(rules_s)} of each minute, of which those of endpoints are due every fifth only."]
    end

    # A straight line: queries have a cost of their own, which does not grow.
    def rules_s
      smallest, largest = @raw.minmax_by(&:workers_count)
      return largest.rules_s * @options.workers_count.fdiv(largest.workers_count) if smallest.workers_count == largest.workers_count
      largest.rules_s + (largest.rules_s - smallest.rules_s) / (largest.workers_count - smallest.workers_count) * (@options.workers_count - largest.workers_count)
    end

    def verdict
      whole = @recorded.last or return ""
      "The comparison over #{whole.hours_count} hours of #{count(whole.workers_count)} workers took #{seconds(whole.comparison_s)}; the target is #{TARGET_S} s: #{missed? ? "missed" : "met"}."
    end
  end
end
