# frozen_string_literal: true

module PumaTuner
  # Workload x Machine x Scenario -> Forecast. Pure: no clock, and all chance from a seed.
  #
  # sweeper: many scenarios; self_check: how those come out that were recorded; plan: one simulation as plain numbers;
  #   engine: runs it, by the core in C (ext/puma_tuner_sim); outcome: what it showed.
  module Predict
    PumaTuner.autoload_folder(self, "#{__dir__}/predict", outcome: %i[Deadlock Outcome],
      forecast: %i[ClosedForms EndpointLatency Forecast LockWait Miss],
      self_check: %i[CheckedFigure CheckedSetting SelfCheck])
  end
end
