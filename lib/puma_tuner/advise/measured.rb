# frozen_string_literal: true

module PumaTuner
  module Advise
    # What a proof showed of an advice.
    #
    # rule, lines, topology: of the advice, which they tell from others; today: Topology that it was relative to
    # metric: "throughput", "p50", "p99" or "pss"; ratio: Estimate, measured over today's; predicted: Estimate, the same
    #   as it was predicted, nil where nobody could
    # outcome: :better, :worse, :equivalent, :not_shown, or :fails, where requests or processes failed clearly more
    # measured_at: ISO 8601
    Measured = Document.define(:rule, :lines, :topology, :today, :metric, :ratio, :predicted, :outcome, :measured_at,
      symbols: [:outcome],
      nested: {topology: Topology, today: Topology, ratio: Stats::Estimate, predicted: Stats::Estimate})

    class Measured
      # @return [Boolean] whether it made things worse
      def worse? = %i[worse fails].include?(outcome)

      # @return [Boolean, nil] whether the two intervals meet; nil where one is not there
      def as_predicted?
        return unless ratio&.level_ratio && predicted
        ratio.low <= predicted.high && predicted.low <= ratio.high
      end

      # @return [Boolean] whether it came out otherwise than it was advised
      def otherwise? = worse? || as_predicted? == false

      # @return [Boolean] whether it is not worth as much as it promised
      def disappointing? = outcome == :equivalent || (otherwise? && outcome != :better)

      # @param advice [Advice]
      # @param today [Topology]
      # @return [Boolean] whether it is about this advice
      def of?(advice, today) = rule == advice.rule && lines == advice.lines && self.today == today
    end
  end
end
