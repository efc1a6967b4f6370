# frozen_string_literal: true

module PumaTuner
  module Lab
    module FindingReport
      # The claims of a finding as they are read, the same in every format.
      module ClaimRows
        # margin: "±10%: 1.15–1.40", what counts as published; nil where nothing was; measured: "1.16x (1.14–1.18)",
        # "44,528"
        # basis: what the range promises; outcome: nil of a number that is only told
        # style: the one of Report::Paint::OUTCOMES and of the page's, that is meant by the outcome
        Row = Data.define(:text, :published, :margin, :measured, :basis, :outcome, :style, :note)

        # By Lab::Outcome.
        WORDS = {
          reproduced: "reproduced", compatible: "compatible", contradicted: "contradicted",
          not_shown: "not shown", shown: "shown",
          not_measured: "not measured", exact: "exact", differs: "differs"
        }.freeze
        DETAILS = {
          less: "same direction, less", more: "same direction, more",
          other_direction: "the other direction", no_direction: "no direction is shown"
        }.freeze
        STYLES = {reproduced: :better, exact: :better, shown: :better, compatible: :equivalent, contradicted: :worse,
                  differs: :worse}.freeze

        module_function

        # @param finding [Lab::Finding]
        # @return [Array<Row>]
        def of(finding) = finding.claims.map { |claim| row(claim) }

        def row(claim)
          Row.new(text: claim.text, published: published(claim), margin: claim.margin && margin(claim.margin),
            measured: measured(claim), basis: basis(claim),
            outcome: outcome(claim), style: STYLES.fetch(claim.outcome, :not_shown), note: claim.note)
        end

        # @param claim [Lab::Claim]
        # @return [String, nil] "contradicted: same direction, less"
        def outcome(claim) = claim.outcome && [WORDS.fetch(claim.outcome), DETAILS[claim.detail]].compact.join(": ")

        # @param finding [Lab::Finding]
        # @return [String, nil] how often such outcomes are wrong; nil where no interval decides
        def family(finding)
          claims = finding.claims_by_interval
          return if claims.empty?
          unless finding.family_error_ratio
            return "Each claim's interval is at its own level: rounds were not kept to make them of, and so many " \
              "intervals are wrong more often together."
          end
          student = " Where rounds are too few for an exact interval at that level, it is Student's t."
          student = nil if claims.none?(&:student?)
          share = finding.family_error_ratio / claims.size
          "All intervals together leave out the truth in #{percent(finding.family_error_ratio)}% of such findings at " \
            "most: #{Report::Figures.counted(claims.size, "claim")} " \
            "#{(claims.size == 1) ? "has" : "have"} #{percent(share)}% each (Bonferroni).#{student}"
        end

        # What it should be by our own reckoning, where nobody published it, or published a rule and another number.
        def published(claim)
          told = claim.published || (Units.times(claim.published_ratio) if claim.published_ratio)
          expected = Report::Figures.count(claim.exact.expected) if claim.exact
          said = expected && told&.match?(/(?<![\d,.])#{expected}(?![\d,.])/)
          words = [told, *("#{expected} expected" if expected && !said)].compact
          words.empty? ? "-" : words.join("; ")
        end

        # @param margin [Lab::Margin]
        # @return [String] "±10%: 1.15–1.40", "above 1"
        def margin(margin)
          return "below #{format("%.3g", margin.high)}" unless margin.low
          return "above #{format("%.3g", margin.low)}" unless margin.high
          low, high = [margin.low, margin.high].map { |ratio| format("%#.3g", ratio).delete_suffix(".") }
          "±#{format("%g", (margin.ratio * 100).round(1))}%: " \
            "#{low}–#{high}#{", the default, as none was declared" unless margin.declared}"
        end

        def measured(claim)
          return Report::Figures.count(claim.exact.counted) if claim.exact
          return Report::Figures.ratio(claim.measured) if claim.unit == "ratio"
          # A claim has a unit, as a metric has.
          Report::Figures.estimate(claim, claim.measured)
        end

        # @return [String, nil] "99.7% interval of 10 rounds, Student's t"
        def basis(claim)
          return unless claim.measured
          level_ratio = claim.measured.level_ratio
          level = level_ratio ? "#{percent(level_ratio)}% interval" : "range"
          rounds = Report::Figures.counted(claim.measured.samples_count, "round")
          "#{level} of #{rounds}#{", Student's t" if claim.student?}"
        end

        # Of a level, whole per cents hide what many claims share.
        def percent(ratio) = format("%g", (ratio * 100).floor(2))
      end
    end
  end
end
