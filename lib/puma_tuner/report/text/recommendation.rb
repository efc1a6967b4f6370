# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # What to change, what it rests on, what it takes, how to go back; then the remarks.
      class Recommendation < Section
        LABEL_WIDTH = 12

        private

        def shown? = @contents.advice_list

        def heading = @contents.recommendation ? "Recommended" : "Advice"

        def lines
          return ["  Nothing to say: no rule found a reason to change anything."] if @contents.advice_list.advice.empty?
          recommended = @contents.recommendation
          blocks = []
          blocks << block(recommended, :green) if recommended
          blocks += @contents.other_advice.map { |advice| block(advice, :yellow) }
          blocks.inject { |lines, block| [*lines, "", *block] }
        end

        def block(advice, style)
          told = AdviceWords.of(advice)
          title = advice.remark? ? "Remark: #{told.title}" : told.title
          [
            *paragraph(title).map { |line| @paint.call(line, :bold, style) },
            *labelled("predicted", prediction(advice)),
            *labelled("change", told.change), *labelled("cost", told.cost), *labelled("undo", told.undo),
            *told.evidence.flat_map.with_index { |sentence, index| labelled(index.zero? ? "because" : "", sentence) }
          ]
        end

        def labelled(label, text) = text ? paragraph(text, label: "  #{label}", indent: LABEL_WIDTH) : []

        def prediction(advice)
          return if advice.throughput_ratio.nil? || (advice.topology && @contents.stay?)
          ratios = {"throughput" => advice.throughput_ratio, "p50" => advice.p50_ratio, "p99" => advice.p99_ratio}
          words = ratios.filter_map { |word, ratio| "#{word} #{Figures.ratio(ratio)}" if ratio }
          "#{words.join(", ")}: of today's; #{Figures.level(advice.throughput_ratio)} of #{Figures.counted(advice.throughput_ratio.samples_count, "simulation")}"
        end
      end
    end
  end
end
