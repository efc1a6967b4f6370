# frozen_string_literal: true

module PumaTuner
  module Stats
    # How many of the requests that were counted met a goal.
    #
    # share: Estimate, 0..1, with Wilson's interval
    Attainment = Document.define(:goal, :share, nested: {goal: Goal, share: Estimate}) do
      # @param goal [Goal]
      # @param met_count [Numeric] requests that took less than its limit
      # @param count [Numeric] all requests, more than 0
      # @return [Attainment]
      def self.of(goal, met_count, count) = new(goal:, share: Wilson.interval(met_count, count))

      # @return [Boolean] whether as many met it as were to
      def met? = share.value >= goal.ratio
    end
  end
end
