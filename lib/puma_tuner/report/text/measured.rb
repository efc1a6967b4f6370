# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # On what everything else rests.
      class Measured < Section
        private

        def shown? = @contents.observation

        def heading = "Measured"

        def lines = paragraph("#{Facts.new(@contents.observation).sentence}.")
      end
    end
  end
end
