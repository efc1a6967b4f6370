# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # Where the difference comes from: the mean request of each variant, part by part.
      class Causes < Base
        READING = "each bar is the time of one variant's mean %s, split into what it was doing; all bars are drawn " \
          "to one scale, so that a shorter one took less time. The part that " \
          "shrank or grew is what the change did; where that is queue or gvlwait, others were out of the way sooner " \
            "or later."
        private_constant :READING

        # @param contents [Contents] with a verdict
        def initialize(contents)
          @contents = contents
        end

        # @return [Blocks::Section, nil]
        def section
          causes = Cause.of(@contents)
          return if causes.empty?
          figure = Figure.new(id: "cause", blocks: [Chart.new(:variants, @contents)],
            reading: format(READING, @contents.noun))
          Section.new(id: "where-it-comes-from",
            title: "Cause: where the time of the mean #{@contents.noun} went, and how that changed", brief: :never,
            open: false,
            blocks: [figure, *causes.flat_map { |cause| blocks(cause, several: causes.size > 1) }])
        end

        private

        def blocks(cause, several:)
          columns = [Column.new("part"), Column.new(@contents.verdict.baseline, :duration_with_unit, short: "baseline"),
            Column.new(cause.cell.variant, :duration_with_unit, short: "variant"),
            Column.new("difference", :change_of_duration), Column.new("of all", :percent)]
          rows = [*cause.rows, cause.total].map do |row|
            Row.new([row.part&.word || "all", row.baseline_ns, row.variant_ns, row.difference_ns,
              row.share_ratio || ""], style: (:total unless row.part))
          end
          variant = "#{cause.cell.variant}: " if several
          [Paragraph.new("#{variant}#{cause.sentence}"),
            Folded.new("Part by part#{": #{cause.cell.variant}" if several}",
              [Table.new(columns, rows, style: "dense"), Note.new(cause.note)], open: !several)]
        end
      end
    end
  end
end
