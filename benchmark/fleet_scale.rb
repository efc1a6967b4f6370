# frozen_string_literal: true

# How long `puma_tuner fleet` takes over seven days of what the rules that we ship record, which does not grow with the number of servers;
# and what does grow: the series of a fleet, and the evaluation of the rules, from fleets written in full, the largest of them for minutes.
# Ends with status 1 when the weekly comparison takes more than its target.
#
#   bin/exec rake fleet_scale    (some 15 minutes, 2 GB in tmp/ and 2 GB of memory; figures of use only on a machine with nothing else to do)

require_relative "support/bench"
require_relative "fleet_scale/trial"

module FleetScale
  # workers_count, hours_count: of the whole fleet, by rules; raw_workers_counts, raw_hours_count: of those written in full;
  #   rules_workers_count: of the one that is written in full for minutes, to evaluate the rules
  Options = Bench::Options.define("fleet_scale", page: "docs/measured/fleet_scale.md",
    needs: "the whole fleet, three in full, and one of 2,000 workers for the rules", workers_count: 8_000, hours_count: 168,
    raw_workers_counts: [50, 100, 200], raw_hours_count: 4, rules_workers_count: 2_000, services_count: 5,
    rounds_count: 3) do |parser, given|
    parser.on("--workers N", Integer, "of the whole fleet, #{SimulatedFleet::WORKERS_PER_SERVER} to a server (default: 8000)") { |count| given[:workers_count] = positive(count) }
    parser.on("--hours N", Integer, "that it has served (default: 168)") { |count| given[:hours_count] = positive(count) }
    parser.on("--raw-workers LIST", Array, "of fleets written in full (default: 50,100,200)") { |list| given[:raw_workers_counts] = list.map { |text| positive(text.to_i) } }
    parser.on("--raw-hours N", Integer, "that those have served (default: 4)") { |count| given[:raw_hours_count] = positive(count) }
    parser.on("--rules-workers N", Integer,
      "of the fleet written in full for #{Trial::RULES_S / 60} minutes, to evaluate the rules (default: 2000)") do |count|
      given[:rules_workers_count] = positive(count)
    end
    parser.on("--quick", "small ones, to see whether it works; its numbers mean nothing") do
      given.merge!(workers_count: 40, hours_count: 8, raw_workers_counts: [8, 16], raw_hours_count: 2, rules_workers_count: 40,
        services_count: 1, rounds_count: 1)
    end
  end

  class Options
    # @return [Boolean] whether it is worth a page
    def whole? = workers_count >= 8_000 && hours_count >= 168 && raw_workers_counts.size > 2 && rules_workers_count >= 2_000
  end

  # @param machine [PumaTuner::Probe::MachineFacts]
  # @return [Page]
  def self.run(options, machine)
    raise PumaTuner::UsageError, PrometheusProcess.why_not if PrometheusProcess.why_not
    RubyVM::YJIT.enable if defined?(RubyVM::YJIT.enable)
    others = {services_count: options.services_count, rounds_count: options.rounds_count}
    trials = [*options.raw_workers_counts.map { |count| Trial.new(count, options.raw_hours_count, source: :raw, **others) },
      *[options.raw_workers_counts.max, options.rules_workers_count].uniq.map { |count| Trial.new(count, nil, source: :raw, **others) },
      Trial.new(options.workers_count, options.hours_count, source: :rules, **others)]
    outcomes = trials.map do |trial|
      trial.run.tap do |one|
        warn "  #{one.workers_count} workers, #{one.served}, #{one.source}: #{(one.comparison_s || one.rules_s).round(2)} s"
      end
    end
    Page.new(machine:, trials: outcomes, options:)
  end

  # docs/measured/fleet_scale.md
  class Page < Bench::Page
    # The weekly comparison of the whole fleet.
    TARGET_S = 10

    HEADINGS = ["workers", "time", "by", "samples", "on disk", "bytes/sample", "a worker a day", "rules, once", "comparison",
      "of it Prometheus' CPU"].freeze
    DAYS = 7

    # @param trials [Array<Trial::Outcome>] those in full, for hours and for minutes, then the whole fleet by rules
    # @param options [Options]
    def initialize(trials:, options:, **)
      super(**)
      raw, @recorded = trials.partition { |outcome| outcome.source == "raw" }
      @raw, @brief = raw.partition(&:comparison_s)
      @options = options
    end

    # @return [Array<Symbol>] missed when the comparison took longer than it may
    def outcomes = [(@recorded.any? { |outcome| outcome.comparison_s > TARGET_S }) ? :missed : :met]

    # @return [String]
    def results
      rows = (@raw + @brief + @recorded).map { |outcome| row(outcome) }
      paragraphs(Bench::Markdown.table(HEADINGS, rows, left_count: 0), growth, verdict)
    end

    # @return [String] the page
    def to_s
      <<~TEXT
        # Fleet: how it grows

        Written by `bin/exec rake fleet_scale OPTIONS=--write`; not to be edited.

        #{facts}

        Fleets that never were, of servers with #{SimulatedFleet::WORKERS_PER_SERVER} workers and ten endpoints each, written into a real Prometheus by `promtool`: some in full,
        for hours or for the #{Trial::RULES_S / 60} minutes that a rule looks back, as the exporter tells it every #{Trial::SCRAPE_S} s; the last one as
        [ops/prometheus/rules.yml](../../ops/prometheus/rules.yml) would have recorded it every
        #{Trial::RECORD_S} s (endpoints every #{SimulatedFleet::ENDPOINTS_RECORD_S} s), which does not depend on the number of servers. "comparison" is `puma_tuner fleet` over all hours, the median of
        #{@options.rounds_count}, and its p99 was held against the truth each time.

        #{results}
      TEXT
    end

    private

    def row(outcome)
      a_day = @raw.include?(outcome) ? PumaTuner::Units.mebibytes(outcome.bytes_per_worker_day) : "-"
      [count(outcome.workers_count), outcome.served, outcome.source, count(outcome.samples_count),
        PumaTuner::Units.mebibytes(outcome.data_bytes), format("%.2f", outcome.bytes_per_sample), a_day,
        *[outcome.rules_s, outcome.comparison_s, outcome.cpu_s].map { |number| seconds(number) }]
    end

    def count(number) = PumaTuner::Report::Figures.count(number)

    # "2,000 servers (8,000 workers)"
    def fleet(workers_count) = "#{count(workers_count / SimulatedFleet::WORKERS_PER_SERVER)} servers (#{count(workers_count)} workers)"

    def seconds(number) = number ? PumaTuner::Units.duration(number * 1e9) : "-"

    # From those that were written in full: series and samples are each server's own.
    def growth
      largest = @raw.max_by(&:workers_count) or return []
      disk_bytes = largest.bytes_per_worker_day * @options.workers_count * DAYS
      ["In proportion to the largest of hours, #{fleet(@options.workers_count)} in full would take " \
        "#{(disk_bytes / 2**30).round(1)} GiB for #{DAYS} days (Prometheus' own compaction leaves less).", rules]
    end

    # A straight line: queries have a cost of their own, which does not grow. What the samples before a rule's window cost is known of the
    # smallest fleet. Two counts of workers may come to the same whole servers, and through one point goes no line.
    def rules
      smallest, largest = @brief.minmax_by(&:workers_count)
      of_hours = @raw.find { |outcome| outcome.workers_count == smallest&.workers_count }
      return if of_hours.nil? || smallest.workers_count == largest.workers_count
      wanted_count, largest_count = @options.workers_count, largest.workers_count
      slope_s = (largest.rules_s - smallest.rules_s) / (largest_count - smallest.workers_count)
      brief_s = largest.rules_s + slope_s * (wanted_count - largest_count)
      ratio = of_hours.rules_s / smallest.rules_s
      "What grows with the number of servers is the work of the rules. Over #{largest.served} of #{fleet(largest_count)}, " \
        "evaluating them all once took #{seconds(largest.rules_s)}; on a straight line from #{fleet(smallest.workers_count)} to there, " \
        "it is #{seconds(brief_s)} of #{fleet(wanted_count)}, #{PumaTuner::Units.times(wanted_count.fdiv(largest_count))} as many. " \
        "Where there are hours before, it takes #{PumaTuner::Units.times(ratio)} as long (of the smaller one), " \
        "as Prometheus reads a series from the beginning of a piece of up to 120 samples: so evaluating all rules once would take " \
        "#{seconds(brief_s * ratio)} of each minute, of which those of endpoints are due every fifth only."
    end

    def verdict
      whole = @recorded.last or return ""
      "The comparison over #{whole.hours_count} hours of #{fleet(whole.workers_count)} took #{seconds(whole.comparison_s)}; " \
        "the target is #{TARGET_S} s: #{outcomes.first}. " \
        "Fewer servers would take it as long: the rules add up those of a service and a group, so that the series are as many."
    end
  end
end

Bench.program(__FILE__, FleetScale::Options) { |options, machine| FleetScale.run(options, machine) }
