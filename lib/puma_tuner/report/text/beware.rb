# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # What is to be known before anything else is read: that the model misses what it was made from.
      class Beware < Section
        private

        def shown? = sentences.any?

        def heading = "Beware: the model misses what it was made from"

        def lines = sentences.flat_map { |sentence| paragraph(sentence) }

        def sentences = SelfCheckWords.sentences(@contents.sweep&.self_check)
      end
    end
  end
end
