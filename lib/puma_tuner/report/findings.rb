# frozen_string_literal: true

module PumaTuner
  module Report
    # What the rounds showed of one variant, in sentences.
    class Findings
      # @param contents [Contents]
      # @return [String, nil] what to call a report on a proof; nil when there is none
      def self.title(contents)
        others = contents.other_cells
        return if others.empty?
        main = others.one? ? others.first : contents.recommended_cell
        return new(contents, main).title if main
        "#{others.size} variants measured against #{contents.verdict.baseline}"
      end

      # @param contents [Contents] with a verdict
      # @param cell [Prove::Cell]
      def initialize(contents, cell)
        @contents = contents
        @verdict = contents.verdict
        @cell = cell
        @finding = @verdict.findings.find { |finding| finding.variant == cell.variant }
        @primary = @verdict.comparison(cell.variant, @verdict.primary)
      end

      # @return [Symbol, nil] :better, :worse, :equivalent or :not_shown, in the primary metric
      def outcome = @finding&.outcome

      # @return [String] without any number
      def title = claim(@cell.variant, @verdict.baseline)

      # @return [String] on the primary metric
      def sentence
        claim = claim(*[@cell, @contents.baseline_cell].map { |cell| Figures.variant(cell) })
        unless @primary
          why_not = Statements.words(@verdict.stopped_because).delete_suffix(".") unless @verdict.complete
          return "#{[claim, *why_not].join(": ")}."
        end
        ratio = @primary.ratio
        "#{claim}: #{Figures.ratio(ratio)}, #{Figures.level(ratio)} of " \
          "#{Figures.counted(ratio.samples_count, "paired round")}#{because}#{prediction}." \
          "#{addition}#{" Both have the same settings, so this is the noise." if @finding.same_settings}"
      end

      # @return [String, nil] on all other metrics
      def others
        groups = Figures::OUTCOMES.filter_map do |outcome, words|
          alike = @finding.others.fetch(outcome, [])
          "#{words}: #{alike.map { |metric| in_words(metric, outcome) }.join(", ")}" if alike.any?
        end
        "Also #{groups.join("; ")}." if groups.any?
      end

      private

      def claim(variant, baseline)
        label = @contents.primary.label
        case outcome
        when nil
          return "#{variant} fails: #{Statements.words(failing.reason)}" if failing
          "#{variant} could not be compared in #{label}"
        when :equivalent then "#{variant} and #{baseline} are equivalent in #{label}"
        when :not_shown
          return "#{variant} fails, and #{baseline} does not" if failing
          "No difference shown between #{variant} and #{baseline} in #{label}"
        else "#{variant} is #{outcome} than #{baseline} in #{label}"
        end
      end

      # Then nothing good may be said of it.
      def failing = @verdict.failing(@cell.variant)

      def because
        return unless outcome == :equivalent && @verdict.equivalent_ratio
        ", inside 1 ± #{Units.percent(@verdict.equivalent_ratio)}"
      end

      def prediction
        return unless @finding.prediction
        "; predicted #{Units.times(@primary.predicted_ratio)}, #{@finding.prediction} that interval"
      end

      # What nothing shown is worth.
      def addition
        return unless outcome == :not_shown
        if failing
          return " In #{Figures.counted(failing.attempts_count, "round")} of #{failing.all_count}: " \
            "#{Statements.words(failing.reason)}."
        end
        return " #{Sections::Proof.too_few(@verdict)}" unless @primary.ratio.level_ratio
        least = @primary.mde_ratio or return
        " Minimum detectable effect: a change of #{Units.percent(least)} (80% power)."
      end

      # How large it is matters of a difference only.
      def in_words(metric, outcome)
        label = @contents.metric(metric).label
        return label unless %i[better worse].include?(outcome)
        "#{label} #{Figures.ratio(@verdict.comparison(@cell.variant, metric).ratio)}"
      end
    end
  end
end
