# frozen_string_literal: true

module PumaTuner
  module Probe
    # The limits that the control groups of Linux set a process, in version 2 and in version 1: those of its own group
    # and of all groups above it, of which the lowest holds. And what its own group uses.
    class ControlGroup
      SYSTEM = "/sys/fs/cgroup"

      # Version 1 says "no limit" by a number near the largest that there is.
      NO_LIMIT_BYTES = 1 << 60

      # Linux opens no file whose path is longer (PATH_MAX), so what lies deeper is not looked for.
      PATH_BYTES_MAX = 4_096
      private_constant :PATH_BYTES_MAX

      # @param pid [Integer, String]
      # @return [ControlGroup] of that process
      def self.of(pid) = new(Processes.read("/proc/#{pid}/cgroup"))

      # @return [ControlGroup] of this process
      def self.own = of("self")

      # @param lines [String] as in /proc/PID/cgroup: "number:controllers:path"; the number 0 is version 2's
      # @param system [String] where the groups are mounted
      def initialize(lines, system: SYSTEM)
        @system = system
        @paths = lines.lines(chomp: true).to_h { |line| line.split(":", 3).values_at(1, 2).map(&:to_s) }
      end

      # @return [Float, nil] in cores; nil without a limit
      def cpu_quota_cores
        quotas = read_all("", "cpu.max").filter_map { |text| quota(*text.split.values_at(0, 1)) } +
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

      # What a container counts as in use, and is ended for: all memory of the group, page cache included, without the
      # file pages that nobody has used of late. As the kubelet tells it, container_memory_working_set_bytes. Source:
      # https://kubernetes.io/docs/concepts/scheduling-eviction/node-pressure-eviction/#eviction-signals
      #
      # @return [Integer, nil] bytes; nil without a group of its own: the root group's are the whole machine's
      def working_set_bytes
        usage, stat = own_usage
        idle_bytes = stat && stat[/^(?:total_)?inactive_file (\d+)/, 1]
        usage_bytes = Integer(usage, exception: false) if usage && idle_bytes
        usage_bytes && [usage_bytes - idle_bytes.to_i, 0].max
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

      # Of the group that is nearest to the process; in version 1 the figures of its descendants are "total_".
      def own_usage
        usage, stat = read_all("", "memory.current").last, read_all("", "memory.stat").last
        return [usage, stat] if usage && stat
        return if version_1_root?
        usage, stat = read_all("memory", "memory.usage_in_bytes").last, read_all("memory", "memory.stat").last
        [usage, stat&.[](/^total_.*/m)]
      end

      # This file is in the first folder of a hierarchy alone, so not where a container sees its own group there.
      def version_1_root?
        place = folders(path_of("memory") || "").reverse.map { |folder| File.join(@system, "memory", folder) }
          .find { |folder| File.directory?(folder) }
        place.nil? || File.exist?(File.join(place, "release_agent"))
      end

      # @param controller [String] "" in version 2
      # @return [Array<String>] the file's content in each group, from the root down to the process's own
      def read_all(controller, file)
        path = path_of(controller) or return []
        folders(path).map { |folder| Processes.read(File.join(@system, controller, folder, file)).chomp }
          .reject(&:empty?)
      end

      def path_of(controller)
        @paths.find { |controllers, _|
          controllers.split(",").include?(controller) ||
            (controllers.empty? && controller.empty?)
        }&.last
      end

      # In a container the path may be the host's, and the mount begins with its own group: folders that are not there
      # are left out.
      def folders(path)
        path.split("/").reject(&:empty?).each_with_object([""]) do |name, all|
          folder = "#{all.last}/#{name}"
          break all if folder.bytesize > PATH_BYTES_MAX
          all << folder
        end
      end
    end
  end
end
