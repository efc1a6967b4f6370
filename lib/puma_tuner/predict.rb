# frozen_string_literal: true

module PumaTuner
  # Workload x Machine x Topology -> Forecast. Pure: no clock, and all chance from a seeded Random.
  #
  # A simulation is made of: clients (who send), workers (each with a todo list, pool threads and a GVL), and the timeline
  # they share (what happens next: an event, or the end of a burst on the cores).
  module Predict
    autoload :Clients, "puma_tuner/predict/clients"
    autoload :ClosedForm, "puma_tuner/predict/closed_form"
    autoload :ClosedForms, "puma_tuner/predict/forecast"
    autoload :Cores, "puma_tuner/predict/cores"
    autoload :EventQueue, "puma_tuner/predict/event_queue"
    autoload :Forecast, "puma_tuner/predict/forecast"
    autoload :Gvl, "puma_tuner/predict/gvl"
    autoload :Outcome, "puma_tuner/predict/outcome"
    autoload :PoolThread, "puma_tuner/predict/pool_thread"
    autoload :Request, "puma_tuner/predict/request"
    autoload :RequestMix, "puma_tuner/predict/request_mix"
    autoload :Simulation, "puma_tuner/predict/simulation"
    autoload :Sweep, "puma_tuner/predict/forecast"
    autoload :Sweeper, "puma_tuner/predict/sweeper"
    autoload :Tally, "puma_tuner/predict/tally"
    autoload :Timeline, "puma_tuner/predict/timeline"
    autoload :Worker, "puma_tuner/predict/worker"
  end
end
