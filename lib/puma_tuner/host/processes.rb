# frozen_string_literal: true

module PumaTuner
  module Host
    # What Linux tells of other processes.
    module Processes
      module_function

      # @return [Array<Integer>] direct children; empty when the process has gone
      def children_of(pid)
        Dir["/proc/#{pid}/task/*/children"].flat_map { |path| read(path).split.map(&:to_i) }
      end

      # @return [Array<Integer>] the process and all that descend from it
      def tree_of(pid) = [pid, *children_of(pid).flat_map { |child| tree_of(child) }]

      # @return [Integer, nil] CPU time of all threads, also those that have ended; nil when the process has gone.
      #   Linux makes the clock's id from the process id.
      def cpu_ns(pid)
        Process.clock_gettime((~pid << 3) | 2, :nanosecond)
      rescue SystemCallError
        nil
      end

      # @return [Hash{Symbol => Integer, nil}] rss_bytes, and pss_bytes: shared pages divided among their users
      def memory(pid)
        rollup = read("/proc/#{pid}/smaps_rollup")
        %i[rss pss].to_h do |name|
          [:"#{name}_bytes", rollup[/^#{name.capitalize}:\s*(\d+) kB/, 1]&.then { |kib| kib.to_i * 1024 }]
        end
      end

      # How long threads have waited for a core so far, by the kernel's count.
      # @return [Hash{String => Integer}] thread name (its first 15 bytes) to nanoseconds; those of one name added up
      def run_queue_wait_ns(pid)
        Dir["/proc/#{pid}/task/*"].each_with_object(Hash.new(0)) do |task, waits|
          waits[read("#{task}/comm").chomp] += read("#{task}/schedstat").split[1].to_i
        end
      end

      # @return [Boolean] whether the process is there and no zombie
      def alive?(pid)
        state = read("/proc/#{pid}/stat")[/\) (\S)/, 1]
        !state.nil? && state != "Z"
      end

      # @return [String] title, as the process set it
      def command_line(pid) = read("/proc/#{pid}/cmdline").tr("\0", " ").strip

      def read(path)
        File.read(path)
      rescue SystemCallError
        ""
      end
    end
  end
end
