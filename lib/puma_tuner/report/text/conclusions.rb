# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # What a lab says in the end, on which machine, and how to repeat it.
      class Conclusions < Section
        private

        def shown? = true

        def heading = "Finding"

        def lines
          [*@contents.conclusions.flat_map { |sentence| paragraph(sentence, label: "- ") }, "", *small_print]
        end

        def small_print
          [
            *labelled("machine", "#{Facts.machine(@contents.machine)}, #{@contents.machine.kernel}; begun #{@contents.started_at}"),
            *@contents.unknown.flat_map { |what, reason| labelled("unknown", "#{what}: #{reason}") },
            *(labelled("repeat", @contents.command) if @contents.command)
          ]
        end

        def labelled(label, text) = paragraph(text, label: "  #{label}", indent: 12)
      end
    end
  end
end
