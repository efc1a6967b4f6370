# frozen_string_literal: true

module PumaTuner
  # Observation -> Workload and Machine: what the app demands, with today's contention taken out.
  module Model
    PumaTuner.autoload_folder(self, "#{__dir__}/model", machine: %i[Calibrated Machine SwitchCost],
      workload: %i[BackgroundDemand Cost Demand EndpointDemand LockDemand MemoryDemand Recorded Workload])
  end
end
