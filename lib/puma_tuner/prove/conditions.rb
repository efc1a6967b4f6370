# frozen_string_literal: true

module PumaTuner
  module Prove
    # The conditions beside a trial's load: they tell whether the figures can be trusted, not what they are. {name =>
    # number}
    #
    # run_queue_wait_ratio: of the time that the server's threads could run, the share in which they had no core
    # pressure_ratio: of the time, the share in which somebody waited for a core (PSI)
    # foreign_cpu_ratio: of the machine, what neither the server, nor what serves it here, generator nor we used;
    #   services_cpu_ratio: what serves it, such as a local database; stolen_ratio: taken by the hypervisor
    # throttled_count: times the control group's quota was used up
    # generator_cpu_ratio: of a core; lag_p99_ns: see Load::Outcome;
    #   in_flight_ratio: mean requests in flight, of the connections
    # yjit_code_bytes, yjit_code_least_bytes: of machine code, in the process
    #   that has most and in the one that has least
    # yjit_bytes, yjit_compiled_count, yjit_invalidated_count: see Probe::Gauges, each in the process that has most
    # yjit_new_ratio: of what YJIT has compiled, in all processes, the share
    #   that came during the load: it was paid for then
    # yjit_code_ratio: of the limit that YJIT stops compiling at, in the fullest process
    module Conditions
      # A larger share is no longer the end of compiling: such a load holds what compiling costs, and not all that it
      # brings.
      YJIT_NEW_RATIO_MAX = 0.05

      module_function

      # @param spent [Host::Spent] while the load was sent
      # @param gauges [Array<Hash>] of the server's processes at its end, see Probe::Gauges
      # @param began [Array<Hash>] the same at its beginning
      # @param own_cpu_ns [Integer] that this process used meanwhile
      # @return [Hash{String => Numeric}]
      def of(spent:, gauges:, outcome:, own_cpu_ns:, cores_count:, fingerprint:, began: [])
        machine_ns = (spent.duration_ns * cores_count).to_f
        {
          "run_queue_wait_ratio" => run_queue_wait_ratio(*spent.to_h.values_at(:cpu_ns, :run_queue_wait_ns)),
          "pressure_ratio" => spent.pressure_ns&.fdiv(spent.duration_ns),
          "foreign_cpu_ratio" => spent.foreign_ns(outcome.generator_cpu_ns&.+(own_cpu_ns))
            &.then { |ns| [ns / machine_ns, 0].max },
          "services_cpu_ratio" => (spent.services_ns / machine_ns if spent.services_ns.positive?),
          "stolen_ratio" => spent.stolen_ns&.then { |ns| ns / machine_ns }, "throttled_count" => spent.throttled_count,
          "generator_cpu_ratio" => outcome.generator_cpu_ns&.fdiv(outcome.sending_ns),
          "lag_p99_ns" => outcome.lag_p99_ns,
          "in_flight_ratio" => in_flight_ratio(outcome), "yjit_code_ratio" => yjit_code_ratio(gauges, fingerprint),
          "yjit_new_ratio" => new_ratio(began, gauges), **yjit(gauges)
        }.compact
      end

      def run_queue_wait_ratio(cpu_ns, wait_ns) = cpu_ns && wait_ns&.fdiv([cpu_ns + wait_ns, 1].max)

      def new_ratio(began, gauges)
        before, after = [began, gauges].map { |all| all.sum { |one| one[:compiled_count].to_i } }
        (after - before).fdiv(after) if before.positive? && after.positive?
      end

      def yjit(gauges)
        of_all = ->(name) { gauges.filter_map { |one| one[name] } }
        code_bytes, bytes = of_all.call(:code_bytes), of_all.call(:yjit_bytes)
        compiled, invalidated = of_all.call(:compiled_count), of_all.call(:invalidated_count)
        {"yjit_code_bytes" => code_bytes.max, "yjit_code_least_bytes" => code_bytes.min, "yjit_bytes" => bytes.max,
         "yjit_compiled_count" => compiled.max, "yjit_invalidated_count" => invalidated.max}
      end

      # It uses the generator's own samples; a mean that comes from Little's law would prove itself.
      def in_flight_ratio(outcome)
        return unless outcome.latency && outcome.mean_ns
        outcome.mean_ns.fdiv(outcome.duration_ns) * outcome.counted_count / outcome.connections_count
      end

      def yjit_code_ratio(gauges, fingerprint)
        return unless fingerprint[[:yjit, nil]] == "on"
        ruby = {version: fingerprint[[:ruby, nil]].to_s[/\d+\.\d+/] || "3.4", options: fingerprint[[:ruby, "flags"]]}
        limit_bytes = Probe::YjitLimit.bytes(**ruby) or return
        gauge = Probe::YjitLimit.code_only?(**ruby) ? :code_bytes : :yjit_bytes
        gauges.filter_map { |one| one[gauge] }.max&.fdiv(limit_bytes)
      end
    end
  end
end
