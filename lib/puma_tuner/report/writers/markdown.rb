# frozen_string_literal: true

module PumaTuner
  module Report
    module Writers
      # A short summary for a pull request or a chat: what was found stands open, the reasons are folded away. Whoever
      # wants more opens the HTML report.
      class Markdown < Writer
        # @param page [Blocks::Page]
        # @return [String]
        def call(page)
          title = escaped([page.kicker.delete_suffix(" report"), page.title].compact.join(": "))
          ["### #{title}", *written(page.head), *(escaped(page.conditions) if page.conditions), *sections(page),
            *(to_repeat(page.command) if page.command)].join("\n\n") << "\n"
        end

        private

        # Of a whole tuning the first sentences are enough.
        def sections(page)
          texts = page.sections.map { |section| [section, written(section.blocks)] }
            .reject { |_, blocks| blocks.empty? }
          texts.map do |section, blocks|
            text = blocks.join("\n\n")
            next fold(section.title, text) if page.whole || !section.open
            (texts.size > 1) ? "**#{escaped(section.title)}**\n\n#{text}" : text
          end
        end

        # @return [Array<String>]
        def written(blocks) = blocks.flat_map { |block| write(block) }

        def paragraph(block) = [prose(block.text)]

        alias_method :note, :paragraph

        def subheading(block) = ["**#{escaped([block.text, block.mark].compact.join(", "))}**"]

        def labelled(block)
          texts = block.rows.flat_map { |label, told| Array(told).map { |text| [label, text] } }
          case block.style
          when :points then [texts.map { |label, text| "- **#{escaped(label)}.** #{told(text)}" }.join("\n")]
          when :list then [texts.map { |label, text| "- #{escaped(label)}: #{told(text)}" }.join("\n")]
          else texts.empty? ? [] : [rows(["", ""], texts.map { |label, text| [label, plain(text)] })]
          end
        end

        def told(text) = text.is_a?(Blocks::Code) ? code(text.text) : prose(text)

        def plain(text) = text.is_a?(Blocks::Code) ? text.text : text

        def snippet(block) = ["`#{block.place}`:", "```\n#{block.text}\n```"]

        def list(block) = block.items.empty? ? [] : [block.items.map { |item| "- #{prose(item)}" }.join("\n")]

        # Only a terminal aligns them.
        def lines(_) = []

        def article(block) = ["**#{escaped(block.title)}**", *written(block.blocks)]

        def table(block)
          rows = block.rows_for(:markdown)
          return [] if rows.empty?
          picked = block.columns.each_index.reject { |index| block.columns[index].page }
          marked = rows.any? { |row| row.marks.any? }
          headings = [*block.columns.values_at(*picked).map { |column| Words.heading(column, narrow: false) },
            *("" if marked)]
          cells = rows.flat_map { |row| [row, *row.below] }
            .map { |row| [*cells(row, block.columns, picked), *(row.marks.join(", ") if marked)] }
          [rows(headings, cells), *rows_left_out(block, :markdown)&.then { |text| escaped(text) }]
        end

        def cells(row, columns, picked)
          name, *others = row.cells.zip(columns).values_at(*picked).map do |cell, column|
            (cell.is_a?(Array) ? cell : [cell]).map { |one| words(one, column).strip }.join(", ")
          end
          ["#{name}#{" (primary)" if row.style == :primary}", *others]
        end

        def words(cell, column)
          note = cell.note if cell.is_a?(Blocks::Cell)
          "#{Words.cell(cell, column, narrow: false, range: false)}#{" (#{note})" if note}"
        end

        def chart(block) = written(block.instead)

        def figure(block) = written(block.blocks)

        def folded(block) = written([*block.instead, *block.blocks])

        # For who reads further.
        def aside(_) = []

        def fold(title, text) = "<details><summary>#{without_markup(title)}</summary>\n\n#{text}\n\n</details>"

        # As a block of code, where nothing needs to be escaped, so that it can be copied.
        def to_repeat(command) = "To repeat it:\n\n    #{Figures.printable(command)}"

        def rows(headings, rows)
          lines = [headings, *rows].map { |cells| "| #{cells.map { |cell| escaped(cell) }.join(" | ")} |" }
          lines.insert(1, "|#{" --- |" * headings.size}").join("\n")
        end

        # Names come from the app: they must neither become markup nor call somebody by an @.
        def escaped(text) = without_markup(text).gsub(/[\\`*_\[\]|#~]/) { |character| "\\#{character}" }

        # What is to be typed stands in backquotes. So may a name of the app's, which must neither become markup nor
        # call anybody, inside of them or not.
        TYPED = /(`[^`@<>&|\n]+`)/
        private_constant :TYPED

        def prose(text)
          text.split(TYPED).map { |part| part.match?(TYPED) ? Figures.printable(part) : escaped(part) }.join
        end

        def code(text) = prose("`#{text}`")

        # Inside an element, where Markdown's own characters have no meaning.
        def without_markup(text)
          Figures.printable(text).gsub(/[&<>]/, "&" => "&amp;", "<" => "&lt;", ">" => "&gt;").gsub("@", "@\u200b")
        end
      end
    end
  end
end
