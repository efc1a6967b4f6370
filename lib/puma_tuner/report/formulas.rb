# frozen_string_literal: true

module PumaTuner
  module Report
    # What formulas say of a forecast's scenario, with how far each is from the simulation.
    module Formulas
      # field: of the closed forms; beside: of the forecast, what it is held against
      Formula = Data.define(:field, :beside, :word, :meaning)

      # number: of the formula; error_ratio: over the simulated number, less one
      Told = Data.define(:formula, :number, :error_ratio) do
        # @return [String] "256", "81.0"
        def text = (formula.beside == :mean_ns) ? Units.milliseconds(number) : Units.rate(number)

        # @return [String] "256 +3.6%"
        def words = number ? [text, (Figures.error(error_ratio) if error_ratio)].compact.join(" ") : "-"
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

      module_function

      # @param forecast [Predict::Forecast]
      # @return [Array<Told>] one for each formula
      def of(forecast)
        ALL.map do |formula|
          number = forecast.closed_forms&.public_send(formula.field)
          simulated = forecast.public_send(formula.beside)&.value
          Told.new(formula:, number:, error_ratio: (number.fdiv(simulated) - 1 if number && simulated&.positive?))
        end
      end
    end
  end
end
