# frozen_string_literal: true

module PumaTuner
  module Model
    # A recorded request as it would have gone alone: contention taken out, work and waits kept in their order.
    #
    # GVL wait disappears. Where it stands between two spells of CPU, a time slice had ended in the middle of a burst,
    # and the two become one again. Waits stay as long as they were, but for the time in which a thread
    # that could go on had no core: a socket is taken to answer as fast under any topology.
    class Undisturbed
      WAITS = %w[io lock pool sleep compute].freeze

      # @param trace [Measure::Trace]
      # @param late_ns [Numeric] how much longer each wait took because its thread then had to wait for a core, on average
      # @return [Demand]
      def self.demand(trace, late_ns: 0) = new(trace, late_ns).demand

      # Shorter waits for the GVL are the way through the scheduler, with nobody in it (see BLAME_WAIT_NS in gvl_clock.c).
      SWITCH_WAIT_NS = 2_000

      # @param trace [Measure::Trace]
      # @return [Integer] how often it went on after another thread had had the GVL
      def self.switches_count(trace) = trace.steps.each_slice(2).count { |kind, ns| kind == "gvl_wait" && ns >= SWITCH_WAIT_NS }

      def initialize(trace, late_ns)
        @trace = trace
        @late_ns = late_ns.round
        @held_ns = [0]
        @waits_ns = []
        @wait_kinds = []
      end

      def demand
        @trace.steps.each_slice(2) { |kind, ns| add(kind, [ns, 0].max) }
        bursts_ns = on_core
        Demand.new(bursts_ns:, waits_ns: @waits_ns.freeze, wait_kinds: @wait_kinds.freeze,
          gc_ns: @trace.gc_ns&.clamp(0, bursts_ns.sum))
      end

      private

      def computed_ns = @waits_ns.zip(@wait_kinds).sum { |ns, kind| (kind == "compute") ? ns : 0 }

      # Two waits in a row get a burst of nothing between them: the thread had come back for the GVL in between.
      def add(kind, ns)
        case kind
        when "cpu" then @held_ns[-1] += ns
        when "gvl_wait" then nil
        when *WAITS
          @waits_ns << ((kind == "compute") ? ns : [ns - @late_ns, 0].max)
          @wait_kinds << kind
          @held_ns << 0
        else raise InvariantError, "a trace holds a step of the unknown kind #{kind.inspect}"
        end
      end

      # Time with the GVL, less the share in which the operating system ran somebody else. Which burst lost how much is
      # not recorded, so all shrink alike; rounding the running total keeps their sum exact. What native code computed without
      # the GVL is none of it, and CPU time beyond all that lies in the waits already.
      def on_core
        total_ns = @held_ns.sum
        cpu_ns = @trace.cpu_ns && @trace.cpu_ns - computed_ns
        return @held_ns.freeze if cpu_ns.nil? || cpu_ns >= total_ns
        held_ns = given_ns = 0
        @held_ns.map do |ns|
          held_ns += ns
          before_ns = given_ns
          given_ns = held_ns * [cpu_ns, 0].max / total_ns
          given_ns - before_ns
        end.freeze
      end
    end
  end
end
