# frozen_string_literal: true

require_relative "comparison"

module Validation
  # Who relies on predictions picks the topology with the best one; what is lost by that, where another was measured to be better.
  #
  # Only cells of one subject and one level of a closed loop are held against each other: their loads are made alike.
  # group: of which; predicted, best: topologies, the picked one and the one measured best; regret_ratio: of the throughput;
  # beyond_ratio: what the measurements' own intervals leave of it; formula: whose pick
  Pick = Data.define(:group, :formula, :predicted, :best, :topologies_count, :regret_ratio, :beyond_ratio) do
    def right? = predicted == best
  end

  # All of them.
  module Picks
    # @param comparisons [Array<Comparison>] valid ones
    # @param formula [String, nil] of Comparison::FORMULAS; nil: the simulation
    # @return [Array<Pick>]
    def self.of(comparisons, formula: nil)
      closed = comparisons.reject { |comparison| comparison.cell.level.open? }
      closed.group_by { |comparison| [comparison.cell.subject, comparison.cell.level] }.filter_map do |(subject, level), group|
        errors = group.filter_map { |comparison| error(comparison, formula)&.then { |error| [comparison.cell.topology, error] } }
        pick("#{subject.key}, #{level}", formula, errors) if errors.size > 1
      end
    end

    def self.error(comparison, formula) = formula ? comparison.formula_errors[formula] : comparison.errors[:throughput]
    private_class_method :error

    # Of equal predictions the fewest slots: they cost the least.
    def self.pick(group, formula, errors)
      predicted, picked = errors.max_by { |topology, error| [error.predicted_value, -topology.slots_count] }
      best, measured = errors.max_by { |_, error| error.measured.value }
      Pick.new(group:, formula:, predicted:, best:, topologies_count: errors.size, regret_ratio: 1 - picked.measured.value / measured.measured.value,
        beyond_ratio: [1 - picked.measured.high / measured.measured.low, 0].max)
    end
    private_class_method :pick
  end
end
