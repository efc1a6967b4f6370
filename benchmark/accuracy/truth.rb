# frozen_string_literal: true

module Accuracy
  # Where the time of a workload truly went, and how far the truth itself may be off. Pure.
  #
  # parts: ours => ns, they sum to wall_ns; doubts: part => ns, absent where the truth is exact
  Truth = Data.define(:wall_ns, :parts, :doubts) do
    const_set(:PARTS, %i[cpu preempted gvl_wait gc io lock sleep].freeze)

    # @param watch [Stopwatch] closed
    # @param off_core [Symbol] what it was when the thread was neither on a core nor in a wait of its own: :preempted, where
    #   nobody else wanted the GVL; :contended, where others did: what of it the kernel counts as waiting for a core was
    #   preempted, the rest was waiting for the GVL
    # @param doubts [Hash{Symbol => Integer}]
    def self.from(watch, off_core:, doubts:)
      off_ns = watch.wall_ns - watch.cpu_clock_ns - watch.waits.values.sum
      waits, off_ns = shortened(watch.waits, -off_ns), 0 if off_ns.negative?
      preempted_ns = (off_core == :contended) ? watch.run_queue_ns.clamp(0, off_ns) : off_ns
      known = {cpu: watch.cpu_clock_ns - watch.gc_ns, gc: watch.gc_ns, preempted: preempted_ns, gvl_wait: off_ns - preempted_ns}
      new(wall_ns: watch.wall_ns, parts: self::PARTS.to_h { |part| [part, 0] }.merge(known, waits || watch.waits), doubts:)
    end

    # Falling asleep takes CPU, which a wait that is timed by another thread's stamp counts once more.
    def self.shortened(waits, ns)
      longest = waits.key(waits.values.max)
      longest ? waits.merge(longest => waits[longest] - ns) : waits
    end
    private_class_method :shortened
  end
end
