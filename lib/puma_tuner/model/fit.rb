# frozen_string_literal: true

module PumaTuner
  module Model
    # The way in: what an observation tells about the app, and about what it runs on.
    module Fit
      # @param observation [Measure::Observation]
      # @return [Workload]
      # @raise [VoidMeasurement] when too few requests were recorded
      def self.workload(observation) = WorkloadFit.new(observation).workload

      # @param observation [Measure::Observation]
      # @return [Machine]
      def self.machine(observation) = MachineFit.new(observation).machine
    end
  end
end
