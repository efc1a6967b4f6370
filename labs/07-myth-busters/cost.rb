# frozen_string_literal: true

module PumaTuner
  module Labs
    class MythBusters
      # What a million requests cost, whatever a core or a GiB is sold for. Pure.
      #
      # cpu_s: core-seconds; gib_hours: of memory, held for as long as the million takes at the throughput that was measured
      Cost = Data.define(:cpu_s, :gib_hours) do
        const_set(:REQUESTS_COUNT, 1_000_000)
        const_set(:SECONDS_PER_HOUR, 3_600)

        # @param cpu_ns [Numeric, nil] for a request
        # @param memory_bytes [Numeric, nil] of all the server's processes
        # @param throughput_per_s [Numeric]
        # @return [Cost] parts that are unknown are nil
        def self.of(cpu_ns:, memory_bytes:, throughput_per_s:)
          hours = self::REQUESTS_COUNT / throughput_per_s / self::SECONDS_PER_HOUR
          new(cpu_s: cpu_ns && cpu_ns * self::REQUESTS_COUNT / Units::NS_PER_S, gib_hours: memory_bytes && memory_bytes.fdiv(1024 * Units::MIB) * hours)
        end
      end
    end
  end
end
