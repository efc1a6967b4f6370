# frozen_string_literal: true

module PumaTuner
  module Lab
    # What may be said of a claim: decided by the numbers alone, so that nobody writes what he hoped for. The words for
    # it are FindingReport::ClaimRows'.
    module Outcome
      REPRODUCED = :reproduced
      COMPATIBLE = :compatible
      CONTRADICTED = :contradicted
      NOT_SHOWN = :not_shown
      SHOWN = :shown
      NOT_MEASURED = :not_measured
      EXACT = :exact
      DIFFERS = :differs

      # Of what is contradicted: which way it went all the same.
      LESS = :less
      MORE = :more
      OTHER_DIRECTION = :other_direction
      NO_DIRECTION = :no_direction

      module_function

      # An equivalence test by the interval (Schuirmann, "A comparison of the two one-sided tests procedure and the
      # power approach", 1987): a wide interval reproduces nothing, and contradicts nothing.
      #
      # @param margin [Margin, nil] nil: a finding of our own, which nobody
      #   claimed before; it is clear of 1, or not shown
      # @param measured [Stats::Estimate, nil] of the same ratio
      # @return [Symbol]
      def of_ratio(margin, measured)
        return NOT_MEASURED unless measured
        return NOT_SHOWN unless measured.level_ratio # so few rounds have no interval that could be relied on
        return measured.covers?(1) ? NOT_SHOWN : SHOWN unless margin
        return CONTRADICTED if margin.clear_of?(measured)
        margin.holds?(measured) ? REPRODUCED : COMPATIBLE
      end

      # @param published_ratio [Numeric] what was published, and of a span what is nearest
      # @param measured [Stats::Estimate] that contradicts it
      # @return [Symbol, nil] nil where equality was published
      def detail(published_ratio, measured)
        return if published_ratio == 1
        return NO_DIRECTION if measured.covers?(1)
        return OTHER_DIRECTION if (published_ratio > 1) != (measured.low > 1)
        (Math.log(measured.value).abs < Math.log(published_ratio).abs) ? LESS : MORE
      end

      # @param expected [Integer]
      # @param counted [Integer, nil]
      # @return [Symbol]
      def of_count(expected, counted)
        return NOT_MEASURED unless counted
        (expected == counted) ? EXACT : DIFFERS
      end
    end
  end
end
