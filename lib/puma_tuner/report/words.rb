# frozen_string_literal: true

module PumaTuner
  module Report
    # A table's values in words, by what kind of number they are. A value is nil (unknown), a String, a number or a
    # Stats::Estimate.
    module Words
      # narrow: whether the unit stands above the column
      KINDS = {
        text: ->(value, _) { value.to_s },
        # Words with numbers in them.
        figure: ->(value, _) { value.to_s },
        count: ->(number, _) { Figures.count(number) },
        decimal: ->(number, _) { Units.significant(number) },
        duration: ->(ns, narrow) { narrow ? Units.milliseconds(ns) : Units.duration(ns) },
        # Where the rows' units differ.
        duration_with_unit: ->(ns, _) { Units.duration(ns) },
        # Beneath a name that has no room for the unit.
        milliseconds: ->(ns, _) { Units.milliseconds(ns) },
        change_of_duration: ->(ns, _) { Figures.change_ns(ns) },
        rate: ->(per_s, _) { Units.rate(per_s) },
        share: ->(ratio, narrow) { "#{Figures.share(ratio)}#{"%" unless narrow}" },
        percent: ->(ratio, _) { Units.percent(ratio).sub(/\A-(?=0\.0%)/, "") },
        error: ->(ratio, _) { Figures.error(ratio) },
        cores: ->(number, _) { Figures.cores(number) },
        mebibytes: ->(bytes, _) { Units.mebibytes(bytes) },
        mib: ->(bytes, _) { Figures.mib(bytes) },
        outcome: ->(outcome, _) { Figures.outcome(outcome) }
      }.freeze

      # Above a column whose cells then have none.
      UNITS_ABOVE = {duration: "ms"}.freeze

      # Kinds that are text, and stand left.
      LEFT = %i[text outcome].freeze

      module_function

      # @param column [Blocks::Column]
      # @return [String] its name, with the unit that its cells lack
      def heading(column, narrow:, name: column.name)
        unit = UNITS_ABOVE[column.kind] if narrow && !name.empty?
        [name, *unit].join(" ")
      end

      # @param cell [Object] a value, or a Blocks::Cell
      # @param column [Blocks::Column]
      # @param narrow [Boolean] whether units stand above the columns where they can
      # @param range [Boolean] whether estimates are told with their range also where the column asks for the middle
      # @return [String]
      def cell(cell, column, narrow:, range: true)
        value, kind = cell.is_a?(Blocks::Cell) ? [cell.value, cell.kind || column.kind] : [cell, column.kind]
        case value
        when nil then "-"
        when String then value
        when Stats::Estimate then estimate(value, kind, narrow, range || !column.middle)
        else number(value, kind, narrow)
        end
      end

      # @return [Numeric, nil] by which a cell is sorted
      def sort_number(cell)
        cell, number = [cell.value, cell.number] if cell.is_a?(Blocks::Cell)
        case cell
        when Stats::Estimate then cell.value
        when Numeric then cell
        else number
        end
      end

      def estimate(estimate, kind, narrow, range)
        return Figures.ratio(estimate) if kind == :ratio
        return number(estimate.value, kind, narrow) unless range
        Figures.with_range(estimate) { |one| number(one, kind, narrow) }
      end

      # Of what a proof measures, the metric is the kind.
      def number(number, kind, narrow)
        kind.is_a?(Prove::Metric) ? Figures.number(kind, number) : KINDS.fetch(kind).call(number, narrow)
      end

      private_class_method :estimate, :number
    end
  end
end
