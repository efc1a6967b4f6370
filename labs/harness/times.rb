# frozen_string_literal: true

module PumaTuner
  module Lab
    # The table that a proof of blocks ends in: each variant's times and
    # objects, and how many times as fast as the first it is.
    module Times
      module_function

      # @param verdict [Prove::Verdict] of blocks
      # @param title [String]
      # @param heading [String] of the variants' column
      # @return [Table]
      def of(verdict, title:, heading: "variant")
        Table.new(title:,
          headings: [heading, "CPU per iteration", "iterations/s", "objects", "over #{verdict.baseline}"],
          rows: verdict.cells.map { |cell| row(verdict, cell) },
          notes: ["Middle and range of #{verdict.rounds_count} rounds. " \
            "Over #{verdict.baseline}: how many times as fast, with its 95% interval, by CPU time."])
      end

      def row(verdict, cell)
        cpu, iterations, objects = cell.estimates
          .values_at("cpu_per_iteration", "iterations", "allocations_per_iteration")
        speed = Ratios.speed(verdict, of: cell.variant, over: verdict.baseline) unless cell.variant == verdict.baseline
        [cell.variant, Report::Figures.with_range(cpu) { |ns| Units.duration(ns) },
          Report::Figures.with_range(iterations) { |rate| Report::Figures.count(Units.rate(rate)) },
          Report::Figures.count(objects&.value&.round), speed ? Report::Figures.ratio(speed) : "1"]
      end
      private_class_method :row
    end
  end
end
