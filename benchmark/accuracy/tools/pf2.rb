# frozen_string_literal: true

module Accuracy
  # Samples by a timer of the process, with Ruby's stack beside that of C.
  class Pf2Tool < Tool
    # It knows nothing of the GVL: a thread that waits for it looks like the method it is in.
    COVERS = {
      "wall" => {cpu: %i[cpu preempted], gc: %i[gc], io: %i[io], lock: %i[lock], sleep: %i[sleep]}.freeze,
      "cpu" => {cpu: %i[cpu], gc: %i[gc]}.freeze
    }.freeze
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
end
