# frozen_string_literal: true

module PumaTuner
  # Workload x Machine x Scenario -> Forecast. Pure: no clock, and all chance from a seed.
  #
  # sweeper: many scenarios; self_check: how those come out that were recorded; plan: one simulation as plain numbers;
  #   engine: runs it, by the core in C (ext/puma_tuner_sim); outcome: what it showed.
  module Predict
    autoload :Capacity, "puma_tuner/predict/capacity"
    autoload :CapacitySearch, "puma_tuner/predict/capacity_search"
    autoload :Check, "puma_tuner/predict/check"
    autoload :CheckedFigure, "puma_tuner/predict/self_check"
    autoload :CheckedSetting, "puma_tuner/predict/self_check"
    autoload :ClosedForm, "puma_tuner/predict/closed_form"
    autoload :ClosedForms, "puma_tuner/predict/forecast"
    autoload :Deadlock, "puma_tuner/predict/outcome"
    autoload :Forecast, "puma_tuner/predict/forecast"
    autoload :EndpointLatency, "puma_tuner/predict/forecast"
    autoload :Engine, "puma_tuner/predict/engine"
    autoload :EnoughRequests, "puma_tuner/predict/enough_requests"
    autoload :LikelyCause, "puma_tuner/predict/likely_cause"
    autoload :Limits, "puma_tuner/predict/limits"
    autoload :LockWait, "puma_tuner/predict/forecast"
    autoload :Miss, "puma_tuner/predict/miss"
    autoload :Outcome, "puma_tuner/predict/outcome"
    autoload :Plan, "puma_tuner/predict/plan"
    autoload :Queueing, "puma_tuner/predict/queueing"
    autoload :RecordedRequests, "puma_tuner/predict/recorded_requests"
    autoload :Rules, "puma_tuner/predict/rules"
    autoload :Scenario, "puma_tuner/predict/scenario"
    autoload :SelfCheck, "puma_tuner/predict/self_check"
    autoload :SelfChecker, "puma_tuner/predict/self_checker"
    autoload :Station, "puma_tuner/predict/station"
    autoload :Sweep, "puma_tuner/predict/sweep"
    autoload :Sweeper, "puma_tuner/predict/sweeper"
    autoload :TrackRecord, "puma_tuner/predict/track_record"
    autoload :Uncertainty, "puma_tuner/predict/uncertainty"
    autoload :WhatIf, "puma_tuner/predict/what_if"
  end
end
