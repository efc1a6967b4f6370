# frozen_string_literal: true

module PumaTuner
  module Profile
    module Profilers
      # Samples every thread each millisecond, whether it runs, waits for the GVL or rests; or notes every object that is made.
      #
      # - A thread that rests is sampled too: an idle pool of threads is most of a wall profile, under the method that waits for work.
      # - While garbage is collected nothing is sampled; that time is missing.
      # - When the machine is too busy for a sample in time, it is left out: sums may be lower than the time that passed.
      # - Vernier knows the kernel's number only of a thread that runs at the end; the others are told here, as Ruby knows them.
      class Vernier < Profiler
        NAME = "vernier"
        GEM = "vernier"
        VERSION_REQUIREMENT = "~> 1.12"
        PINNED_VERSION = "1.12.0"
        RUBY_REQUIREMENT = ">= 3.3"
        MODES = {
          "wall" => "where each thread's time passes: running, waiting for the GVL, or resting",
          "objects" => "where objects are made, every one counted; slows the app down",
          "retained" => "where the objects were made that are still there at the end, in bytes; slows the app down"
        }.freeze
        EXTENSION = ".vernier.json"
        VIEWER = "Open it at profiler.firefox.com or vernier.prof, which keep it in the browser, or print it: vernier view FILE."
        STAMPED = true
        READER = -> { Readers::Vernier }

        # In the other modes time is not asked for, and the collector can't do without.
        SELDOM_US = 100_000

        def start
          load_gem("vernier") { ::Vernier::VERSION }
          @native_ids = {}
          note_threads
          @collector = ::Vernier::Collector.new((@mode == "retained") ? :retained : :wall, options)
          @collector.start
        end

        def stop
          note_threads
          result = @collector.stop
          result.threads.each { |id, thread| thread[:tid] = @native_ids.fetch(id) { thread[:tid] } }
          write_in_one_step { |partial| File.binwrite(partial, result.to_firefox) }
        end

        private

        # An object's id is what Vernier knows threads by.
        def note_threads = Thread.list.each { |thread| @native_ids[thread.object_id] ||= thread.native_thread_id }

        def options
          case @mode
          when "wall" then {interval: @interval_us, metadata:}
          when "objects" then {interval: SELDOM_US, allocation_interval: 1, metadata:}
          else {metadata:}
          end
        end

        # Vernier shortens paths by what it knows of the process; to have them back, the reader must know it too.
        def metadata
          facts.merge("working_directory" => Dir.pwd, "gem_folders" => Gem.path, "ruby_library" => RbConfig::CONFIG["rubylibdir"])
        end
      end

      register Vernier
    end
  end
end
