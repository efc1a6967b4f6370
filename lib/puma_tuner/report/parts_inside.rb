# frozen_string_literal: true

module PumaTuner
  module Report
    # What a part of the budget was itself made of, where it was told apart.
    module PartsInside
      # name: as in the budget; of: the part it lies in; heading: of a column
      Part = Data.define(:name, :of, :heading, :meaning)

      ALL = [
        Part.new(:pool_wait, Parts.find(:lock), "pool in lock", "waiting for a connection pool"),
        Part.new(:gc_waited, Parts.find(:gvl_wait), "gc in gvlwait", "while another thread collected garbage")
      ].freeze

      # Of the wall time; less is not worth a sentence.
      LEAST_RATIO = 0.005

      module_function

      # @param budgets [Array<Measure::Budget>]
      # @return [Array<Part>] that one of them has enough of
      def seen(budgets)
        ALL.select { |part| budgets.any? { |budget| (budget.share_ratio(part.name) || 0) >= LEAST_RATIO } }
      end

      # @param budget [Measure::Budget]
      # @return [Array<String>]
      def sentences(budget)
        seen([budget]).filter_map do |part|
          whole_ns = budget.part_ns(part.of.name)
          "Of #{part.of.word}: #{Units.percent(budget.part_ns(part.name).fdiv(whole_ns))} #{part.meaning}." if whole_ns&.positive?
        end
      end
    end
  end
end
