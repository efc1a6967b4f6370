# frozen_string_literal: true

module PumaTuner
  module Probe
    module Profilers
      # Samples every thread each millisecond, whether it runs, waits for the
      # GVL or rests; or notes every object that is made.
      #
      # - A thread that rests is sampled too: an idle pool of threads is most of
      #   a wall profile, under the method that waits for work.
      # - Code that is made and thrown away while the app serves (eval, ERB#result, methods of single objects, extend)
      #   can end the process with "[BUG] frame2iseq: unreachable" at the stop: Vernier 1.12 holds samples for a moment
      #   where the garbage collector does not see them, longer on a busy machine. docs/reference/profilers.md has
      #   numbers.
      # - While garbage is collected nothing is sampled; that time is missing.
      # - When the machine is too busy for a sample in time, it is left out:
      #   sums may be lower than the time that passed.
      # - Vernier knows the kernel's number only of a thread that runs at the
      #   end; the others are told here, as Ruby knows them.
      class Vernier < Profiler
        PRIORITY = 100
        NAME = "vernier"
        GEM = "vernier"
        VERSION_REQUIREMENT = "~> 1.12"
        PINNED_VERSION = "1.12.0"
        RUBY_REQUIREMENT = ">= 3.3"
        MODES = {
          "wall" => "where each thread's time passes: running, waiting for the GVL, or resting",
          "objects" => "where objects are made, every one counted; the app is several times slower",
          "retained" => "where the objects were made that are still there at the end, in bytes; " \
            "the app is several times slower"
        }.freeze
        EXTENSION = ".vernier.json"
        VIEWER = "Open it at profiler.firefox.com or vernier.prof, which keep it in the browser, " \
          "or print it: vernier view FILE."
        STAMPED = true

        # The other modes don't ask for time, and the collector can't do without an interval.
        SELDOM_US = 100_000

        def start
          load_gem("vernier") { ::Vernier::VERSION }
          note_threads
          @collector = ::Vernier::Collector.new((@mode == "retained") ? :retained : :wall, options)
          @collector.start
        end

        def stop
          note_threads
          result = @collector.stop
          result.threads.each do |id, thread|
            thread[:tid] = @native_ids.fetch(id) { thread[:tid] }
            thread[:allocations] &&= merged(thread[:allocations])
          end
          AtomicFile.write(@path, result.to_firefox)
        end

        private

        # A row for each object would make a file of gigabytes in a minute; a row for each stack is enough.
        def merged(allocations)
          first_at = {}
          counts = Hash.new(0)
          allocations.fetch(:samples)
            .zip(allocations.fetch(:weights), allocations.fetch(:timestamps)) do |stack, weight, at|
            counts[stack] += weight
            first_at[stack] ||= at
          end
          {samples: counts.keys, weights: counts.values, timestamps: first_at.values}
        end

        def options
          case @mode
          when "wall" then {interval: @interval_us, metadata:}
          when "objects" then {interval: SELDOM_US, allocation_interval: 1, metadata:}
          else {metadata:}
          end
        end

        # Vernier shortens paths by what it knows of the process; to have them back, the reader must know it too.
        def metadata
          facts.merge("working_directory" => Dir.pwd, "gem_folders" => Gem.path,
            "ruby_library" => RbConfig::CONFIG["rubylibdir"])
        end
      end
    end
  end
end
