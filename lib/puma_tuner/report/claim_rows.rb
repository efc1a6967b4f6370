# frozen_string_literal: true

module PumaTuner
  module Report
    # The claims of a finding as they are read, the same in every format.
    module ClaimRows
      # measured: "1.16x (1.14–1.18)", "44,528"; basis: what the range promises; outcome: nil of a number that is only told
      # style: the one of Paint::OUTCOMES and of the page's, that is meant by the outcome
      Row = Data.define(:text, :published, :measured, :basis, :outcome, :style, :note)

      STYLES = {
        "reproduced" => "better", "exact" => "better", "shown" => "better", "same direction, less" => "equivalent", "same direction, more" => "equivalent",
        "contradicted" => "worse", "differs" => "worse", "not shown" => "not shown", "not measured" => "not shown"
      }.freeze

      # Words in which the numbers of Prove::Metric are told, too.
      UNITS_OF = {"ns" => :duration, "per_s" => :rate, "bytes" => :mebibytes}.freeze

      module_function

      # @param finding [Lab::Finding]
      # @return [Array<Row>]
      def of(finding) = finding.claims.map { |claim| row(claim) }

      def row(claim)
        Row.new(text: claim.text, published: published(claim), measured: measured(claim), basis: basis(claim.measured), outcome: claim.outcome,
          style: STYLES.fetch(claim.outcome.to_s, "not shown"), note: claim.note)
      end

      # What it should be by our own reckoning, where nobody published it.
      def published(claim)
        return claim.published if claim.published
        return "#{Figures.count(claim.exact.expected)} expected" if claim.exact
        claim.published_ratio ? Units.times(claim.published_ratio) : "-"
      end

      def measured(claim)
        return Figures.count(claim.exact.counted) if claim.exact
        return Figures.ratio(claim.measured) if claim.unit == "ratio"
        Figures.with_range(claim.measured) { |number| number(number, claim.unit) }
      end

      def number(number, unit)
        return Units.public_send(UNITS_OF.fetch(unit), number) if UNITS_OF.key?(unit)
        Units.significant(number).then { |text| text.include?(".") ? text : Figures.count(text) }
      end

      # @return [String, nil] "96% interval of 10 rounds"
      def basis(measured)
        measured && "#{Figures.level(measured)} of #{Figures.counted(measured.samples_count, "round")}"
      end
    end
  end
end
