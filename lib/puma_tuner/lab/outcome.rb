# frozen_string_literal: true

module PumaTuner
  module Lab
    # What may be said of a claim: decided by the numbers alone, so that nobody writes what he hoped for.
    module Outcome
      REPRODUCED = "reproduced"
      LESS = "same direction, less"
      MORE = "same direction, more"
      CONTRADICTED = "contradicted"
      NOT_SHOWN = "not shown"
      SHOWN = "shown"
      NOT_MEASURED = "not measured"
      EXACT = "exact"
      DIFFERS = "differs"

      module_function

      # An interval that covers 1 shows nothing, though a published ratio near 1 may lie inside of it, too. Of a published 1
      # (no difference) it is the other way round: that is inside, or contradicted.
      #
      # @param published_ratio [Numeric, nil] nil: a finding of our own, which nobody claimed before
      # @param measured [Stats::Estimate, nil] of the same ratio
      # @return [String]
      def of_ratio(published_ratio, measured)
        return NOT_MEASURED unless measured
        return NOT_SHOWN unless measured.level_ratio # so few rounds have no interval that could be relied on
        return measured.covers?(1) ? REPRODUCED : CONTRADICTED if published_ratio == 1
        return NOT_SHOWN if measured.covers?(1)
        published_ratio ? of_directions(published_ratio, measured) : SHOWN
      end

      # @param expected [Integer]
      # @param counted [Integer, nil]
      # @return [String]
      def of_count(expected, counted)
        return NOT_MEASURED unless counted
        (expected == counted) ? EXACT : DIFFERS
      end

      # The interval is clear of 1.
      def of_directions(published_ratio, measured)
        return REPRODUCED if measured.covers?(published_ratio)
        return CONTRADICTED if (published_ratio > 1) != (measured.low > 1)
        (Math.log(measured.value).abs < Math.log(published_ratio).abs) ? LESS : MORE
      end
    end
  end
end
