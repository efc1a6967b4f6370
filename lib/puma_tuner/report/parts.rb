# frozen_string_literal: true

module PumaTuner
  module Report
    # The parts of a budget as people are shown them: in the order in which a request meets them, with what each means.
    module Parts
      Part = Data.define(:name, :word, :meaning)

      ALL = [
        Part.new(:queue, "queue", "in Puma, waiting for a pool thread"),
        Part.new(:gvl_wait, "gvlwait", "could run, waits for the GVL"),
        Part.new(:preempted, "preempted", "has the GVL, is not on a core"),
        Part.new(:cpu, "cpu", "computes, on a core"),
        Part.new(:gc, "gc", "runs the garbage collector"),
        Part.new(:io, "io", "waits for a socket, a file or a database"),
        Part.new(:lock, "lock", "waits for a Mutex, a Queue or a connection pool"),
        Part.new(:sleep, "sleep", "waits in Kernel#sleep")
      ].freeze

      RESIDUAL = Part.new(:residual, "residual", "in no part that is known")

      module_function

      # @param budget [Measure::Budget]
      # @return [Float, nil]
      def ratio(budget, part)
        return budget.share_ratio(part.name) unless part == RESIDUAL
        budget.residual_ns.fdiv(budget.wall_ns) if budget.wall_ns.positive?
      end

      # @param budgets [Array<Measure::Budget>]
      # @return [Array(Array<Part>, Array<Part>)] what is seen in any of them or unknown in one, and what is not
      def seen_and_unseen(budgets)
        [*ALL, RESIDUAL].partition do |part|
          budgets.any? { |budget| (ratio = ratio(budget, part)).nil? || ratio.abs >= ThreadLine::LEAST_PRINTED_RATIO }
        end
      end

      # @return [Array<Array(Part, Float)>] the largest first, those of a percent and more
      def largest(budget, count)
        parts = [*ALL, RESIDUAL].filter_map { |part| (ratio = ratio(budget, part)) && [part, ratio] }
        parts.select { |_, ratio| ratio >= 0.01 }.max_by(count, &:last)
      end
    end
  end
end
