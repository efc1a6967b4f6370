# frozen_string_literal: true

module PumaTuner
  # Workload x Machine x Topology -> Forecast. Pure: no clock, and all chance from a seeded Random.
  module Predict
    autoload :ClosedForm, "puma_tuner/predict/closed_form"
    autoload :ClosedForms, "puma_tuner/predict/forecast"
    autoload :Cores, "puma_tuner/predict/cores"
    autoload :EventQueue, "puma_tuner/predict/event_queue"
    autoload :Forecast, "puma_tuner/predict/forecast"
    autoload :Gvl, "puma_tuner/predict/gvl"
    autoload :Simulation, "puma_tuner/predict/simulation"
    autoload :Sweep, "puma_tuner/predict/forecast"
    autoload :Sweeper, "puma_tuner/predict/sweeper"
    autoload :Worker, "puma_tuner/predict/worker"
  end
end
