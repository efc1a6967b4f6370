# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # All of it in sentences.
      class InShort < Section
        private

        # Of a whole tuning only: a value on its own is short enough.
        def shown? = @contents.whole?

        def heading = ["In short", @contents.headline].compact.join(": ")

        def lines
          Summary.new(@contents).points.flat_map { |point| paragraph(point.text, label: "  #{point.label}", indent: 15) }
        end
      end
    end
  end
end
