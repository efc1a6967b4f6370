# frozen_string_literal: true

module PumaTuner
  module Probe
    module Profilers
      # Samples whichever thread the kernel gives the timer's signal to, with its Ruby and its C functions.
      #
      # - In cpu mode that is the thread that runs. In wall mode it is a thread of the process at the moment, and mostly
      #   the main thread, which in a server does nothing: there this mode tells next to nothing.
      # - The kernel looks at CPU timers at its own tick, 1 to 10 ms, and may skip some: so in cpu mode an amount is the
      #   CPU time that the process used, shared out over the samples.
      # - It does not tell which thread a sample is of in the kernel's numbers.
      class Pf2 < Profiler
        PRIORITY = 60
        NAME = "pf2"
        GEM = "pf2"
        VERSION_REQUIREMENT = "~> 0.14.0"
        PINNED_VERSION = "0.14.0"
        RUBY_REQUIREMENT = ">= 3.3"
        MODES = {
          "cpu" => "where the CPU's time goes, in Ruby and in C",
          "wall" => "where time passes in the thread that the kernel picks, " \
            "mostly the main one: for scripts, not for servers"
        }.freeze
        EXTENSION = ".pf2.json"
        VIEWER = "Turn what is beside it into a file for profiler.firefox.com: " \
                 "pf2 report -o FILE.firefox.json FILE.pf2prof."
        DEFAULT_INTERVAL_US = 9_000

        # Its timer takes less than a second.
        INTERVALS_MS = 1..999

        def start
          load_gem("pf2") { ::Pf2::VERSION }
          @cpu_ns = cpu_ns
          @session = ::Pf2::Session.new(interval_ms:, time_mode: @mode.to_sym)
          @session.start
        end

        # Its viewer reads what Marshal wrote of its own hash: that lies beside.
        def stop
          data = @session.stop
          facts = self.facts.merge("interval_us" => interval_ms * 1_000, "cpu_ns" => cpu_ns - @cpu_ns)
          AtomicFile.write("#{@path}.pf2prof", Marshal.dump(data))
          functions = data.fetch(:functions).map { |function| printable(function) }
          write_json(data.merge(functions:, puma_tuner: facts))
        end

        private

        def printable(function) = function.transform_values { |told| told.is_a?(String) ? text(told) : told }

        def interval_ms = (@interval_us / 1_000).clamp(INTERVALS_MS)
      end
    end
  end
end
