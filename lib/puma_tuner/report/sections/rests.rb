# frozen_string_literal: true

module PumaTuner
  module Report
    module Sections
      # How it was measured, and all that speaks against it.
      class Rests < Base
        # @param contents [Contents] with a verdict
        def initialize(contents)
          @how = HowMeasured.new(contents)
        end

        # @return [Blocks::Section]
        def section
          rows = {**@how.table, "void rounds" => @how.voids, "not steady" => @how.unsteady, "remarks" => @how.remarks}
          Section.new(id: "how-measured", title: "What the proof rests on", brief: :never, open: false,
            blocks: [Labelled.new(rows), *noise])
        end

        private

        def noise
          return [] if @how.noise.empty?
          columns = [Column.new("noise: equal variants", length: 30), Column.new("ratio", :figure),
            Column.new("of a pair", :figure, "standard deviation of one pair's ratio"),
            Column.new("shows from", :figure, "the smallest change that as many rounds as planned can show")]
          [Table.new(columns, @how.noise.map { |noise| Row.new(noise.to_h.values) }, style: "noise"),
            Note.new("Two equal variants, before the rounds. Of a pair: standard deviation of one pair's ratio. " \
              "Shows from: the smallest change that as many rounds as planned can show.")]
        end
      end
    end
  end
end
