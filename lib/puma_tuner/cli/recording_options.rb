# frozen_string_literal: true

module PumaTuner
  module CLI
    # At which settings an app is recorded besides today's.
    module RecordingOptions
      def self.included(command)
        command.class_eval do
          option :settings, desc: "topologies to record briefly besides today's, such as 1x1,2x5, or none; default: one thread, and another number of workers"
          option :single_recording, type: :flag, default: false, desc: "record today's settings alone, as --settings none does"
        end
      end

      private

      # @return [Array<Topology>, nil] nil: those that tell most
      def settings_of(settings: nil, single_recording: false, **)
        raise UserMistake, "--settings names settings to record, and --single-recording leaves them out; give one of them" if single_recording && settings
        (single_recording || settings == "none") ? [] : settings && Parse.topologies(settings)
      end
    end
  end
end
