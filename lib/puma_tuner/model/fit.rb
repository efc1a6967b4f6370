# frozen_string_literal: true

module PumaTuner
  module Model
    # The way in: what an observation tells about the app, and about what it runs on.
    module Fit
      # @param observation [Probe::Observation]
      # @return [Workload]
      # @raise [VoidMeasurement] when too few requests were recorded
      def self.workload(observation) = WorkloadFit.new(observation).workload.with(puma_features: observation.server.puma_features)

      # @param observation [Probe::Observation]
      # @param calibrated [Machine, nil] of `puma_tuner calibrate`; nil: typical figures stand in
      # @return [Machine]
      def self.machine(observation, calibrated: nil) = MachineFit.new(observation, calibrated:).machine
    end
  end
end
