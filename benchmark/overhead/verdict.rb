# frozen_string_literal: true

module Overhead
  # One target, held against what was measured.
  #
  # claim: what is promised; estimate: of what it takes, nil when nothing could be measured; target: in the same unit
  # noise: the same estimate for the A/A pair
  Verdict = Data.define(:claim, :unit, :target, :estimate, :noise) do
    # How far two equal things were found apart, at most.
    # @return [Float]
    def noise_width = noise ? [noise.low.abs, noise.high.abs].max : 0.0

    # @return [Symbol] :met when the whole interval is; :missed when it lies beyond target and noise, or the probe gave no
    #   number at all; otherwise :not_shown
    def outcome
      return :missed if estimate.nil? || estimate.low > target + noise_width
      (estimate.high <= target) ? :met : :not_shown
    end

    def missed? = outcome == :missed
  end
end
