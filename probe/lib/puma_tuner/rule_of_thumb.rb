# frozen_string_literal: true

module PumaTuner
  # The thread count that most guides give: enough threads for the GVL to be busy if requests took turns perfectly.
  # It needs one number and no simulation, so that a serving process can print it; what it leaves out (queueing for the
  # GVL, the cores, the clients) is the reason for the simulation.
  module RuleOfThumb
    # @param cpu_ratio [Float, nil] share of CPU in an undisturbed request, 0..1
    # @return [Integer, nil] 100 over the CPU percentage, at least 1; nil when the share is unknown or zero
    def self.threads_count(cpu_ratio)
      return unless cpu_ratio&.positive?
      [(1 / cpu_ratio).round, 1].max
    end
  end
end
