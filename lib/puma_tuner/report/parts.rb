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

      # Which parts a table needs: seen ones, those below what is printed in all rows, those unknown in all rows.
      Sorted = Data.define(:seen, :unseen, :unknown)

      module_function

      # @return [Part]
      def find(name) = ALL.find { |part| part.name == name }

      # Neither threads nor jobs wait in Puma's queue.
      #
      # @return [Array<Part>] with the residual
      def possible(queue: true) = [*ALL, RESIDUAL].reject { |part| part.name == :queue && !queue }

      # @param budget [Probe::Budget]
      # @return [Float, nil]
      def ratio(budget, part)
        return budget.share_ratio(part.name) unless part == RESIDUAL
        budget.residual_ns.fdiv(budget.wall_ns) if budget.wall_ns.positive?
      end

      # @param budgets [Array<Probe::Budget>]
      # @param parts [Array<Part>] to be sorted
      # @return [Sorted]
      def sort(budgets, parts = possible)
        ratios = parts.to_h { |part| [part, budgets.map { |budget| ratio(budget, part) }] }
        unknown = parts.select { |part| ratios[part].all?(&:nil?) }
        seen = (parts - unknown).select do |part|
          ratios[part].any? { |ratio| ratio.nil? || ratio.abs >= ThreadLine::LEAST_PRINTED_RATIO }
        end
        Sorted.new(seen:, unseen: parts - unknown - seen, unknown:)
      end

      # @param parts [Array<Part>] of which
      # @return [Array<Array(Part, Float)>] the largest first, those of a percent and more
      def largest(budget, count, parts = possible)
        parts = parts.filter_map { |part| (ratio = ratio(budget, part)) && [part, ratio] }
        parts.select { |_, ratio| ratio >= 0.01 }.max_by(count, &:last)
      end
    end
  end
end
