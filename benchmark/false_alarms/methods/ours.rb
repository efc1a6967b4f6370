# frozen_string_literal: true

module FalseAlarms
  module Methods
    # What puma_tuner does.
    module Ours
      TITLE = "**pairs, Hodges-Lehmann and exact signed-rank (ours)**"

      def self.interval(log_speeds, random, effect:) = Interval.ours(Layout.pairs(log_speeds, random, effect:))
    end
  end
end
