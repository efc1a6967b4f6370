# frozen_string_literal: true

module PumaTuner
  module CLI
    module Options
      Recording = Options.group(:settings)

      # The options that say at which settings an app is recorded besides today's.
      class Recording
        # @return [Array<Topology>, nil] nil: those that tell most
        def topologies
          (settings == "none") ? [] : settings && Parse.topologies(settings)
        end
      end
    end
  end
end
