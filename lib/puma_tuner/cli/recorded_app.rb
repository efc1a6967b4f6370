# frozen_string_literal: true

module PumaTuner
  module CLI
    # An app as a recording tells it, with the changes that are assumed: what forecasts are made of.
    #
    # observation: with its companions; workload, machine: changed; as_recorded: both of them before; facts:
    #   Probe::MachineFacts, of where it was recorded; past_error: of its earlier
    #   forecasts, nil without any; remarks: to be told of its forecasts; limits: of them
    RecordedApp = Data.define(:observation, :workload, :machine, :as_recorded, :facts, :what_if, :past_error, :remarks,
      :limits)

    class RecordedApp
      # @return [Range] of numbers of workers to predict where none are asked for
      def usual_workers = Options::Grid.workers(machine.cores_count, machine.quota_cores)

      # @return [String] by which what is kept of it is found, see Predict::TrackRecord
      def key = RecordedApp.key(observation, as_recorded.first)

      # @param workload [Model::Workload] as it was recorded
      def self.key(observation, workload)
        Predict::TrackRecord.app_key(observation, workload.endpoints.map(&:name))
      end

      class << self
        # @param path [String] of an observation, or of a tuning, which has one
        # @yieldparam observation [Probe::Observation]
        # @return [Object] what the block returns
        def recording(path)
          Document.reading(path, :observation, :tuning) { |one| yield(one.is_a?(Tuning) ? one.observation : one) }
        end

        # @param paths [Array<String>] of an observation, and of others of the same app at other settings; see recording
        # @param what_if [Predict::WhatIf]
        # @param say [#call] told what is wrong with the user's own files beside it
        # @return [RecordedApp]
        # @raise [InvalidMeasurement] when no model can be made of it
        def read(paths, what_if:, say:)
          others = paths.drop(1).map { |path| recording(path, &:itself) }
          recording(paths.first) do |observation|
            of(others.any? ? Measure::Companions.join(observation, others) : observation, what_if, say)
          end
        end

        private

        def of(observation, what_if, say)
          found = Calibrate::Lookup.new.call(observation)
          recorded = Model::WorkloadFit.workload(observation)
          as_recorded = [recorded, Model::MachineFit.machine(observation, calibrated: found&.machine)].freeze
          workload, machine = what_if.apply(*as_recorded)
          new(observation:, workload:, machine:, as_recorded:, facts: observation.machine, what_if:,
            past_error: past_error(observation, recorded, say),
            remarks: [found&.remark, *what_if.remarks].compact.freeze, limits: Predict::Limits.of(workload, machine))
        end

        def past_error(observation, workload, say)
          Predict::TrackRecord.new(say:).past_error(key(observation, workload))
        end
      end
    end
  end
end
