# frozen_string_literal: true

module PumaTuner
  module Model
    # Takes the service demand out of a recorded request: what it would have taken alone, with its work and its waits in
    # their order, and without contention.
    #
    # GVL wait disappears. Where it stands between two spells of CPU, a time slice had ended in the middle of a burst,
    # and the two become one again. So do waits for a lock that was watched: the simulation has them anew. Other waits
    # stay as long as they were, but for the time in which a thread that could go on had no core: a socket is taken to
    # answer as fast under any topology.
    class DemandFit
      # A thread that tries to get a lock is in line for it at once; what it
      # computes between is less than this. A judgement.
      TRYING_NS = 100_000

      # @param trace [Probe::Trace]
      # @param locks [Hash{Integer => Integer}] places in Workload#locks, by the
      #   id that the trace's markers have; other markers are dropped
      # @param lateness [LatenessFit::Lateness] how much longer waits took because their thread then had to wait for a
      #   core
      # @return [Demand]
      def self.demand(trace, lateness: LatenessFit::NONE, locks: {}) = new(trace, lateness, locks).demand

      # Shorter waits for the GVL are the way through the scheduler, with nobody
      # in it (see BLAME_WAIT_NS in gvl_clock.c).
      SWITCH_WAIT_NS = 2_000

      # Native code that computes without the GVL has its core all the time.
      LATE_KINDS = (Probe::Parts::WAITS - %w[compute]).freeze

      # @param trace [Probe::Trace]
      # @return [Integer] how often it let go of the GVL for a wait
      def self.releases_count(trace) = trace.steps.each_slice(2).count { |kind, _| Probe::Parts::WAITS.include?(kind) }

      # @param trace [Probe::Trace]
      # @return [Array<Array(String, Integer)>] of each wait after which it needed a core again, the kind and how long
      def self.waits(trace)
        trace.steps.each_slice(2).filter_map { |kind, ns| [kind, [ns, 0].max] if LATE_KINDS.include?(kind) }
      end

      # @param trace [Probe::Trace]
      # @return [Integer] how often it went on after another thread had had the GVL
      def self.switches_count(trace)
        trace.steps.each_slice(2).count { |kind, ns| kind == "gvl_wait" && ns >= SWITCH_WAIT_NS }
      end

      # A core that nobody uses for this long goes to sleep (HALT_NS in ext/puma_tuner_sim/cores.c).
      COLD_AFTER_NS = 200_000

      # @param trace [Probe::Trace]
      # @return [Integer] how often it went on after so long a wait, and nobody had the GVL then
      def self.colds_count(trace)
        trace.steps.each_slice(2).each_cons(2).count do |(kind, ns), (next_kind, next_ns)|
          LATE_KINDS.include?(kind) && ns >= COLD_AFTER_NS && !(next_kind == "gvl_wait" && next_ns >= SWITCH_WAIT_NS)
        end
      end

      def initialize(trace, lateness, locks)
        @trace = trace
        @locks = locks
        @lateness = lateness
        @held_ns = [0]
        @waits_ns = []
        @wait_kinds = []
      end

      def demand
        @trace.steps.each_slice(2) { |kind, ns| add(kind, [ns, 0].max) }
        take_preemption_off_native_code
        bursts_ns = on_core
        Demand.new(bursts_ns:, waits_ns: @waits_ns.freeze, wait_kinds: @wait_kinds.freeze,
          gc_ns: @trace.gc_ns&.clamp(0, bursts_ns.sum))
      end

      private

      def computed_ns = @waits_ns.zip(@wait_kinds).sum { |ns, kind| (kind == "compute") ? ns : 0 }

      # Two waits in a row get a burst of nothing between them: the thread had come back for the GVL in between.
      def add(kind, ns)
        case kind
        when "held" then compute(ns)
        when "gvl_wait" then nil
        when *Probe::Parts::MARKERS.keys then mark(kind, ns)
        when *Demand::LOCK_KINDS then wait(kind, ns) unless @trying
        when *Probe::Parts::WAITS
          wait(kind, ns)
        else raise InvalidMeasurement, "a trace holds a step of the unknown kind #{kind.inspect.slice(0, 40)}: " \
          "another version has recorded it, or somebody has changed it. Record again with this one."
        end
      end

      def compute(ns)
        @held_ns[-1] += ns
        @trying &&= (@trying_ns += ns) < TRYING_NS
      end

      def mark(kind, id)
        place = @locks[id] or return
        push(kind, place)
        @trying = kind == "acquire"
        @trying_ns = 0
      end

      def wait(kind, ns)
        push(kind, LATE_KINDS.include?(kind) ? @lateness.own_ns(kind, ns).round : ns)
        @trying = false
      end

      def push(kind, number)
        @waits_ns << number
        @wait_kinds << kind
        @held_ns << 0
      end

      # Others ran meanwhile here, too: what native code and Ruby took together was more than the CPU time.
      def take_preemption_off_native_code
        wall_ns = @held_ns.sum + computed_ns
        return unless computed_ns.positive? && @trace.on_core_ns && @trace.on_core_ns < wall_ns
        ratio = @trace.on_core_ns.fdiv(wall_ns)
        @waits_ns = @waits_ns.zip(@wait_kinds).map { |ns, kind| (kind == "compute") ? (ns * ratio).round : ns }
      end

      # Time with the GVL, less the share in which the operating system ran somebody else. Which burst lost how much is
      # not recorded, so all shrink alike; rounding the running total keeps their sum exact. What native code computed
      # without the GVL is none of it, and CPU time beyond all that lies in the waits already.
      def on_core
        total_ns = @held_ns.sum
        on_core_ns = @trace.on_core_ns && @trace.on_core_ns - computed_ns
        return @held_ns.freeze if on_core_ns.nil? || on_core_ns >= total_ns
        held_ns = given_ns = 0
        @held_ns.map do |ns|
          held_ns += ns
          before_ns = given_ns
          given_ns = held_ns * [on_core_ns, 0].max / total_ns
          given_ns - before_ns
        end.freeze
      end
    end
  end
end
