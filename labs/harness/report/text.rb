# frozen_string_literal: true

module PumaTuner
  module Lab
    module FindingReport
      # What a person reads in a terminal.
      class Text
        # @param color [Boolean] whether to use a terminal's colours
        def initialize(color: false)
          @paint = Report::Paint.new(color)
        end

        # @return [String]
        def call(finding) = [Claims, Tables, Conclusions].filter_map { |section| section.new(finding, @paint).to_text }.join("\n\n") << "\n"

        # A lab's question, and its claims: as published, as measured here.
        class Claims < Report::Text::Section
          private

          def shown? = true

          def heading = "Lab #{@contents.lab}: #{Report::Figures.printable(@contents.title)}"

          def lines
            rows = ClaimRows.of(@contents)
            [*paragraph(@contents.question), *quick, *rows.flat_map { |row| ["", *lines_of(row)] }, *ClaimRows.family(@contents)&.then { |text| ["", *note(text)] }]
          end

          def quick
            return [] unless @contents.quick
            note("The short form: few variants and rounds, so that intervals are wide. Without --quick it says more.")
          end

          # What was published has a line of its own where its margin stands beside it.
          def lines_of(row)
            measured = ["here", row.measured, *("(#{row.basis})" if row.basis)].join(" ")
            outcome = [": ", @paint.call(row.outcome, Report::Paint::OUTCOMES.fetch(row.style))].join if row.outcome
            beside = published(row)
            told = row.margin ? ["      #{beside}", "      #{measured}#{outcome}"] : ["      #{"#{beside}; " if beside}#{measured}#{outcome}"]
            [*paragraph(row.text), *told, *(paragraph(row.note, indent: 6).map { |line| @paint.call(line, :dim) } if row.note)]
          end

          def published(row)
            return if row.published == "-"
            "#{"published " unless row.published.match?(/\A[\d,]+ expected\z/)}#{Report::Figures.printable(row.published)}#{" (#{row.margin})" if row.margin}"
          end
        end

        # What a lab measured and counted, in full.
        class Tables < Report::Text::Section
          NAME_LENGTH = 56

          NUMBER = /\A[-+−–]?\d|\A-?\z/

          # @return [String, nil]
          def to_text
            @contents.tables.map { |table| [@paint.call(Report::Figures.printable(table.title), :bold), *lines_of(table)].join("\n") }.join("\n\n") if @contents.tables.any?
          end

          private

          def lines_of(found)
            left = found.headings.each_index.reject { |index| found.rows.all? { |row| NUMBER.match?(row[index].to_s) } }
            table = table(found.headings.each_with_index.map { |heading, index| left.include?(index) ? "<#{heading}" : heading })
            found.rows.each { |row| table << row.map { |cell| shortened(cell, NAME_LENGTH) } }
            [*table.lines, *found.notes.flat_map { |text| note(text) }]
          end
        end

        # What a lab says in the end, on which machine, and how to repeat it.
        class Conclusions < Report::Text::Section
          private

          def shown? = true

          def heading = "Finding"

          def lines
            [*@contents.conclusions.flat_map { |sentence| paragraph(sentence, label: "- ") }, "", *small_print]
          end

          def small_print
            [
              *labelled("machine", "#{Report::Facts.machine(@contents.machine)}, #{@contents.machine.kernel}; begun #{@contents.started_at}"),
              *@contents.unknown.flat_map { |what, reason| labelled("unknown", "#{what}: #{reason}") },
              *(labelled("repeat", @contents.command) if @contents.command)
            ]
          end

          def labelled(label, text) = paragraph(text, label: "  #{label}", indent: 12)
        end
      end
    end
  end
end
