# frozen_string_literal: true

module PumaTuner
  module Profile
    # The kernel's own profiler, watching processes from outside: the CPU time
    # of all their threads, in C and in the kernel.
    #
    # - Of Ruby it sees the interpreter's functions, and methods only where YJIT made machine code of them and was asked
    #   to name it (ruby --yjit --yjit-perf, which leaves /tmp/perf-PID.map).
    # - Stacks are followed by frame pointers, which most builds of Ruby leave out: what lies above the first C function
    #   may be missing. Rejected: DWARF, which needs none, for files a hundred times as large.
    # - It reads names while processes and their files are still there: read soon, on the same machine.
    class Perf < Probe::Profiler
      NAME = "perf"
      GEM = nil
      VERSION_REQUIREMENT = ">= 4.19"
      PINNED_VERSION = nil
      RUBY_REQUIREMENT = ">= 3.3"
      MODES = {"cpu" => "where the CPU's time goes in all threads, in C and in the kernel"}.freeze
      EXTENSION = ".perf.data"
      VIEWER = "Look at it in the terminal: perf report -i FILE; for speedscope.app: perf script -i FILE > FILE.txt."
      STAMPED = true
      OUTSIDE = true

      FREQUENCY_HZ = 99

      # It may take so long, from its start to its end, beyond what it was told.
      ENDING_LIMIT_S = 30
      READING_LIMIT_S = 300

      # Above the value in this file, the kernel counts for root alone; from 2 on, others don't see the kernel's
      # functions.
      PARANOID_FILE = "/proc/sys/kernel/perf_event_paranoid"

      # @param path [String] of the profile
      # @param search_path [String] folders, as in PATH
      # @return [Samples]
      # @raise [UnreadableProfile]
      def self.read(path, mode: nil, search_path: ENV.fetch("PATH", ""))
        known_mode(mode)
        Readers::Perf.new(path, new(search_path:)).samples
      end

      # @param search_path [String] folders, as in PATH
      def initialize(search_path: ENV.fetch("PATH", ""))
        @search_path = search_path
      end

      # @return [String, nil] why it can't work here and what to do; nil when it can
      def why_not
        unless executable
          return "perf is not on PATH. " \
            "Install it: sudo apt-get install linux-perf (Debian), linux-tools-generic (Ubuntu)"
        end
        level = File.file?(PARANOID_FILE) ? File.read(PARANOID_FILE).to_i : return
        return if level <= 2 || Process.uid.zero?
        "the kernel lets only root use perf (kernel.perf_event_paranoid is #{level}). #{ALLOW}"
      end

      ALLOW = "Allow it until the next start of the machine: sudo sysctl kernel.perf_event_paranoid=1"

      # Watches processes for a while, and writes perf's file in one step.
      #
      # @param pids [Array<Integer>]
      # @param path [String]
      # @param duration_s [Numeric]
      # @param frequency [Integer] samples per second of CPU time
      # @return [void]
      # @raise [UsageError] when perf is missing
      # @raise [MeasurementFailed] when the kernel forbids it, or no process is there
      def record(pids:, path:, duration_s:, frequency: FREQUENCY_HZ)
        raise UsageError, why_not if why_not
        AtomicFile.write(path) do |partial|
          output, status = Host::Child.output_of(
            [executable, "record", "--quiet", "-e", event, "-F", frequency.to_s, "-k", "CLOCK_MONOTONIC",
              "--call-graph", "fp",
              "-p", pids.join(","), "-o", partial, "--", "sleep", duration_s.to_s], limit_s: duration_s + ENDING_LIMIT_S
          )
          raise MeasurementFailed, complaint(output) unless status&.success? && File.size?(partial)
        end
      end

      # @return [String] what perf prints of a file
      # @raise [UsageError] when perf is missing
      def output_of(*words)
        raise UsageError, why_not unless executable
        output, status = Host::Child.output_of([executable, *words], limit_s: READING_LIMIT_S)
        [Probe::Processes.text(output.to_s), status&.success?]
      end

      private

      # Nobody but root and those whom the kernel trusts may see its functions; the others see the rest.
      def event
        level = File.file?(PARANOID_FILE) ? File.read(PARANOID_FILE).to_i : 0
        (level > 1 && !Process.uid.zero?) ? "cpu-clock:u" : "cpu-clock"
      end

      def complaint(output)
        said = output.to_s.lines.first(6).map { |line| "\n  | #{line.chomp}" }.join
        advice = output.to_s.match?(/paranoid|ermission|not permitted/) ? ALLOW : "Are the processes still there?"
        "perf recorded nothing. #{advice}#{" It said:" unless said.empty?}#{said}"
      end

      def executable
        @executable ||= @search_path.split(File::PATH_SEPARATOR).map { |folder| File.join(folder, "perf") }
          .find { |file| File.file?(file) && File.executable?(file) }
      end
    end
  end
end
