# frozen_string_literal: true

require_relative "../welch"

module FalseAlarms
  module Methods
    # All trials of one, then all of the other, as most people do by hand.
    module BlockWelch
      TITLE = "blocks AAAA…BBBB, Welch on trials"

      def self.interval(log_speeds, _random, effect:)
        layout = Layout.blocks(log_speeds, effect:)
        Welch.of(layout.baseline, layout.variant)
      end
    end
  end
end
