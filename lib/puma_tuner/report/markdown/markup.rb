# frozen_string_literal: true

module PumaTuner
  module Report
    class Markdown
      # Tables and text in which nothing of the app's is markup.
      module Markup
        private

        # @param title [String]
        # @param text [String] Markdown
        def folded(title, text) = "<details><summary>#{without_markup(title)}</summary>\n\n#{text}\n\n</details>"

        # As a block of code, where nothing needs to be escaped, so that it can be copied.
        def to_repeat(command) = "To repeat it:\n\n    #{Figures.printable(command)}"

        def body(table) = [table(table.headings, table.rows), *(escaped(table.notes.join(" ")) if table.notes.any?)].join("\n\n")

        def table(headings, rows)
          lines = [headings, *rows].map { |cells| "| #{cells.map { |cell| escaped(cell) }.join(" | ")} |" }
          lines.insert(1, "|#{" --- |" * headings.size}").join("\n")
        end

        # Names come from the app: they must neither become markup nor call somebody by an @.
        def escaped(text) = without_markup(text).gsub(/[\\`*_\[\]|#~]/) { |character| "\\#{character}" }

        # Inside an element, where Markdown's own characters have no meaning.
        def without_markup(text)
          Figures.printable(text).gsub(/[&<>]/, "&" => "&amp;", "<" => "&lt;", ">" => "&gt;").gsub("@", "@\u200b")
        end
      end
    end
  end
end
