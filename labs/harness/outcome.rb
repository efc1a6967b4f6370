# frozen_string_literal: true

module PumaTuner
  module Lab
    # What may be said of a claim: decided by the numbers alone, so that nobody writes what he hoped for. The words for
    # it are FindingReport::ClaimRows'.
    module Outcome
      module_function

      # An equivalence test by the interval (Schuirmann, "A comparison of the two one-sided tests procedure and the
      # power approach", 1987): a wide interval reproduces nothing, and contradicts nothing.
      #
      # @param margin [Margin, nil] nil: a finding of our own, which nobody
      #   claimed before; it is clear of 1, or not shown
      # @param measured [Stats::Estimate, nil] of the same ratio
      # @return [Symbol] :reproduced, :compatible, :contradicted or :not_shown; of our own :shown or :not_shown;
      #   :not_measured
      def of_ratio(margin, measured)
        return :not_measured unless measured
        return :not_shown unless measured.level_ratio # so few rounds have no interval that could be relied on
        return measured.covers?(1) ? :not_shown : :shown unless margin
        return :contradicted if margin.clear_of?(measured)
        margin.holds?(measured) ? :reproduced : :compatible
      end

      # @param published_ratio [Numeric] what was published, and of a span what is nearest
      # @param measured [Stats::Estimate] that contradicts it
      # @return [Symbol, nil] which way it went all the same: :less, :more, :other_direction or :no_direction; nil where
      #   equality was published
      def detail(published_ratio, measured)
        return if published_ratio == 1
        return :no_direction if measured.covers?(1)
        return :other_direction if (published_ratio > 1) != (measured.low > 1)
        (Math.log(measured.value).abs < Math.log(published_ratio).abs) ? :less : :more
      end

      # @param expected [Integer]
      # @param counted [Integer, nil]
      # @return [Symbol] :exact, :differs or :not_measured
      def of_count(expected, counted)
        return :not_measured unless counted
        (expected == counted) ? :exact : :differs
      end
    end
  end
end
