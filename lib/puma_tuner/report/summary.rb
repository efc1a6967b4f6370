# frozen_string_literal: true

module PumaTuner
  module Report
    # What was found, recommended, predicted and proven, in sentences: the same in the terminal, in HTML and in Markdown.
    class Summary
      Point = Data.define(:label, :text)

      # A forecast's bottleneck in a sentence.
      LIMITS = {"threads" => "the number of threads", "gvl" => "the GVL", "cores" => "the cores",
                "clients" => "the number of connections"}.freeze

      # @param contents [Contents]
      def initialize(contents)
        @contents = contents
      end

      # @return [Array<Point>] one for each stage that was reached
      def points
        {"Found" => found, "Recommended" => recommended, "Predicted" => predicted, "Proven" => proven, "Remarks" => remarks}
          .filter_map { |label, text| Point.new(label:, text:) if text }
      end

      private

      def found
        observation = @contents.observation or return
        parts = Parts.largest(observation.budget, 3).map { |part, ratio| "#{Units.percent(ratio)} #{part.word} (#{part.meaning})" }
        facts = Facts.new(observation)
        [
          "#{facts.counted} in #{Units.duration(observation.duration_ns)}#{" at #{observation.topology}" if observation.topology}: " \
            "#{Figures.list(facts.rates)}.",
          ("Of their time, #{Figures.list(parts)}." if parts.any?),
          limit
        ].compact.join(" ")
      end

      def limit
        forecast = @contents.forecast_today or return
        "By the model, #{LIMITS.fetch(forecast.bottleneck, forecast.bottleneck)} " \
          "#{(forecast.bottleneck == "cores") ? "limit" : "limits"} it."
      end

      def recommended
        advice = @contents.recommendation or return
        return "Stay with #{advice.topology} (#{Figures.topology(advice.topology)})." if @contents.stay?
        from = " instead of #{@contents.today}" if @contents.today
        "#{advice.topology} (#{Figures.topology(advice.topology)})#{from}: #{advice.change}."
      end

      def predicted
        advice = @contents.recommendation or return
        return if @contents.stay? || advice.remark?
        "#{Figures.ratio(advice.throughput_ratio)} today's throughput, p50 #{Figures.ratio(advice.p50_ratio)}, " \
          "p99 #{Figures.ratio(advice.p99_ratio)}; ranges over #{Figures.counted(advice.throughput_ratio.samples_count, "simulation")}."
      end

      def proven
        verdict = @contents.verdict
        return ("Nothing: the proof was left out." if @contents.whole?) unless verdict
        cells = [@contents.recommended_cell || @contents.other_cells].flatten
        return "Nothing: there was one variant only." if cells.empty?
        cells.map { |cell| compared(cell) }.join(" ")
      end

      def compared(cell)
        baseline = @contents.baseline_cell
        comparisons = @contents.verdict.comparisons.select { |comparison| comparison.variant == cell.variant }
        return "#{cell.variant} could not be compared." if comparisons.empty?
        same = (cell.topology == baseline.topology) ? ", the same settings, which tells the noise" : ""
        "In #{Figures.counted(@contents.verdict.rounds_count, "paired round")}, #{Figures.variant(cell)} against #{Figures.variant(baseline)}#{same}: " \
          "#{comparisons.map { |comparison| measured(comparison) }.join("; ")}."
      end

      # Throughput is what is recommended for; the others stand beside it.
      def measured(comparison)
        words = "#{Figures::METRICS.fetch(comparison.metric, comparison.metric)} #{Figures.ratio(comparison.ratio)}, " \
          "#{Figures::OUTCOMES.fetch(comparison.outcome, comparison.outcome)}"
        return words unless comparison.metric == "throughput" && comparison.predicted_ratio
        "#{words} (predicted #{Units.times(comparison.predicted_ratio)}, #{Figures.prediction_held(comparison)} the " \
          "#{Figures.level(comparison.ratio)})"
      end

      def remarks
        return if @contents.other_advice.empty?
        "#{@contents.other_advice.map(&:title).join(". ")}."
      end
    end
  end
end
