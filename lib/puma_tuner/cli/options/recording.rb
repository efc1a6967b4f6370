# frozen_string_literal: true

module PumaTuner
  module CLI
    module Options
      Recording = Options.group(:settings, :single_recording)

      # The options that say at which settings an app is recorded besides today's.
      class Recording
        # @return [Array<Topology>, nil] nil: those that tell most
        def topologies
          if single_recording && settings
            raise UsageError, "--settings names settings to record, " \
              "and --single-recording leaves them out; give one of them"
          end
          (single_recording || settings == "none") ? [] : settings && Parse.topologies(settings)
        end
      end
    end
  end
end
