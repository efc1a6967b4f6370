# frozen_string_literal: true

module Accuracy
  # Samples of whatever thread has the GVL.
  class StackprofTool < Tool
    # It knows nothing of the GVL, nor which thread collected garbage.
    COVERS = {
      "wall" => {cpu: %i[cpu preempted], gc: %i[gc], io: %i[io], lock: %i[lock], sleep: %i[sleep]}.freeze,
      "cpu" => {cpu: %i[cpu], gc: %i[gc]}.freeze
    }.freeze
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
end
