# frozen_string_literal: true

module PumaTuner
  module Probe
    module Profilers
      # Sees every call of every method, in all threads: exact counts, who
      # called whom, and times that its own work distorts.
      #
      # - Small methods that are called often look dearer than they are: compare
      #   counts with it, and shares with one that samples.
      # - With several threads, what a thread waits while others run is taken out of its times ("wait"); only while no
      #   thread calls anything does a rest count as time.
      # - Blocks are no methods: their time is told of the method that they are written in.
      # - Calls that had begun before it started have no count.
      # - It has no file of its own that can be read without it: `stop` writes its call trees as plain values, and
      #   beside them what its own printers make of it (.flat.txt, .callstack.html).
      class RubyProf < Profiler
        PRIORITY = 20
        NAME = "ruby-prof"
        GEM = "ruby-prof"
        VERSION_REQUIREMENT = "~> 2.0"
        PINNED_VERSION = "2.0.5"
        RUBY_REQUIREMENT = ">= 3.2"
        MODES = {
          "wall" => "calls, and the time that passes in them",
          "cpu" => "calls, and the CPU time of the whole process meanwhile",
          "allocations" => "calls, and the objects made in them",
          "inputs" => "calls, the time that passes in them, and how many got what an earlier one had got"
        }.freeze
        EXTENSION = ".ruby-prof"
        VIEWER = "Look at FILE.flat.txt, and open FILE.callstack.html in a browser."
        TRACING = "It sees every call and line: a small page took 7 times its CPU time (45 times in mode cpu), " \
          "and tight loops take more. Counts are exact, times are distorted."

        MEASURES = {"wall" => :WALL_TIME, "cpu" => :PROCESS_TIME,
                    "allocations" => :ALLOCATIONS, "inputs" => :WALL_TIME}.freeze

        FORMAT = 1

        # Parts of the call stack below this percentage of the whole are not shown: without a bound the page of a
        # server's calls has hundreds of megabytes.
        LEAST_SHOWN_PERCENT = 0.1

        def start
          load_gem("ruby-prof") { ::RubyProf::VERSION }
          note_threads
          @profile = ::RubyProf::Profile.new(measure_mode: ::RubyProf.const_get(MEASURES.fetch(@mode)))
          @inputs = Profiling::Inputs.new if @mode == "inputs"
          @profile.start
          @inputs&.start
        end

        def stop
          @inputs&.stop
          @profile.stop
          note_threads
          print_for_people
          write_json("kind" => NAME, "format" => FORMAT, **facts, **trees, **inputs)
        end

        private

        # @return [Hash] of a method's file and line, its repeated calls
        def inputs
          return {} unless @inputs
          {"inputs" => @inputs.rows.map { |path, line, count| [text(path), line, count] }}
        end

        def print_for_people
          AtomicFile.write("#{@path}.flat.txt") { |partial| printed(::RubyProf::FlatPrinter, partial) }
          AtomicFile.write("#{@path}.callstack.html") do |partial|
            printed(::RubyProf::CallStackPrinter, partial, min_percent: LEAST_SHOWN_PERCENT)
          end
        end

        def printed(printer, path, **) = File.open(path, "w") { |file| printer.new(@profile).print(file, **) }

        # @return [Hash] methods: [name, path, line]; threads: each its number and its calls, [caller's place, method's
        #   place, count, self, total] in an order in which callers come first
        def trees
          @methods = {}
          threads = @profile.threads.map do |thread|
            {"thread" => @native_ids[thread.id], "calls" => calls(thread.call_tree)}
          end
          {"methods" => @methods.keys, "threads" => threads}
        end

        # It uses no recursion: a tree is as deep as the app's stack.
        def calls(root)
          rows = []
          waiting = [[root, nil]]
          while (call, caller_place = waiting.pop)
            rows << [caller_place, place_of(call.target), call.called, amount(call.self_time), amount(call.total_time)]
            place = rows.size - 1
            call.children.each { |child| waiting << [child, place] }
          end
          rows
        end

        def place_of(method)
          @methods[[text(name_of(method)), text(method.source_file), method.line]] ||= @methods.size
        end

        # ruby-prof marks a singleton of a class or a module by these flags.
        CLASS_OR_MODULE = 0x2 | 0x4

        def name_of(method)
          return "<main>" if method.klass_name == "[global]"
          separator = method.klass_flags.anybits?(CLASS_OR_MODULE) ? "." : "#"
          "#{method.klass_name}#{separator}#{method.method_name}"
        end

        NS_PER_S = 1_000_000_000

        def amount(told) = ((@mode == "allocations") ? told : told * NS_PER_S).round
      end
    end
  end
end
