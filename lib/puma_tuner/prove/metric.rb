# frozen_string_literal: true

module PumaTuner
  module Prove
    # A metric by which a trial is judged: it has one number per trial.
    #
    # name: its key in Trial#values, Cell#estimates and on the command line; label: as people read it
    # unit: "per_s", "ns", "bytes" or "count"; more_is_better: else less is
    Metric = Document.define(:name, :label, :unit, :more_is_better)

    class Metric
      # The metrics of a served app.
      SERVED = [
        new(name: "throughput", label: "requests/s", unit: "per_s", more_is_better: true),
        new(name: "p50", label: "p50", unit: "ns", more_is_better: false),
        new(name: "p90", label: "p90", unit: "ns", more_is_better: false),
        new(name: "p99", label: "p99", unit: "ns", more_is_better: false),
        new(name: "p999", label: "p99.9", unit: "ns", more_is_better: false),
        new(name: "cpu_per_request", label: "CPU per request", unit: "ns", more_is_better: false),
        new(name: "gc_per_request", label: "GC per request", unit: "ns", more_is_better: false),
        new(name: "gvl_wait_per_request", label: "GVL wait per request", unit: "ns", more_is_better: false),
        new(name: "allocations_per_request", label: "objects per request", unit: "count", more_is_better: false),
        new(name: "pss", label: "memory (PSS)", unit: "bytes", more_is_better: false),
        new(name: "rss", label: "memory (RSS)", unit: "bytes", more_is_better: false),
        new(name: "boot", label: "boot", unit: "ns", more_is_better: false)
      ].freeze

      # The metrics of a block of Ruby.
      BLOCK = [
        new(name: "iterations", label: "iterations/s", unit: "per_s", more_is_better: true),
        new(name: "cpu_per_iteration", label: "CPU per iteration", unit: "ns", more_is_better: false),
        new(name: "gc_per_iteration", label: "GC per iteration", unit: "ns", more_is_better: false),
        new(name: "allocations_per_iteration", label: "objects per iteration", unit: "count", more_is_better: false),
        new(name: "rss", label: "memory (RSS)", unit: "bytes", more_is_better: false)
      ].freeze

      # Names of what the server spent, over all requests that it answered, see TrialRun.
      # @api private
      COSTS = %w[cpu_per_request gc_per_request allocations_per_request].freeze

      class << self
        # @param name [String] "cpu_per_request", or any percentile, such as "p97.5"
        # @param metrics [Array<Metric>] that are measured
        # @return [Metric, nil] one of them or, where latencies are among them, of any percentile; else nil
        # @api private
        def named(name, metrics)
          found = metrics.find { |metric| metric.name == name }
          return found if found || metrics.none?(&:percentile)
          SERVED.find { |metric| metric.percentile && metric.name == name } ||
            (percentile(name) if Percentile.name?(name))
        end

        # @param name [String] "p97.5"
        # @return [Metric]
        def percentile(name)
          label = "p#{name.delete_prefix("p").to_f.to_s.delete_suffix(".0")}"
          SERVED.find { |metric| metric.label == label } || new(name: label, label:, unit: "ns", more_is_better: false)
        end

        # In an open loop the throughput is the load's own rate, and a latency decides.
        #
        # @param arrivals [Load::Arrivals] of an open loop
        # @param duration_s [Numeric] of each trial
        # @param name [String] the percentile that is wanted
        # @return [String] that one's name, or "p50" where a trial may have too few requests for it
        # @api private
        def of_open_loop(arrivals, duration_s, name = "p99")
          wanted = percentile(name)
          (arrivals.least_count(duration_s) < wanted.least_requests_count) ? "p50" : wanted.name
        end

        # @param metrics [Array<Metric>]
        # @param names [Array<String>] of some that are wanted; those that can't be had are passed over
        # @return [Array<Metric>] with these, the percentiles in their order
        # @api private
        def including(metrics, names)
          wanted = names.filter_map { |name| named(name, metrics) }
          return metrics if (wanted - metrics).empty?
          latencies, others = (metrics | wanted).partition(&:percentile)
          others.insert(metrics.index(&:percentile), *latencies.sort_by { |one| Percentile.ratio(one.percentile) })
        end

        # @param metrics [Array<Metric>] that are measured
        # @return [String] their names, as a mistake tells them
        # @api private
        def choice(metrics)
          others = " and any other percentile, such as p97.5" if metrics.any?(&:percentile)
          "#{metrics.map(&:name).join(", ")}#{others}"
        end
      end

      # @return [String, nil] "p99.9" of that latency; nil of what is no latency
      def percentile
        return "p99.9" if name == "p999"
        name if Percentile.name?(name)
      end

      # A high percentile of few requests is nearly their maximum, which longer trials would exceed. So two must be
      # expected beyond it, and ten beyond one above p99, where a single pause of the machine may make both. Up to p90
      # any number will do, as a slow app has few.
      #
      # @return [Integer] requests in a trial from which on it is told
      def least_requests_count
        ratio = percentile && Percentile.ratio(percentile)
        return 1 if ratio.nil? || ratio <= 9/10r
        (((ratio > 99/100r) ? 10 : 2) / (1 - ratio)).ceil
      end
    end
  end
end
