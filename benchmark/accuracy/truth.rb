# frozen_string_literal: true

require "json"

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

  # What one tool said of one run of a workload, beside the truth. Errors are in per cent of the workload's wall time. Pure.
  #
  # wall_ns, truth, doubts: see Truth; reported: part => ns; covers: part => our parts; extras: of ours, see Tool#extras
  Sample = Data.define(:wall_ns, :truth, :doubts, :reported, :covers, :extras, :version) do
    # @param text [String] JSON of a child
    # @param covers [Hash{Symbol => Array<Symbol>}]
    def self.parse(text, covers:)
      said = JSON.parse(text, symbolize_names: true)
      wall_ns, truth, doubts = said.fetch(:truth).values_at(:wall_ns, :parts, :doubts)
      new(wall_ns:, truth:, doubts:, covers:, **said.slice(:reported, :extras, :version))
    end

    # @return [Float, nil] signed; nil when the tool doesn't tell
    def error_percent(part)
      percent(reported[part] - truth.values_at(*covers.fetch(part)).sum) if reported[part]
    end

    # @return [Float] how far the truth may be off
    def doubt_percent(part) = percent(doubts.values_at(*covers.fetch(part)).compact.sum)

    # @return [Float, nil] of all that the tool told, against the wall time that the workload took of itself
    def wall_error_percent = (percent(extras[:wall_ns] - wall_ns) if extras[:wall_ns])

    # @return [Float] how much of what the tool watched lies before and after the workload's own clock
    def wall_doubt_percent = extras[:around_ns] ? percent(extras[:around_ns] - wall_ns) : 0.0

    # @return [Float, nil] of all that it told to be CPU, against the CPU clock that the workload read itself: right on a machine
    #   with other work, too
    def cpu_clock_error_percent
      parts = %i[cpu gc]
      percent(reported.values_at(*parts).sum - truth.values_at(*parts).sum) if reported.values_at(*parts).all?
    end

    private

    def percent(ns) = ns * 100.0 / wall_ns
  end
end
