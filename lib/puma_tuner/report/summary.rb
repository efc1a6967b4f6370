# frozen_string_literal: true

module PumaTuner
  module Report
    # What a tuning found, in sentences: the same in the terminal, in HTML and in Markdown.
    class Summary
      # @param tuning [Tuning]
      def initialize(tuning)
        @tuning = tuning
      end

      # @return [Array<String>] measured, recommended, predicted, proven
      def sentences = [measured, recommended, *proven]

      # @return [String] what was measured, and where its time went
      def measured
        observation = @tuning.observation
        "#{observation.requests_count} requests in #{Units.duration(observation.duration_ns)} at #{observation.topology} " \
          "(#{Units.rate(observation.throughput_per_s)} requests/s): #{shares(observation.budget)} of their time."
      end

      # @return [String] the advice
      def recommended
        advice = @tuning.advice_list.recommendation
        return "Today's #{advice.topology} can stay: no topology predicted gives clearly more." if advice.topology == today
        "Recommended: #{advice.topology} (#{advice.change}). Predicted: #{ratio(advice.throughput_ratio)} the throughput, " \
          "#{ratio(advice.p50_ratio)} the median latency, #{ratio(advice.p99_ratio)} the 99th percentile."
      end

      # @return [Array<String>] the proof, or that there was none
      def proven
        verdict = @tuning.verdict or return ["Nothing was proven: the proof was left out."]
        comparison = verdict.comparisons.find { |candidate| candidate.metric == "throughput" } or return ["The proof had nothing to compare."]
        predicted = comparison.predicted_ratio && ", predicted #{Units.times(comparison.predicted_ratio)}"
        ["Measured in #{verdict.rounds_count} rounds: #{ratio(comparison.ratio)} the throughput#{predicted}; #{comparison.variant} is #{outcome(comparison)}."]
      end

      private

      def today = @tuning.sweep.today

      # The three largest parts.
      def shares(budget)
        parts = budget.class::PARTS.filter_map { |part| (share = budget.share_ratio(part)) && [share, part] }
        parts.max(3).map { |share, part| "#{part.to_s.tr("_", " ")} #{Units.percent(share)}" }.join(", ")
      end

      def ratio(estimate) = "#{Units.times(estimate.value)} (#{Units.times(estimate.low)} to #{Units.times(estimate.high)})"

      def outcome(comparison)
        (comparison.outcome == "not shown") ? "not shown to differ from #{@tuning.verdict.baseline}" : "#{comparison.outcome} than #{@tuning.verdict.baseline}".sub("equivalent than", "equivalent to")
      end
    end
  end
end
