# frozen_string_literal: true

module PumaTuner
  module Model
    # What the observation tells about the machine, and constants of Ruby where it tells nothing.
    class MachineFit
      # Ruby source: the timer that counts slices polls every 10 ms, in 3.3, 3.4 and 4.0.
      TICK_NS = 10_000_000
      TICK_MS = TICK_NS / Units::NS_PER_MS

      # Ruby source: a slice, unless RUBY_THREAD_TIMESLICE says otherwise (read by Ruby 3.4 and newer).
      DEFAULT_TIMESLICE_MS = 100

      # From one thread's release of the GVL to the next one's first instruction. Measured with two threads passing it to
      # each other: 8 to 13 µs on Ruby 3.3 and 3.4, 4 to 9 µs on 4.0.
      HANDOFF_NS = 8_000

      # Assumed, not measured: to write one request and read one answer, for a load generator on the same cores.
      # A calibration on the machine itself is to replace it.
      CLIENT_CPU_NS = 20_000

      def initialize(observation)
        @observation = observation
      end

      def machine
        Machine.new(cores_count:, tick_ns: TICK_NS, quantum_ns:, handoff_ns: HANDOFF_NS, client_cpu_ns:)
      end

      private

      def cores_count
        facts = @observation.machine
        [facts.cpu_quota_cores, facts.cores_count].compact.min.to_f
      end

      # Whole ticks only: with RUBY_THREAD_TIMESLICE=15 a slice was measured to last 20 ms, with 1 it lasted 10.
      def quantum_ns
        slice_ms = @observation.server.thread_timeslice_ms || DEFAULT_TIMESLICE_MS
        [slice_ms.fdiv(TICK_MS).ceil, 1].max * TICK_NS
      end

      # Load of our own came from this machine; the user's traffic is taken to come from elsewhere.
      def client_cpu_ns = @observation.load ? CLIENT_CPU_NS : 0
    end
  end
end
