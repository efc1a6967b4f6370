# frozen_string_literal: true

module PumaTuner
  module Labs
    class MythBusters
      # How much a request computes and how long its query sleeps.
      #
      # units: of work, see tarai.rb; level_units: as many as take a server in Go as long (/level)
      # sleep_s: of the query
      # talk_units: of the request that the talk must have run (/talk), see talk.rb
      Amounts = Data.define(:units, :level_units, :sleep_s, :talk_units) do
        def initialize(talk_units: 0, **fields) = super

        # @param ruby_ns, go_ns [Float] of CPU for a unit, see pace.rb
        # @param io_ratio [Float] 0..1, share of the query in an undisturbed request
        # @param sleep_s [Float]
        def self.of_sleep(sleep_s, io_ratio:, ruby_ns:, go_ns:)
          cpu_ns = sleep_s * Units::NS_PER_S * (1 - io_ratio) / io_ratio
          new(units: (cpu_ns / ruby_ns).round, level_units: (cpu_ns / go_ns).round, sleep_s:)
        end

        # @param whole_s [Float] an undisturbed request, both together
        def self.of_whole(whole_s, io_ratio:, **pace) = of_sleep((whole_s * io_ratio).round(6), io_ratio:, **pace)

        # @return [Hash{String => String}] for a server
        def environment = {"MYTH_UNITS" => units.to_s, "MYTH_LEVEL_UNITS" => level_units.to_s, "MYTH_TALK_UNITS" => talk_units.to_s, "MYTH_SLEEP_S" => format("%.6f", sleep_s)}
      end
    end
  end
end
