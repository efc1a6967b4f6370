# frozen_string_literal: true

module Overhead
  # One target, held against what was measured.
  #
  # claim: what is promised; estimate: of what it takes, nil when nothing could be measured; target: in the same unit
  # noise: the same estimate for the A/A pair; nil where it was not measured; NO_PAIR of what is no difference, whose interval holds all its noise
  Verdict = Data.define(:claim, :unit, :target, :estimate, :noise) do
    # How far two equal things were found apart, at most.
    # @return [Float, nil] nil where they were not measured
    def noise_width
      return 0.0 if noise == self.class::NO_PAIR
      noise && [noise.low.abs, noise.high.abs].max
    end

    # Noise counts against either: it widens the interval, and what two equal things were found apart is added to it. So a noisy
    # machine can neither meet a target nor miss it, nor can one with too few rounds for an interval, or without the A/A pair. What is
    # not shown is no success: the run ends with a status of its own.
    #
    # @return [Symbol] :met when the whole interval, with the noise on top, is within the target; :missed when all of it, less the noise, lies
    #   beyond, or when the probe gave no number at all; otherwise :not_shown
    def outcome
      return :missed if estimate.nil?
      return :not_shown unless noise && estimate.level_ratio
      return :met if estimate.high + noise_width <= target
      (estimate.low - noise_width > target) ? :missed : :not_shown
    end
  end

  class Verdict
    NO_PAIR = :no_pair
  end
end
