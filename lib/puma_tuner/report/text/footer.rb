# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # What measuring cost, what is not known, and how to do it again.
      class Footer < Section
        private

        def shown? = @contents.observation

        def heading = "Small print"

        def lines
          [*labelled("probe", probe), *unknown, *(labelled("repeat", @contents.command) if @contents.command)]
        end

        def labelled(label, text) = paragraph(text, label: "  #{label}", indent: 12)

        def probe = Facts.new(@contents.observation).probe

        def unknown
          @contents.unknown.each_with_index.flat_map do |(field, reason), index|
            labelled(index.zero? ? "unknown" : "", "#{field}: #{reason}")
          end
        end
      end
    end
  end
end
