# frozen_string_literal: true

module PumaTuner
  module Probe
    # The limits that the control groups of Linux set a process, in version 2 and in version 1: those of its own group
    # and of all groups above it, of which the lowest holds.
    class ControlGroup
      SYSTEM = "/sys/fs/cgroup"

      # Version 1 says "no limit" by a number near the largest that there is.
      NO_LIMIT_BYTES = 1 << 60

      # @param pid [Integer, String]
      # @return [ControlGroup] of that process
      def self.of(pid) = new(Processes.read("/proc/#{pid}/cgroup"))

      # @return [ControlGroup] of this process
      def self.own = of("self")

      # @param lines [String] as in /proc/PID/cgroup: "number:controllers:path"; the number 0 is version 2's
      # @param system [String] where the groups are mounted
      def initialize(lines, system: SYSTEM)
        @system = system
        @paths = lines.lines(chomp: true).to_h { |line| line.split(":", 3).values_at(1, 2) }
      end

      # @return [Float, nil] in cores; nil without a limit
      def cpu_quota_cores
        quotas = read_all("", "cpu.max").filter_map { |text| quota(*text.split) } +
          read_all("cpu", "cpu.cfs_quota_us").zip(read_all("cpu", "cpu.cfs_period_us"))
            .filter_map { |texts| quota(*texts) }
        quotas.min
      end

      # @return [Integer, nil] nil without a limit
      def memory_limit_bytes
        (read_all("", "memory.max") + read_all("memory", "memory.limit_in_bytes"))
          .filter_map { |text| Integer(text, exception: false) }
          .select { |bytes| bytes < NO_LIMIT_BYTES }.min
      end

      # @return [Integer, nil] how often the group itself, or one above it, had
      #   used up its quota; nil where it is not told
      def throttled_count
        (read_all("", "cpu.stat") + read_all("cpu", "cpu.stat"))
          .filter_map { |text| text[/^nr_throttled (\d+)/, 1]&.to_i }.max
      end

      private

      def quota(quota_us, period_us)
        quota_us.to_f / period_us.to_f if quota_us.to_i.positive? && period_us.to_i.positive?
      end

      # @param controller [String] "" in version 2
      # @return [Array<String>] the file's content in each group, from the root down to the process's own
      def read_all(controller, file)
        path = @paths.find { |controllers, _|
          controllers.split(",").include?(controller) ||
            (controllers.empty? && controller.empty?)
        }&.last or return []
        folders(path).map { |folder| Processes.read(File.join(@system, controller, folder, file)).chomp }
          .reject(&:empty?)
      end

      # In a container the path may be the host's, and the mount begins with its own group: folders that are not there
      # are left out.
      def folders(path) = path.split("/").reject(&:empty?).inject([""]) { |all, name| [*all, "#{all.last}/#{name}"] }
    end
  end
end
