# frozen_string_literal: true

module PumaTuner
  module Host
    # How busy the machine has been so far, by the kernel's counts. Differences tell of a window.
    module MachineLoad
      # The kernel counts in these (USER_HZ, 100 on every Linux that Ruby runs on).
      NS_PER_TICK = 10_000_000

      module_function

      # @return [Hash{Symbol => Integer, nil}] busy_ns, stolen_ns: of all cores together; pressure_ns: for which somebody waited
      #   for a core; throttled_count: how often our control group had used up its quota
      def read
        user, nice, system, _idle, _iowait, irq, softirq, steal = Processes.read("/proc/stat")[/^cpu .*/].to_s.split.drop(1).map(&:to_i)
        {
          busy_ns: user && (user + nice + system + irq + softirq) * NS_PER_TICK, stolen_ns: steal && steal * NS_PER_TICK,
          pressure_ns: Processes.read("/proc/pressure/cpu")[/^some .*total=(\d+)/, 1]&.then { |us| us.to_i * 1_000 },
          throttled_count: Processes.read("/sys/fs/cgroup/cpu.stat")[/^nr_throttled (\d+)/, 1]&.to_i
        }
      end
    end
  end
end
