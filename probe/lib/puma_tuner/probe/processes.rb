# frozen_string_literal: true

module PumaTuner
  module Probe
    # Reads what Linux tells of other processes.
    module Processes
      module_function

      # @return [Boolean] whether the kernel tells of processes in files, as Linux does: else what is read here is not
      #   known
      def told? = File.exist?("/proc/self/stat")

      # @return [Array<Integer>] all that can be seen from here; empty without /proc
      def ids = Dir["/proc/[0-9]*"].map { |path| File.basename(path).to_i }

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

      # Returns how much machine code a process has made, as YJIT does: its executable memory that is of no file.
      # @return [Integer, nil] nil where this user may not look
      def code_bytes(pid)
        maps = read("/proc/#{pid}/maps")
        return if maps.empty?
        maps.scan(/^(\h+)-(\h+) r.xp \h+ \h+:\h+ 0 *(?:\[anon:.*)?$/).sum { |first, last| last.hex - first.hex }
      end

      # Returns how long threads have waited for a core so far, by the kernel's count.
      # @return [Hash{Integer => Array(String, Integer)}] by the kernel's id of a thread: its name (the first 15 bytes),
      #   and nanoseconds
      def run_queue_wait_ns(pid)
        Dir["/proc/#{pid}/task/*"].to_h do |task|
          [File.basename(task).to_i, [read("#{task}/comm").chomp, read("#{task}/schedstat").split[1].to_i]]
        end
      end

      # @param pids [Array<Integer>]
      # @return [Hash{Integer => Hash}] the same of each process that may be looked at
      def run_queue_waits(pids)
        pids.select(&:positive?).to_h { |pid| [pid, run_queue_wait_ns(pid)] }.reject { |_, waits| waits.empty? }
      end

      # Threads are told apart by their ids: Puma gives the name of a thread that has ended to a later one, whose wait
      # begins at 0.
      #
      # @param pids [Array<Integer>]
      # @param before [Hash{Integer => Hash}] what run_queue_waits gave earlier
      # @return [Hash{Integer => Hash{String => Integer}}] by process and thread name, how much longer it is since;
      #   those of one name added up
      def run_queue_waits_since(before, pids)
        run_queue_waits(pids).to_h do |pid, threads|
          earlier = before.fetch(pid, {})
          grown = threads.map { |id, (name, ns)| [name, grown_ns(ns, earlier.dig(id, 1))] }
          [pid, grown.group_by(&:first).transform_values { |same| same.sum(&:last) }]
        end
      end

      # What is less than before is another thread's, to which the kernel gave the same id.
      def grown_ns(ns, before_ns) = (before_ns && before_ns <= ns) ? ns - before_ns : ns
      private_class_method :grown_ns

      # @param pids [Array<Integer, String>]
      # @return [Integer, nil] of all their threads together; nil without /proc
      def run_queue_wait_sum_ns(pids)
        pids.sum { |pid| run_queue_wait_ns(pid).values.sum(&:last) } if told?
      end

      # @param proc [String] where processes are told of
      # @return [Array<String>] what stands in its stat behind its name, which may hold anything: its state, its parent
      #   and more; empty when the process has gone
      def stat(pid, proc: "/proc") = read("#{proc}/#{pid}/stat").rpartition(") ").last.split

      # @return [Boolean] whether the process is there and no zombie, as far as it can be told without /proc
      def alive?(pid)
        state = stat(pid).first
        return state != "Z" if state
        !told? && !Process.kill(0, pid).nil?
      rescue Errno::EPERM
        true # it is somebody else's
      rescue Errno::ESRCH
        false
      end

      # @return [String] what tells this process from all others of this machine, its containers included: its id, when
      #   it began (in ticks of the kernel), and the namespace that ids are counted in; zeros without /proc
      def identity(pid)
        began = stat(pid)[19] || "0"
        "#{pid}-#{began}-#{pid_namespace}"
      end

      # A process of another container can't be seen, and has another identity.
      #
      # @param identity [String] of a process, as it was
      # @return [Boolean] whether that is there, and not another one that was given its id
      def there?(identity)
        pid = identity.to_i
        alive?(pid) && identity(pid) == identity
      end

      # @return [String] its number; zero without /proc
      def pid_namespace
        File.readlink("/proc/self/ns/pid")[/\d+/]
      rescue SystemCallError
        "0"
      end

      # @param pid [Integer, String]
      # @return [Array<Integer>] numbers of the cores that the process may use; empty where the kernel does not tell
      def allowed_cores(pid = "self")
        online_among(read("/proc/#{pid}/status")[/^Cpus_allowed_list:\s*(\S+)/, 1],
          read("/sys/devices/system/cpu/online"))
      end

      # A virtual machine that could be given more cores has those among the allowed ones, too (psutil's issue 956). A
      # container may number its own anew, so that none is left.
      #
      # @param allowed [String, nil] list of cores, as the kernel has it: "0-3,8"
      # @param online [String] the same of those that there are; empty where nobody tells
      # @return [Array<Integer>]
      def online_among(allowed, online)
        allowed = cores_in(allowed)
        there = allowed & cores_in(online)
        there.empty? ? allowed : there
      end

      def cores_in(list)
        list.to_s.split(",").flat_map do |part|
          first, last = part.split("-").map(&:to_i)
          (first..(last || first)).to_a
        end
      end
      private_class_method :cores_in

      # @return [String] title, as the process set it
      def command_line(pid) = read("/proc/#{pid}/cmdline").tr("\0", " ").strip

      # @param path [String]
      # @return [String] what stands there, as text; empty of a file that is not there
      def read(path)
        text(File.binread(path))
      rescue SystemCallError
        ""
      end

      # In broken text Ruby looks for no pattern, and what the kernel, a variable or a program tells may hold any bytes:
      # the kernel cuts a program's name after 15 of them, also amid a letter, and paths are in the letters of whoever
      # made them.
      #
      # @param bytes [String]
      # @return [String] them in UTF-8, whatever the locale
      def text(bytes) = bytes.dup.force_encoding(Encoding::UTF_8).scrub
    end
  end
end
