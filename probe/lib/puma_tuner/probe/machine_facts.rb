# frozen_string_literal: true

require "etc"

module PumaTuner
  module Probe
    # The machine, as far as it bears on a measurement.
    #
    # cores_count: logical CPUs that the process in question may use
    # cpu_quota_cores, memory_limit_bytes: its control groups' limits, nil
    #   without one (and memory_limit_bytes in older files)
    # load_average: over one minute, when read
    # cpu_pressure_ratio: share of the last ten seconds in which somebody waited for a core (PSI), nil where unknown
    MachineFacts = Document.define(:cores_count, :cpu_model, :cpu_quota_cores, :memory_bytes, :kernel, :load_average,
      :cpu_pressure_ratio, :memory_limit_bytes, added: {memory_limit_bytes: nil}) do
      # @param pid [Integer, String] of the process whose limits they are
      # @return [MachineFacts] of this machine, now
      def self.read(pid = "self")
        group = ControlGroup.of(pid)
        cores_count = Processes.allowed_cores(pid).size
        new(
          cores_count: cores_count.zero? ? Etc.nprocessors : cores_count,
          cpu_model: first_match("/proc/cpuinfo", /^model name\s*:\s*(.+)$/),
          cpu_quota_cores: group.cpu_quota_cores,
          memory_limit_bytes: group.memory_limit_bytes,
          memory_bytes: first_match("/proc/meminfo", /^MemTotal:\s*(\d+) kB/)&.then { |kib| kib.to_i * 1024 },
          kernel: "#{Etc.uname[:sysname]} #{Etc.uname[:release]}",
          load_average: first_match("/proc/loadavg", /^(\S+)/)&.to_f,
          cpu_pressure_ratio: first_match("/proc/pressure/cpu", /^some avg10=(\S+)/)
            &.then { |percent| percent.to_f / 100 }
        )
      end

      # The kernel's default period of a quota.
      const_set(:QUOTA_PERIOD_NS, 100 * Units::NS_PER_MS)

      # @return [Hash{Symbol => Integer, nil}] quota_ns of CPU in each period_ns; both nil without a limit
      def quota
        {quota_ns: cpu_quota_cores && (cpu_quota_cores * self.class::QUOTA_PERIOD_NS).round,
         period_ns: cpu_quota_cores && self.class::QUOTA_PERIOD_NS}
      end

      def self.first_match(path, pattern)
        File.read(path)[pattern, 1]
      rescue SystemCallError
        nil
      end
      private_class_method :first_match
    end
  end
end
