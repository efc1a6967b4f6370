# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # On what everything else rests.
      class Measured < Section
        private

        def shown? = @contents.observation

        def heading = "Measured"

        def lines = [facts.sentence, facts.recorded].compact.flat_map { |text| paragraph("#{text}.") }

        def facts = @facts ||= Facts.new(@contents.observation)
      end
    end
  end
end
