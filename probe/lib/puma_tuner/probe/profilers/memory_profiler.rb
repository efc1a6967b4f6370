# frozen_string_literal: true

module PumaTuner
  module Probe
    module Profilers
      # Notes every object: its class, the line that made it, its size, and whether it is still there at the end.
      #
      # - Garbage is not collected meanwhile, so the process grows by all that it makes: keep it to seconds.
      # - At the end it goes through all objects and collects several times, and nothing is served until it has.
      # - Objects of threads at work when it stops count as retained.
      # - It has no file of its own: `stop` writes sums by class and line as plain values, and its own report beside
      #   them (.txt). The contents of strings, which it would print, are left out: they are the app's data.
      class MemoryProfiler < Profiler
        PRIORITY = 10
        NAME = "memory_profiler"
        GEM = "memory_profiler"
        VERSION_REQUIREMENT = "~> 1.1"
        PINNED_VERSION = "1.1.0"
        RUBY_REQUIREMENT = ">= 3.1"
        MODES = {"objects" => "which objects are made and kept, by class and line"}.freeze
        EXTENSION = ".memory_profiler"
        VIEWER = "Look at FILE.txt."
        TRACING = "It notes every object and keeps all of them until the end: " \
          "a small page took 6 times its CPU time, the process grows by all that it makes, " \
          "and stands still for seconds at the end."

        FORMAT = 2

        def start
          load_gem("memory_profiler") { ::MemoryProfiler::VERSION }
          @reporter = ::MemoryProfiler::Reporter.new
          @reporter.start
        end

        def stop
          results = @reporter.stop
          # It offers sums by class and sums by line, and these only of the
          # largest; both at once are in what it made them of.
          allocated, retained = %i[@allocated @retained].map { |name| sums(results.instance_variable_get(name)) }
          AtomicFile.write("#{@path}.txt") do |partial|
            results.pretty_print(to_file: partial, allocated_strings: 0, retained_strings: 0)
          end
          write_json("kind" => NAME, "format" => FORMAT, **facts, "allocations" => rows(allocated, retained))
        end

        private

        # @return [Array<Array>] class, "path:line", objects and their bytes, and of these the objects that are still
        #   there and theirs
        def rows(allocated, retained)
          allocated.map { |place, sum| [*place.map { |name| text(name) }, *sum, *(retained[place] || [0, 0])] }
        end

        # @return [Hash{Array(String, String) => Array(Integer, Integer)}] count and bytes, by class and "path:line"
        def sums(stats)
          stats.each_value.with_object({}) do |stat, sums|
            sum = sums[[stat.class_name, stat.location]] ||= [0, 0]
            sum[0] += 1
            sum[1] += stat.memsize
          end
        end
      end
    end
  end
end
