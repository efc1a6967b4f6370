# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # Known patterns, each with its cure and how to find out whether that brings anything.
      class Hints < Section
        LABELS = {evidence: "seen", cure: "cure", proof: "proof"}.freeze

        private

        def shown? = @contents.hints.any?

        def heading = "Hints: to be proven, not believed"

        def lines
          @contents.hints.flat_map do |hint|
            ["", *paragraph("#{Figures.printable(hint.title)} [#{hint.rule}]"), *LABELS.flat_map { |field, label| paragraph(hint.public_send(field), label: "    #{label}", indent: 14) }]
          end
        end
      end
    end
  end
end
