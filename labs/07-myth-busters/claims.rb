# frozen_string_literal: true

require_relative "claims_of_servers"
require_relative "claims_of_changes"

module PumaTuner
  module Labs
    class MythBusters
      # Every published claim, and what was measured of it. Pure: of one Measured.
      class Claims
        TYPICAL = "a typical Rails API spends 65–70% of its time in IO"

        # @param measured [Measured]
        def initialize(measured)
          @measured = measured
        end

        # @return [Array<Lab::Claim>]
        def all
          servers, changes = ClaimsOfServers.new(@measured), ClaimsOfChanges.new(@measured)
          [*servers.all, *changes.all, Lab::Claim.of_ratio(TYPICAL, nil, published: "65–70%", note: "A matter of fleets of apps: one machine with made-up requests can say nothing of it.")]
        end
      end
    end
  end
end
