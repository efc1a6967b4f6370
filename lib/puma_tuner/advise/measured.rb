# frozen_string_literal: true

module PumaTuner
  module Advise
    # What a proof showed of an advice.
    #
    # rule, lines, topology: of the advice, which they tell from others; today: Topology that it was relative to
    # metric: "throughput", "p50", "p99" or "pss"; ratio: Estimate, measured over today's; predicted: Estimate, the same
    #   as it was predicted, nil where nobody could
    # outcome: :better, :worse, :equivalent, :not_shown, or :fails, where requests or processes failed clearly more
    # measured_at: ISO 8601; arrivals: Model::Arrivals of the proof's load; nil in older files
    Measured = Document.define(:rule, :lines, :topology, :today, :metric, :ratio, :predicted, :outcome, :measured_at,
      :arrivals, symbols: [:outcome], added: {arrivals: nil},
      nested: {topology: Topology, today: Topology, ratio: Stats::Estimate, predicted: Stats::Estimate,
               arrivals: Model::Arrivals})

    class Measured
      # Closed loops are alike that differ by no more in connections and think time. A judgement, and a wide one: what
      # is left out by mistake is told, and what is advised by mistake makes the app worse once more.
      ALIKE_WITHIN_FACTOR = 2

      # What a few connections showed says little of many, and a throughput little of a p99, by which open loops are
      # judged. But an app meets another rate each hour, and what is bad at one of them is no setting for it. What fails
      # is left out whatever the load, and memory hardly depends on it.
      #
      # @param arrivals [Model::Arrivals, nil] that are advised for; nil: any
      # @return [Boolean] whether what was measured counts for them; what older files have counts for all
      def counts_under?(arrivals)
        loads = [self.arrivals, arrivals]
        return true if loads.include?(nil) || outcome == :fails || metric == "pss"
        return loads.all?(&:open?) if loads.any?(&:open?)
        %i[connections_count think_ns].all? do |field|
          least, most = loads.map { |load| load.public_send(field).to_i }.minmax
          most <= least * ALIKE_WITHIN_FACTOR
        end
      end

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

      # @return [Array] the advice that it is about, and today's setting, which tell it from others
      def subject = [rule, lines, today]

      # @param advice [Advice]
      # @param today [Topology]
      # @return [Boolean] whether it is about this advice
      def of?(advice, today) = subject == [advice.rule, advice.lines, today]
    end
  end
end
