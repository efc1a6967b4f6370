# frozen_string_literal: true

module Accuracy
  # Something that says where time went, as its users would use and read it. A subclass adapts one tool, with the reading
  # explained in READING, and is listed in Tools.
  class Tool
    # What each of its words holds, in ours: a tool that files garbage collection under CPU time by its own account is held
    # against both together. A word that is missing is not judged.
    COVERS = {}.freeze

    # The same by mode, of one that samples and does not know who waits for the GVL.
    WITHOUT_GVL = {
      "wall" => {cpu: %i[cpu preempted], gc: %i[gc], io: %i[io], lock: %i[lock], sleep: %i[sleep]}.freeze,
      "cpu" => {cpu: %i[cpu], gc: %i[gc]}.freeze
    }.freeze

    # @param mode [String, nil] of a tool that has several
    def initialize(mode = nil)
      @mode = mode
    end

    # Loads and starts it, on the main thread, before other threads are made.
    def prepare
    end

    # @yield the workload, on the watched thread
    # @return [Hash{Symbol => Integer}] part => ns, of the watched thread
    def around
      raise NotImplementedError
    end

    # @return [Hash{Symbol => Integer}] what else it said: wall_ns, the sum of all parts; around_ns, the wall time of what it watched from outside
    def extras = {}
  end

  # For tools that say where in the code time went: what their user takes a method to mean who sees it at the end of a stack.
  module Leaf
    SLEEP = /\A(Kernel|Object)[#.]sleep\z/
    LOCK = /\A(Thread::)?(Mutex|Queue|SizedQueue|ConditionVariable)[#.]|\AMonitor[#.]|\AThread[#.](join|value)\z/
    IO = /\A(IO|BasicSocket|Socket|UNIXSocket|TCPSocket)[#.]/

    # @param name [String] of the method
    # @param otherwise [Symbol]
    # @return [Symbol] a part
    def self.part(name, otherwise:)
      case name
      when SLEEP then :sleep
      when LOCK then :lock
      when IO then :io
      else otherwise
      end
    end
  end

  # Ours: as a job, whose budget is read inside the process.
  class PumaTunerTool < Tool
    NAME = "workload"
    PARTS = %i[cpu preempted gvl_wait gc io lock sleep].freeze
    COVERS = PARTS.to_h { |part| [part, [part]] }.freeze
    READING = "the budget of a block of PumaTuner.measure, part by part"

    def prepare
      require "puma_tuner"
      PumaTuner::Probe::GvlClock.start or raise "the clock did not start: #{PumaTuner::Probe::GvlClock.why_not}"
      PumaTuner.measure("the first one, which begins the recording") {}
    end

    def around(&)
      began_ns = now_ns
      PumaTuner.measure(NAME, &)
      @around_ns = now_ns - began_ns
      @budget = PumaTuner.snapshot.jobs.find { |job| job.name == NAME }.budget
      PARTS.to_h { |part| [part, @budget.part_ns(part)] }.compact
    end

    # By adding up: its own wall time is of the same stamps as its parts, and proves nothing of them.
    def extras = {wall_ns: PARTS.sum { |part| @budget.part_ns(part) || 0 }, around_ns: @around_ns}

    private

    def now_ns = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
  end

  # Sampling, with a stack at every release of the GVL. A label tells the watched thread from the others.
  class RperfTool < Tool
    # Its clocks: wall includes being off a core, the thread's CPU clock doesn't. A collection gets a sample of its own, and is
    # part of the next one, too: method time includes it.
    COVERS = {
      "wall" => {cpu: %i[cpu preempted gc], gvl_wait: %i[gvl_wait], gc: %i[gc], io: %i[io], lock: %i[lock],
                 sleep: %i[sleep]}.freeze,
      "cpu" => {cpu: %i[cpu gc], gc: %i[gc]}.freeze
    }.freeze
    READING = "label %GC: gc; %GVL=wait: gvl_wait; %GVL=blocked: sleep or lock by the method, otherwise io, as its help says; " \
              "no label: cpu, gc included"
    STATES = {"wait" => :gvl_wait, "mark" => :gc, "sweep" => :gc}.freeze

    def prepare = require("rperf")

    def around(&)
      Rperf.start(mode: @mode.to_sym, frequency: 1_000, inherit: false)
      Rperf.label(watched: "yes", &)
      data = Rperf.stop
      watched = data[:aggregated_samples].select { |sample| labels(data, sample)[:watched] }
      sums = covers.keys.to_h { |part| [part, 0] }
      watched.each { |sample| sums[part(sample, labels(data, sample))] += sample[1] }
      sums
    end

    private

    def covers = COVERS.fetch(@mode)

    def labels(data, sample) = data[:label_sets].fetch(sample[3] || 0)

    def part((frames, _weight), labels)
      state = labels[:"%GVL"] || labels[:"%GC"]
      return :cpu if state.nil? || @mode == "cpu" && state == "blocked"
      STATES.fetch(state) { Leaf.part(frames.first.last, otherwise: :io) }
    end
  end

  # Wall time, by samples at an interval of half a millisecond, its default.
  class VernierTool < Tool
    COVERS = {cpu: %i[cpu preempted], gvl_wait: %i[gvl_wait], gc: %i[gc], io: %i[io], lock: %i[lock], sleep: %i[sleep]}.freeze
    READING = "category Stalled: gvl_wait; Idle: sleep or lock by the method, otherwise io; else cpu (none are taken " \
              "during a collection); GC pauses on the timeline: gc"
    INTERVAL_US = 500
    IDLE = 1
    STALLED = 2

    def prepare = require("vernier")

    def around
      collector = Vernier::Collector.new(:wall, interval: INTERVAL_US)
      collector.start
      yield
      result = collector.stop
      thread = result.threads.fetch(Thread.current.object_id)
      samples(thread, result.stack_table).merge(gc: pauses_ns(thread))
    end

    private

    def samples(thread, stacks)
      sums = COVERS.keys.to_h { |part| [part, 0] }
      thread[:samples].zip(thread[:weights], thread[:sample_categories]) do |stack, weight, category|
        sums[part(stacks, stack, category)] += weight * INTERVAL_US * 1_000
      end
      sums
    end

    def part(stacks, stack, category)
      case category
      when STALLED then :gvl_wait
      when IDLE then Leaf.part(stacks.func_name(stacks.frame_func_idx(stacks.stack_frame_idx(stack))), otherwise: :io)
      else :cpu
      end
    end

    def pauses_ns(thread)
      thread[:markers].sum { |_, name, from_ns, to_ns| (name == "GC pause" && to_ns) ? to_ns - from_ns : 0 }
    end
  end

  # Samples by a timer of the process, with Ruby's stack beside that of C.
  class Pf2Tool < Tool
    # It knows nothing of the GVL: a thread that waits for it looks like the method it is in.
    COVERS = WITHOUT_GVL
    READING = "samples times the interval of 1 ms: gc by the collector's functions in the C stack, sleep, lock and io by the " \
              "method, everything else cpu"
    INTERVAL_MS = 1
    COLLECTOR = /\A(garbage_collect|gc_start|gc_continue|gc_sweep\w*|gc_marks\w*|gc_rest)\b/

    def prepare = require("pf2")

    def around(&)
      Pf2.start(interval_ms: INTERVAL_MS, time_mode: @mode.to_sym)
      accuracy_watched(&)
      profile = Pf2.stop
      sums = COVERS.fetch(@mode).keys.to_h { |part| [part, 0] }
      profile[:samples].each do |sample|
        names = names(profile, sample[:stack])
        sums[part(names, names(profile, sample[:native_stack]))] += INTERVAL_MS * 1_000_000 if names.include?(WATCHED)
      end
      sums
    end

    private

    WATCHED = "Object#accuracy_watched"
    private_constant :WATCHED

    def names(profile, stack)
      stack.map { |location| profile[:functions][profile[:locations][location][:function_index]][:name] }
    end

    def part(names, native_names)
      return :gc if native_names.any? { |name| COLLECTOR.match?(name) }
      (@mode == "cpu") ? :cpu : Leaf.part(names.first, otherwise: :cpu)
    end
  end

  # Samples of whatever thread has the GVL.
  class StackprofTool < Tool
    # It knows nothing of the GVL, nor which thread collected garbage.
    COVERS = WITHOUT_GVL
    READING = "samples times the interval of 1 ms, its default: its frame (garbage collection): gc, sleep, lock and io by the " \
              "method, everything else cpu"
    INTERVAL_US = 1_000
    WATCHED = "Object#accuracy_watched"
    COLLECTOR = "(garbage collection)"

    def prepare = require("stackprof")

    def around(&)
      profile = StackProf.run(mode: @mode.to_sym, interval: INTERVAL_US, raw: true) { accuracy_watched(&) }
      names = profile[:frames].transform_values { |frame| frame[:name] }
      sums = COVERS.fetch(@mode).keys.to_h { |part| [part, 0] }
      each_stack(profile[:raw] || []) do |stack, count|
        found = part(names.values_at(*stack))
        sums[found] += count * INTERVAL_US * 1_000 if found
      end
      sums
    end

    private

    # One after the other: how many frames, the frames from the root on, how often.
    def each_stack(raw)
      at = 0
      while at < raw.size
        size = raw[at]
        yield raw[at + 1, size], raw[at + 1 + size]
        at += size + 2
      end
    end

    # nil for a stack of another thread; the collector's have no caller
    def part(names)
      return :gc if names.include?(COLLECTOR)
      return unless names.include?(WATCHED)
      (@mode == "cpu") ? :cpu : Leaf.part(names.last, otherwise: :cpu)
    end
  end

  # Exact, for one thread at a time.
  class GvlTimingTool < Tool
    # Running is having the GVL, on a core or not, collecting garbage or not.
    COVERS = {cpu: %i[cpu preempted gc], gvl_wait: %i[gvl_wait], io: %i[io]}.freeze
    READING = "running: cpu; stalled: gvl_wait; idle: io, as gvl_metrics_middleware calls it"

    def prepare = require("gvl_timing")

    def around(&)
      timer = GVLTiming.measure(&)
      {cpu: timer.running_duration_ns, gvl_wait: timer.stalled_duration_ns, io: timer.idle_duration_ns}
    end
  end

  # Exact, for the one thing that it counts.
  class GvltoolsTool < Tool
    COVERS = {gvl_wait: %i[gvl_wait]}.freeze
    READING = "LocalTimer: gvl_wait"

    def prepare
      require "gvltools"
      GVLTools::LocalTimer.enable
    end

    def around
      before_ns = GVLTools::LocalTimer.monotonic_time
      yield
      {gvl_wait: GVLTools::LocalTimer.monotonic_time - before_ns}
    end
  end

  # What is compared, by name, in the tables' order. The tools' gems are loaded by a child alone.
  module Tools
    # constant: its adapter; mode: nil without several
    Entry = Data.define(:name, :gem_name, :constant, :mode) do
      # @return [Class]
      def adapter_class = Accuracy.const_get(constant)

      # @return [Tool]
      def adapter = adapter_class.new(mode)

      # @return [Hash{Symbol => Array<Symbol>}] its words => our parts
      def covers = adapter_class::COVERS.fetch(mode) { adapter_class::COVERS }

      # @return [String] how it is read
      def reading = adapter_class::READING

      # @return [String] of what is loaded: in the child
      def version = ours? ? PumaTuner::VERSION : Gem.loaded_specs.fetch(gem_name).version.to_s

      def ours? = name == OURS
    end

    OURS = "ours"

    ALL = [
      Entry.new(name: OURS, gem_name: "puma_tuner", constant: :PumaTunerTool, mode: nil),
      Entry.new(name: "rperf_wall", gem_name: "rperf", constant: :RperfTool, mode: "wall"),
      Entry.new(name: "rperf_cpu", gem_name: "rperf", constant: :RperfTool, mode: "cpu"),
      Entry.new(name: "vernier", gem_name: "vernier", constant: :VernierTool, mode: nil),
      Entry.new(name: "pf2_wall", gem_name: "pf2", constant: :Pf2Tool, mode: "wall"),
      Entry.new(name: "pf2_cpu", gem_name: "pf2", constant: :Pf2Tool, mode: "cpu"),
      Entry.new(name: "stackprof_wall", gem_name: "stackprof", constant: :StackprofTool, mode: "wall"),
      Entry.new(name: "stackprof_cpu", gem_name: "stackprof", constant: :StackprofTool, mode: "cpu"),
      Entry.new(name: "gvl_timing", gem_name: "gvl_timing", constant: :GvlTimingTool, mode: nil),
      Entry.new(name: "gvltools", gem_name: "gvltools", constant: :GvltoolsTool, mode: nil)
    ].freeze

    NAMES = ALL.map(&:name).freeze

    # @return [Entry]
    def self.entry(name) = ALL.find { |entry| entry.name == name } || raise(KeyError, "no tool #{name}")
  end
end
