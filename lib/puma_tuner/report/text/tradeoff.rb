# frozen_string_literal: true

module PumaTuner
  module Report
    class Text
      # Settings between CPU and memory, from the least memory to the most.
      class Tradeoff < Section
        NAME_LENGTH = 44
        BASELINE_LENGTH = 24

        # @param study [Tradeoff::Study]
        def initialize(study, paint)
          super
          @study = study
          @figures = TradeoffFigures.new(study)
        end

        private

        def shown? = true

        def heading = @figures.title

        def lines
          table = table(["", *@figures.headings(shortened(@study.baseline.variant, BASELINE_LENGTH)), "<"])
          @figures.rows.each do |row|
            table << [shortened(row.name, NAME_LENGTH), row.cpu, row.cpu_ratio, row.pss, row.memory_ratio, row.p99, row.code, row.mark]
          end
          [*table.lines, *note(@figures.how_to_read), "", *paragraph(@figures.recommendation), *@figures.settings.flat_map { |line| ["    #{line}"] },
            *@figures.estimate.flat_map { |text| paragraph(text) }, *@figures.remarks.flat_map { |text| note(text) }]
        end
      end
    end
  end
end
