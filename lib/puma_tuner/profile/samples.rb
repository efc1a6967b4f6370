# frozen_string_literal: true

module PumaTuner
  module Profile
    # A method, block or C function on a stack.
    #
    # name: as Ruby prints it: "Concurrent::Map#[]", "Kernel#sleep", "block in Foo#bar".
    # path: nil for C functions. line: of the definition where the profiler tells it, else nil.
    # layer: one of Layers::NAMES, nil of profilers that look at Ruby alone.
    Frame = Data.define(:name, :path, :line, :layer)

    class Frame
      # Each process makes these up anew: the address of a class without a name, and the numbers behind a template's
      # name in the method that Rails compiles it to. With them the same code would be another method in each worker.
      MADE_UP = /:0x\h+(?=>)|_{2,3}\d+_\d+\z/

      def initialize(name:, path:, line:, layer: nil)
        super(name: MADE_UP.match?(name) ? name.gsub(MADE_UP, "") : name, path:, line:, layer:)
      end

      # The last frame of a stack whose thread could run and waited for the GVL, of profilers that can tell.
      GVL_WAIT = new(name: "(waiting for the GVL)", path: nil, line: nil)

      # The last frame of a stack under which garbage was collected. StackProf
      # does not say under which, so there it is the first.
      GC = new(name: "(garbage collection)", path: nil, line: nil)
    end

    # One sample, or a run of equal ones.
    #
    # frames: Array<Frame>, root first. amount: Integer, of the whole run, in the unit of the samples.
    # thread: the kernel's number of the thread, nil where unknown.
    # at_ns: CLOCK_MONOTONIC of the first sample of the run, nil where the profiler does not say.
    Stack = Data.define(:frames, :amount, :thread, :at_ns)

    # A method, by a profiler that sees every call.
    #
    # total_amount: with what it called; time inside of itself counts once. callers: {Frame => calls_count}.
    # repeated_count: of its calls, those that got what an earlier one had got, and gave the same; nil where inputs were
    #   not looked at
    Call = Data.define(:frame, :calls_count, :self_amount, :total_amount, :callers, :repeated_count) do
      def initialize(repeated_count: nil, **fields) = super
    end

    # Objects of one class made at one line. path, line: nil where Ruby does not know.
    Allocation = Data.define(:class_name, :path, :line, :objects_count, :bytes, :retained_objects_count,
      :retained_bytes)

    # The samples of a profiler, whichever it was.
    #
    # unit: "ns", "objects", "bytes", or "events" where none of them. stacks:
    #   Array<Stack>. calls: Array<Call>, of tracing profilers.
    # allocations: Array<Allocation>. samples_count, lost_count: nil where the profiler does not say.
    # interval_ns: between two samples, nil where there is none. pid: of the process; nil for several.
    Samples = Data.define(:profiler, :profiler_version, :mode, :unit, :stacks, :calls, :allocations, :samples_count,
      :interval_ns, :lost_count, :pid)

    class Samples
      def initialize(profiler:, profiler_version:, mode:, unit:, stacks: [], calls: [], allocations: [],
        samples_count: nil, interval_ns: nil, lost_count: nil, pid: nil)
        super
      end
    end
  end
end
