# frozen_string_literal: true

module PumaTuner
  module Probe
    module Profilers
      # Samples the thread that runs when the process has used so much CPU; or notes every object that is made.
      #
      # - The kernel looks at CPU timers at its own tick, 1 to 10 ms: shorter intervals don't sample more. So an amount
      #   is the CPU time that the process used, shared out over the samples.
      # - Wall mode samples the one thread that started it, and no other: in a server, none that serves. It is refused
      #   anywhere but in the main thread, as its signal must not meet a thread that has ended.
      # - Its signals interrupt system calls, which libraries not made for that take for errors.
      # - A forked process is not profiled.
      class Stackprof < Profiler
        PRIORITY = 40
        NAME = "stackprof"
        GEM = "stackprof"
        VERSION_REQUIREMENT = "~> 0.2.28"
        PINNED_VERSION = "0.2.28"
        RUBY_REQUIREMENT = ">= 2.2"
        MODES = {
          "cpu" => "where the CPU's time goes, in all threads",
          "wall" => "where time passes in the main thread: for scripts, not for servers",
          "object" => "where objects are made, every one counted; the app is several times slower, and grows meanwhile"
        }.freeze
        EXTENSION = ".stackprof.json"
        VIEWER = "Print it: stackprof --text FILE; one method: stackprof --method NAME FILE; " \
                 "or open it at speedscope.app."

        def start
          ensure_main_thread if @mode == "wall"
          load_gem("stackprof") { ::StackProf::VERSION }
          @cpu_ns = cpu_ns
          interval = (@mode == "object") ? 1 : @interval_us
          return if ::StackProf.start(mode: @mode.to_sym, interval:, raw: true)
          raise UsageError, "StackProf is running in this process already; stop it first."
        end

        def stop
          ::StackProf.stop
          used_ns = cpu_ns - @cpu_ns
          results = ::StackProf.results
          results = merged(results) if @mode == "object"
          frames = results[:frames].transform_values do |frame|
            frame.merge(name: text(frame[:name]), file: text(frame[:file]))
          end
          write_json(results.merge(frames:, metadata: facts.merge("cpu_ns" => used_ns)))
        end

        private

        # A row for each object would make a file of gigabytes in a minute; a
        # row for each stack is enough. Its viewers need no times.
        def merged(results)
          raw = results[:raw].to_a
          counts = Hash.new(0)
          at = 0
          while at < raw.size
            length = raw[at]
            counts[raw[at + 1, length]] += raw[at + 1 + length]
            at += length + 2
          end
          results.except(:raw_lines, :raw_sample_timestamps, :raw_timestamp_deltas)
            .merge(raw: counts.flat_map { |frames, count| [frames.size, *frames, count] })
        end

        def ensure_main_thread
          return if Thread.current == Thread.main
          raise UsageError, "StackProf's wall mode samples only the thread that starts it, which serves no requests. " \
            "Take its cpu mode, or vernier."
        end
      end
    end
  end
end
