# frozen_string_literal: true

module PumaTuner
  module Prove
    # What must hold of every trial, whatever it measured. Laws look at causes; results never decide which rounds are kept.
    module Laws
      # More of the machine than this was used by others, or taken away by the hypervisor.
      FOREIGN_CPU_RATIO = 0.15
      STOLEN_RATIO = 0.05

      # A generator this busy sends late.
      GENERATOR_CPU_RATIO = 0.9

      # Of the median latency, and at least a millisecond: how late the generator itself may be (open loop).
      LAG_RATIO = 0.05
      LAG_NS = 1_000_000

      # Little's law, of a closed loop without thought: connections = throughput x latency. What is missing, the generator spent
      # between an answer and the next request; more than there is cannot be.
      IN_FLIGHT_RATIOS = 0.85..1.02

      # But what was under way at the end is in neither factor: of each connection the age of a request, whose mean is latency x
      # (1 + cv^2) / 2 (renewal theory; Cox, "Renewal Theory", 1962). This allows for a coefficient of variation of 1.4.
      UNFINISHED_RATIO = 1.5

      # Threads of a server wait for cores more than usual: this much more than the variant's own median so far.
      RUN_QUEUE_RATIO = 0.15

      # Answers to a request may differ in length by this much between variants: dates, ids.
      BODY_RATIO = 0.01

      class << self
        # @param outcome [Load::Outcome]
        # @param conditions [Hash{String => Numeric, nil}]
        # @param turns_count [Integer] of the load
        # @return [String, nil] why the trial must not count whoever else uses the machine, as a clause
        def broken(outcome, conditions, arrivals:, turns_count: 1)
          busy_clients = !arrivals.open? && arrivals.think_s.zero?
          outcome.complaint || broken_by_generator(outcome, conditions) || (broken_by_little(outcome, conditions, turns_count) if busy_clients)
        end

        # @param earlier [Array<Trial>] of the same variant, valid
        # @return [String, nil] who else used the machine, as a clause
        def disturbed(conditions, earlier)
          broken_by_machine(conditions) || broken_by_run_queue(conditions, earlier)
        end

        # @param outcomes [Hash{String => Load::Outcome}] by variant, of one round
        # @return [String, nil] a request whose answers are not of equal length in all variants
        def unequal_bodies(outcomes)
          first_name, first = outcomes.first
          return if first&.body_bytes_ranges.nil?
          outcomes.drop(1).each do |name, other|
            first.body_bytes_ranges.zip(other.body_bytes_ranges || []).each_with_index do |(one, two), index|
              next if one.nil? || two.nil? || alike?(one, two)
              return "the answers to request #{index + 1} are of #{bytes(one)} with #{first_name}, and of #{bytes(two)} with #{name}"
            end
          end
          nil
        end

        private

        def broken_by_generator(outcome, conditions)
          busy, lag_ns = conditions.values_at("generator_cpu_ratio", "lag_p99_ns")
          if busy && busy > GENERATOR_CPU_RATIO then "the load generator used #{percent(busy)} of a core: it, not the server, was the bottleneck"
          elsif lag_ns && lag_ns > [LAG_NS, outcome.p50_ns.to_i * LAG_RATIO].max
            "the load generator sent #{Units.duration(lag_ns)} late (p99): the machine is too busy for this rate"
          end
        end

        def broken_by_little(outcome, conditions, turns_count)
          in_flight = conditions["in_flight_ratio"] or return
          unfinished = UNFINISHED_RATIO * outcome.mean_ns * turns_count / outcome.duration_ns
          return if in_flight.between?(IN_FLIGHT_RATIOS.min - unfinished, IN_FLIGHT_RATIOS.max)
          "Little's law does not hold: throughput x latency make #{percent(in_flight)} of the connections"
        end

        def broken_by_machine(conditions)
          foreign, stolen, throttled = conditions.values_at("foreign_cpu_ratio", "stolen_ratio", "throttled_count")
          if foreign && foreign > FOREIGN_CPU_RATIO then "others used #{percent(foreign)} of the machine"
          elsif stolen && stolen > STOLEN_RATIO then "the hypervisor took #{percent(stolen)} of the machine away"
          elsif throttled&.positive? then "the control group's CPU quota was used up #{throttled} times"
          end
        end

        def broken_by_run_queue(conditions, earlier)
          waits = earlier.filter_map { |trial| trial.conditions["run_queue_wait_ratio"] }
          now = conditions["run_queue_wait_ratio"]
          return if now.nil? || waits.size < 3
          usual = Stats::Quantile.of(waits.sort, 0.5)
          return if now <= usual + RUN_QUEUE_RATIO
          "the server's threads waited for a core for #{percent(now)} of their time, usually #{percent(usual)}: something else was running"
        end

        def alike?(one, two)
          slack = 1 + BODY_RATIO
          one.first <= two.last * slack && two.first <= one.last * slack
        end

        def bytes((low, high)) = (low == high) ? "#{low} bytes" : "#{low} to #{high} bytes"

        def percent(ratio) = Units.percent(ratio)
      end
    end
  end
end
