# frozen_string_literal: true

module PumaTuner
  module Probe
    module Profilers
      # Samples the thread that has the GVL, and weighs each sample by the time that really
      # passed since the last one of that thread: a long stay in one C function counts in
      # full. In wall mode it also knows how long a thread rested and waited for the GVL.
      #
      # - It samples where Ruby looks for interrupts, so time within a C
      #   function is told of the method that called it, or of the next.
      # - A thread that gives up the GVL is sampled there, with all that passed since its last sample: where threads run
      #   for less than a millisecond between two waits, their CPU time is told of the calls that wait.
      # - Frames have no lines. Its thread numbers are its own.
      # - Its file tells of the machine and the git commit, if it is let: here
      #   it is not, as asking git starts a process in the server.
      class Rperf < Profiler
        PRIORITY = 80
        NAME = "rperf"
        GEM = "rperf"
        VERSION_REQUIREMENT = "~> 0.11.1"
        PINNED_VERSION = "0.11.1"
        RUBY_REQUIREMENT = ">= 3.4"
        MODES = {
          "cpu" => "where the CPU's time goes, in each thread",
          "wall" => "where each thread's time passes: running, waiting for the GVL, or resting"
        }.freeze
        EXTENSION = ".rperf.json.gz"
        VIEWER = "Make a page of it: rperf report --html FILE > FILE.html; or print it: rperf report --text FILE."

        # That it takes.
        MAX_FREQUENCY_HZ = 10_000

        US_PER_S = 1_000_000

        def start
          load_gem("rperf") { ::Rperf::VERSION }
          # A forked process would otherwise be profiled into a file in the temporary folder.
          ::Rperf.start(frequency: (US_PER_S / @interval_us).clamp(1, MAX_FREQUENCY_HZ), mode: @mode.to_sym,
            inherit: false)
        end

        def stop
          data = ::Rperf.stop
          # It writes in one step itself.
          ::Rperf.save(@path, {meta:, summary: ::Rperf::Meta.build_summary(data)}.merge(data), format: :json)
          nil
        end

        private

        # The first keys of the file, which its viewer reads; it asks git for them when they are missing.
        def meta
          {format_version: ::Rperf::Meta::FORMAT_VERSION, created_at: Time.now.utc.iso8601, ruby_version: RUBY_VERSION,
           rperf_version: @version, mode: @mode, puma_tuner: facts}
        end
      end
    end
  end
end
