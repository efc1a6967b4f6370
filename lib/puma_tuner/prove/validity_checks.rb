# frozen_string_literal: true

module PumaTuner
  module Prove
    # Each trial must meet these conditions, whatever it measured. They look at causes; results never decide which
    # rounds are kept. Disturbance, not a single trial, judges what others on the machine do.
    module ValidityChecks
      # A generator this busy sends late.
      GENERATOR_CPU_RATIO = 0.9

      # Where the generator is late by more than a millisecond at p99 (open loop), its lateness may be this share of the
      # median and of p99: what they are from the intended instants, over what they are from when requests were sent.
      # Without a core to itself it is late by some ms whenever all cores are busy, and a p99 of 20 ms is hardly longer
      # for that: only the slowest requests meet both by chance.
      LAG_RATIO = 0.1
      LAG_NS = 1_000_000

      # Little's law, of a closed loop without think time: connections = throughput x latency. What is missing, the
      # generator spent between a response and the next request; more than there is cannot be.
      IN_FLIGHT_RATIOS = 0.85..1.02

      # But at either edge of a load a request of each connection is cut in two: the time that it took before the load
      # began counts, as its latency does whole; the time before the end does not, as it was never answered in time.
      # Each is the age of a request, whose mean is latency x (1 + cv^2) / 2 (renewal theory; Cox, "Renewal Theory",
      # 1962). They cancel each other in the mean, and not in a short load. This allows for one of them, with a
      # coefficient of variation of 1.4.
      EDGE_RATIO = 1.5

      # Responses to a request may differ in length by this much between variants: dates, ids.
      BODY_RATIO = 0.01

      class << self
        # @param outcome [Load::Outcome]
        # @param conditions [Hash{String => Numeric, nil}]
        # @param turns_count [Integer] of the load
        # @return [Void, nil] why the trial must not count
        def failed(outcome, conditions, arrivals:, turns_count: 1)
          return Void.failed(outcome.complaint) if outcome.complaint
          busy_clients = !arrivals.open? && arrivals.think_ns.zero?
          detail = failed_by_generator(outcome, conditions) ||
            (failed_by_little(outcome, conditions, turns_count) if busy_clients)
          Void.new(kind: :generator, detail:) if detail
        end

        # @param outcomes [Hash{String => Load::Outcome}] by variant, of one round
        # @return [String, nil] a request whose responses are not of equal length in all variants
        def unequal_bodies(outcomes)
          first_name, first = outcomes.first
          return if first&.body_bytes_ranges.nil?
          outcomes.drop(1).each do |name, other|
            first.body_bytes_ranges.zip(other.body_bytes_ranges || []).each_with_index do |(one, two), index|
              next if one.nil? || two.nil? || alike?(one, two)
              return "the responses to request #{index + 1} are of #{bytes(one)} with #{first_name}, " \
                "and of #{bytes(two)} with #{name}"
            end
          end
          nil
        end

        private

        def failed_by_generator(outcome, conditions)
          busy, lag_ns = conditions.values_at("generator_cpu_ratio", "lag_p99_ns")
          if busy && busy > GENERATOR_CPU_RATIO
            Statement.of(:generator_busy, cpu_ratio: busy)
          elsif lag_ns && lag_ns > LAG_NS && lag_ratio(outcome, lag_ns) > LAG_RATIO
            Statement.of(:generator_late, lag_ns:)
          end
        end

        # @return [Float] by how much the load's lateness made the median or p99 longer; of a generator that does not
        #   tell both times: as if each request had been as late
        def lag_ratio(outcome, lag_ns)
          return lag_ns.fdiv(outcome.p50_ns) unless outcome.latency && outcome.service
          [0.5, 0.99].map { |ratio|
            outcome.latency.quantile_ns(ratio).fdiv(outcome.service.quantile_ns(ratio)) - 1
          }.max
        end

        def failed_by_little(outcome, conditions, turns_count)
          in_flight = conditions["in_flight_ratio"] or return
          edges = EDGE_RATIO * outcome.mean_ns * turns_count / outcome.duration_ns
          return if in_flight.between?(IN_FLIGHT_RATIOS.min - edges, IN_FLIGHT_RATIOS.max + edges)
          Statement.of(:littles_law, in_flight_ratio: in_flight)
        end

        def alike?(one, two)
          slack = 1 + BODY_RATIO
          one.first <= two.last * slack && two.first <= one.last * slack
        end

        def bytes((low, high)) = (low == high) ? "#{low} bytes" : "#{low} to #{high} bytes"
      end
    end
  end
end
