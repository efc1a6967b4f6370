# frozen_string_literal: true

module PumaTuner
  module Report
    # The difference of two texts as `diff -u` writes it, for people and for `git apply`.
    class UnifiedDiff
      CONTEXT_COUNT = 3

      # Longer texts would take seconds; of these, everything is replaced.
      MOST_CELLS = 4_000_000

      # @param path [String] of both
      # @param before [String, nil] nil: there is no such file
      # @param after [String]
      def initialize(path, before, after)
        @path = path
        @new = before.nil?
        @before, @after = before.to_s.lines, after.lines
      end

      # @return [String] empty where nothing differs
      def to_s
        hunks = hunks()
        return "" if hunks.empty?
        from = @new ? File::NULL : "a/#{@path}"
        "--- #{from}\n+++ b/#{@path}\n#{hunks.map { |hunk| text(hunk) }.join}"
      end

      private

      # One line of the result. mark: " ", "-" or "+"; old_index, new_index: lines of either text before it
      Line = Data.define(:mark, :text, :old_index, :new_index)
      private_constant :Line

      # @return [Array<Array<Line>>] changes with lines around them
      def hunks
        changed = lines.each_index.reject { |index| lines[index].mark == " " }
        changed.slice_when { |one, other| other - one > 2 * CONTEXT_COUNT }.map do |group|
          lines[[group.first - CONTEXT_COUNT, 0].max..group.last + CONTEXT_COUNT]
        end
      end

      def text(hunk)
        old_count, new_count = [" -", " +"].map { |marks| hunk.count { |line| marks.include?(line.mark) } }
        "@@ -#{span(hunk.first.old_index, old_count)} +#{span(hunk.first.new_index, new_count)} @@\n" +
          hunk.map { |line| "#{line.mark}#{whole(line.text)}" }.join
      end

      # An empty span is told by the line before it.
      def span(index, count) = "#{count.zero? ? index : index + 1}#{",#{count}" unless count == 1}"

      def whole(text) = text.end_with?("\n") ? text : "#{text}\n\\ No newline at end of file\n"

      def lines
        old = new = 0
        @lines ||= marks.map do |mark|
          line = Line.new(mark, (mark == "+") ? @after[new] : @before[old], old, new)
          old += 1 unless mark == "+"
          new += 1 unless mark == "-"
          line
        end
      end

      # By the longest common subsequence (Wagner and Fischer, "The string-to-string correction problem", 1974).
      def marks
        return ["-"] * @before.size + ["+"] * @after.size if @before.size * @after.size > MOST_CELLS
        lengths = lengths()
        marks, old, new = [], 0, 0
        while old < @before.size && new < @after.size
          if @before[old] == @after[new] then marks << " " && (old += 1) && (new += 1)
          elsif lengths[old + 1][new] >= lengths[old][new + 1] then marks << "-" && (old += 1)
          else marks << "+" && (new += 1)
          end
        end
        marks + ["-"] * (@before.size - old) + ["+"] * (@after.size - new)
      end

      # @return [Array<Array<Integer>>] of what is left from each line on of either text
      def lengths
        table = Array.new(@before.size + 1) { Array.new(@after.size + 1, 0) }
        (@before.size - 1).downto(0) do |old|
          (@after.size - 1).downto(0) do |new|
            table[old][new] = if @before[old] == @after[new] then table[old + 1][new + 1] + 1
            else [table[old + 1][new], table[old][new + 1]].max
            end
          end
        end
        table
      end
    end
  end
end
