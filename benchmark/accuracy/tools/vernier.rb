# frozen_string_literal: true

module Accuracy
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
end
