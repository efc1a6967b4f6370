# frozen_string_literal: true

module PumaTuner
  module Prove
    # Makes a Cell: what the rounds measured of one variant, each number by itself.
    module Cells
      # A forecast has these fields for these metrics.
      FORECAST_FIELDS = {"throughput" => :throughput_per_s, "p50" => :p50_ns, "p99" => :p99_ns}.freeze

      class << self
        # @param variant [Variant]
        # @param values [PairedValues]
        # @param metrics [Array<Metric>]
        # @return [Cell]
        def of(variant, values, metrics)
          trials = values.trials(variant.name)
          Cell.new(
            variant: variant.name, factors: Host::Masking.factors(variant.factors),
            topology: variant.topology || topology(trials),
            estimates: estimates(metrics.to_h { |metric| [metric.name, values.values(variant.name, metric.name)] }),
            predicted: predicted(variant), budget: mean_budget(trials.filter_map(&:budget)),
            fingerprint: trials.first&.fingerprint || {},
            unsteady_count: trials.count { |trial| trial.warmup && !trial.warmup.steady },
            remarks: trials.flat_map(&:remarks).uniq
          )
        end

        # @return [Hash{String => Float}] by metric; empty without a forecast, or with one that there is no steady state
        def predicted(variant)
          return {} unless variant.forecast&.steady?
          FORECAST_FIELDS.transform_values { |field| variant.forecast.public_send(field).value }
        end

        private

        def estimates(samples)
          samples.reject { |_, values| values.empty? || values.include?(nil) }
            .transform_values { |values| Stats::Estimate.of_range(values) }
        end

        # Returns the topology that really ran, when it was the same in all rounds.
        def topology(trials)
          texts = trials.map { |trial| trial.fingerprint[[:puma, "topology"]] }.uniq
          Topology.parse(texts.first) if texts.size == 1 && texts.first
        end

        # Returns the mean of the mean requests; each trial's counts once.
        def mean_budget(budgets)
          return if budgets.empty?
          Probe::Budget.new(**budgets.inject(:+).to_h.transform_values { |ns| ns&.fdiv(budgets.size)&.round })
        end
      end
    end
  end
end
