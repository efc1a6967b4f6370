# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # How it was measured, and all that speaks against it.
      class Rests < Section
        LABEL_WIDTH = 14

        private

        def shown? = @contents.verdict

        def how = @how ||= HowMeasured.new(@contents)

        def heading = "What the proof rests on"

        def lines
          [
            *how.table.flat_map { |label, text| labelled(label, text) }, *listed("void rounds", how.voids), *listed("not steady", how.unsteady),
            *listed("remarks", how.remarks), *noise, *repeat
          ]
        end

        def labelled(label, text) = paragraph(text, label: "  #{label}", indent: LABEL_WIDTH)

        def listed(label, texts) = texts.each_with_index.flat_map { |text, index| labelled(index.zero? ? label : "", text) }

        def noise
          return [] if how.noise.empty?
          table = table(["noise: equal variants", "ratio", "of a pair", "shows from"])
          how.noise.each { |noise| table << [shortened(noise.label, 30), noise.ratio, noise.sd, noise.least] }
          ["", *table.lines, *note("Two equal variants, before the rounds. Of a pair: standard deviation of one pair's ratio. Shows from: the smallest " \
            "change that as many rounds as planned can show.")]
        end

        # That of a whole tuning is in its small print.
        def repeat = (@contents.whole? || !@contents.command) ? [] : ["", *labelled("repeat", @contents.command)]
      end
    end
  end
end
