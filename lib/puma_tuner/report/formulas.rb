# frozen_string_literal: true

module PumaTuner
  module Report
    # What formulas say of a forecast's scenario, with how far each is from the simulation.
    module Formulas
      # field: of the closed forms; beside: of the forecast, what it is held against
      Formula = Data.define(:field, :beside, :word, :meaning) do
        # @param forecast [Predict::Forecast]
        # @return [Float, nil]
        def number(forecast) = forecast.closed_forms&.public_send(field)

        # @param forecast [Predict::Forecast]
        # @return [String] "256 +3.6%": the number, and by how much it is off from the simulated one
        def words(forecast)
          number = number(forecast) or return "-"
          simulated = forecast.public_send(beside)&.value
          text = (beside == :mean_ns) ? Units.milliseconds(number) : Units.rate(number)
          [text, *(Figures.error(number.fdiv(simulated) - 1) if simulated&.positive?)].join(" ")
        end
      end

      ALL = [
        Formula.new(:bound_per_s, :throughput_per_s, "bound",
          "the lowest of what threads, GVL, cores and clients allow"),
        Formula.new(:amdahl_per_s, :throughput_per_s, "Amdahl", "the share of CPU as the serial part"),
        Formula.new(:mva_per_s, :throughput_per_s, "MVA", "exact mean value analysis of one worker, times workers"),
        Formula.new(:flow_equivalent_per_s, :throughput_per_s, "flow",
          "MVA with admission limited by threads (a flow-equivalent server)"),
        Formula.new(:cpu_share_per_s, :throughput_per_s, "100/CPU",
          "no more threads counted in a worker than 100 over the CPU percentage"),
        Formula.new(:flow_equivalent_mean_ns, :mean_ns, "flow ms", "the mean latency by the flow-equivalent server")
      ].freeze
    end
  end
end
