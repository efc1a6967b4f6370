# frozen_string_literal: true

module PumaTuner
  module Host
    # Reads how busy the machine has been so far, by the kernel's counts. The difference of two readings tells of a
    # window.
    module MachineLoad
      # The kernel counts in these (USER_HZ, 100 on every Linux that Ruby runs on).
      NS_PER_TICK = 10_000_000

      module_function

      # @param stat [String] as /proc/stat has it, which is of the whole machine also inside a container
      # @param cores [Array<Integer>] that this process may use: on others strangers disturb nobody
      # @return [Hash{Symbol => Integer, nil}] busy_ns, stolen_ns: of these cores
      #   together; pressure_ns: for which somebody waited for a core; throttled_count:
      #   how often our control group, or one above it, had used up its quota
      def read(stat: Probe::Processes.read("/proc/stat"), cores: Probe::Processes.allowed_cores)
        ticks = stat.scan(/^cpu(\d+) (.*)/).filter_map do |core, counts|
          counts.split.map(&:to_i) if cores.include?(core.to_i)
        end
        busy = ticks.sum { |user, nice, system, _idle, _iowait, irq, softirq| user + nice + system + irq + softirq }
        {
          busy_ns: (busy * NS_PER_TICK if ticks.any?),
          stolen_ns: (ticks.sum { |counts| counts[7].to_i } * NS_PER_TICK if ticks.any?),
          pressure_ns: Probe::Processes.read("/proc/pressure/cpu")[/^some .*total=(\d+)/, 1]
            &.then { |us| us.to_i * 1_000 },
          throttled_count: Probe::ControlGroup.own.throttled_count
        }
      end
    end
  end
end
