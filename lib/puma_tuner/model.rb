# frozen_string_literal: true

module PumaTuner
  # Observation -> Workload and Machine: what the app demands, with today's contention taken out.
  module Model
    autoload :Arrivals, "puma_tuner/model/arrivals"
    autoload :BackgroundDemand, "puma_tuner/model/workload"
    autoload :Calibrated, "puma_tuner/model/machine"
    autoload :Cost, "puma_tuner/model/cost"
    autoload :CostFit, "puma_tuner/model/cost_fit"
    autoload :Demand, "puma_tuner/model/workload"
    autoload :EndpointDemand, "puma_tuner/model/workload"
    autoload :LockDemand, "puma_tuner/model/workload"
    autoload :LatenessFit, "puma_tuner/model/lateness_fit"
    autoload :LockFit, "puma_tuner/model/lock_fit"
    autoload :Machine, "puma_tuner/model/machine"
    autoload :MachineFit, "puma_tuner/model/machine_fit"
    autoload :MemoryDemand, "puma_tuner/model/workload"
    autoload :Recorded, "puma_tuner/model/workload"
    autoload :SwitchCost, "puma_tuner/model/machine"
    autoload :DemandFit, "puma_tuner/model/demand_fit"
    autoload :Workload, "puma_tuner/model/workload"
    autoload :WorkloadFit, "puma_tuner/model/workload_fit"
  end
end
