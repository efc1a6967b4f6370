# frozen_string_literal: true

module Validation
  # All that this benchmark knows of how to predict: from one recording of a subject, any cell of it.
  class Predictor
    SEED = 1

    class << self
      # @param journal [Journal]
      # @param subject [Subject]
      # @param topology [PumaTuner::Topology] of the recording
      # @return [Predictor, nil] nil when there is no recording
      def of(journal, subject, topology)
        observation = journal.document(Schedule.recording_name(subject, topology)) or return
        new(observation, machine: journal.document(machine_name(observation)), timeslice_ms: subject.timeslice_ms)
      end

      # @return [String] of a calibrated machine, in the journal
      def machine_name(observation) = "machine #{observation.server.ruby_version} #{observation.server.puma_version}"
    end

    # @param observation [PumaTuner::Measure::Observation] the recording
    # @param machine [PumaTuner::Model::Machine, nil] as calibrated; nil: typical figures
    # @param timeslice_ms [Integer]
    def initialize(observation, machine:, timeslice_ms:)
      @timeslice_ms = timeslice_ms
      @workload = PumaTuner::Model::Fit.workload(observation)
      @machine = PumaTuner::Model::Fit.machine(observation, calibrated: machine)
      @sweeper = PumaTuner::Predict::Sweeper.new(workload: @workload, machine: @machine, seed: SEED)
    end

    # @param topology [PumaTuner::Topology]
    # @param connections_count [Integer]
    # @return [PumaTuner::Predict::Forecast]
    def closed(topology, connections_count) = forecast(topology, PumaTuner::Model::Arrivals.closed(connections_count))

    # @param rate_per_s [Numeric]
    # @param connections_count [Integer] that may be open at most
    # @return [PumaTuner::Predict::Forecast]
    def open(topology, rate_per_s, connections_count) = forecast(topology, PumaTuner::Model::Arrivals.open(rate_per_s, connections_count:))

    # What a server is predicted to answer when it is never short of work: rates of open loads are shares of it.
    # @return [Float] requests per second
    def capacity_per_s(topology) = closed(topology, 4 * topology.slots_count).throughput_per_s.value

    private

    def forecast(topology, arrivals)
      @sweeper.forecast(PumaTuner::Predict::Scenario.of(topology, arrivals, timeslice_ms: @timeslice_ms))
    end
  end
end
