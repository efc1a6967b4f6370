# frozen_string_literal: true

module PumaTuner
  module Lab
    # From where to where a measured ratio counts as the published one. It is declared in code, beside the claim,
    # before anything is measured: without a margin, the wider an interval is the surer it covers what was published.
    #
    # ratio: how far it reaches beyond what was published, by factor: 0.1 of 2.0 is from 2.0 / 1.1 to 2.0 * 1.1
    # low, high: its ends; nil where there is none, as of a direction
    # declared: false of a claim that was read from a file of before there were margins, which has the default
    Margin = Document.define(:ratio, :low, :high, :declared) do
      # Of an effect, and of none. A tenth is what two machines of different years may well differ by; that two things
      # are equal is a stronger claim, and has half of it.
      const_set(:EFFECT_RATIO, 0.10)
      const_set(:EQUAL_RATIO, 0.05)

      # @param published [Numeric, Range] a number, a span, or a direction (Claim::HIGHER, LOWER)
      # @param ratio [Numeric, nil] nil: the default, see default_ratio
      # @return [Margin]
      # @raise [ArgumentError] when an effect that was published could not be told from none
      def self.of(published, ratio = nil, declared: true)
        low, high = ends(published)
        ratio ||= default_ratio(low, high)
        margin = new(ratio:, low: low && low / (1 + ratio), high: high && high * (1 + ratio), declared:)
        if margin.covers?(1) && !covers_one?(low, high)
          raise ArgumentError, "a margin of #{ratio} around #{published} covers 1, that there is no effect"
        end
        margin
      end

      # No effect must lie outside of it: so a published effect has half of
      # itself at most, on the logarithmic scale. A direction has no amount.
      def self.default_ratio(low, high)
        return 0.0 unless low && high
        return self::EQUAL_RATIO if covers_one?(low, high)
        nearest = [low, high].map { |ratio| Math.log(ratio).abs }.min
        [self::EFFECT_RATIO, Math.exp(nearest / 2) - 1].min
      end

      def self.ends(published)
        return [published, published] unless published.is_a?(Range)
        [(published.begin if published.begin&.positive?), (published.end if published.end&.finite?)]
      end

      def self.covers_one?(low, high) = 1.between?(low || 0, high || Float::INFINITY)
      private_class_method :default_ratio, :ends, :covers_one?

      # @return [Boolean]
      def covers?(number) = (low.nil? || number >= low) && (high.nil? || number <= high)

      # @param measured [Stats::Estimate]
      # @return [Boolean] whether the whole interval lies inside
      def holds?(measured) = covers?(measured.low) && covers?(measured.high)

      # @return [Boolean] whether the whole interval lies outside, on one side
      def clear_of?(measured) = (!low.nil? && measured.high < low) || (!high.nil? && measured.low > high)
    end
  end
end
