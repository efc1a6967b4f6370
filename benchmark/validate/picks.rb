# frozen_string_literal: true

require_relative "comparison"

module Validation
  # Who relies on predictions takes the settings that are recommended; what is lost by that, where others were measured to be better.
  # The simulation's are those that `puma_tuner` recommends (Advise::Advisor); a formula's, and those that were needed, are the fewest slots whose throughput
  # comes within EQUAL_RATIO of the best.
  #
  # kind: class of work; group: which grid, and from which recording; formula: whose pick, nil for the simulation's; picked; needed: from what was measured
  # topologies_count: to pick from; regret: Estimate of the throughput lost by it, of the best one measured
  Pick = Data.define(:kind, :group, :formula, :picked, :needed, :topologies_count, :regret) do
    # @return [Boolean] as good as the best, with no slot more than that takes
    def right? = regret.value <= Picks::EQUAL_RATIO && picked.slots_count <= needed.slots_count

    # @return [Integer] slots more than needed; negative: fewer
    def spare_count = picked.slots_count - needed.slots_count
  end

  # All of them: one for each recording of a subject whose cells have the same clients.
  module Picks
    EQUAL_RATIO = 0.03

    # With fewer settings there is little to pick wrongly.
    LEAST_SETTINGS_COUNT = 8

    class << self
      # Cells that are held out have been measured as all others, and their settings can be the best: what is lost by a pick tells nothing else of them.
      # @param comparisons [Array<Comparison>]
      # @param formula [String, nil] of Comparison::FORMULAS; nil: the simulation
      # @return [Array<Pick>]
      def of(comparisons, formula: nil)
        same = comparisons.select { |comparison| comparison.cell.level.same_clients? && comparison.measured.throughput }
        groups = same.group_by { |comparison| [comparison.cell.subject, comparison.cell.level, comparison.recorded] }
        groups.filter_map { |_, group| pick(formula, group) if group.size >= LEAST_SETTINGS_COUNT }
      end

      private

      # Settings that could not be predicted can't be picked, but can have been the best.
      def pick(formula, group)
        picked = formula ? best_by(formula, group) : advised(group)
        return unless picked
        needed = fewest_slots(group.to_h { |comparison| [comparison, comparison.measured.throughput.value] })
        Pick.new(kind: group.first.cell.subject.workload.kind, group: group_name(group.first), formula:, picked: picked.cell.topology, needed: needed.cell.topology, topologies_count: group.size,
          regret: Regret.of(picked.measured, group.map(&:measured)))
      end

      def group_name(comparison) = [comparison.cell.subject.key, ("by wrk" if comparison.cell.level.wrk?), "from #{comparison.recorded.at}"].compact.join(" ")

      def advised(group) = group.find { |comparison| comparison.cell.topology == comparison.recorded.advised }

      def best_by(formula, group)
        predicted = group.to_h { |comparison| [comparison, comparison.formula_errors[formula]&.predicted_value] }.compact
        fewest_slots(predicted) if predicted.any?
      end

      # @param throughputs [Hash{Comparison => Float}]
      def fewest_slots(throughputs)
        least = throughputs.values.max * (1 - EQUAL_RATIO)
        throughputs.select { |_, per_s| per_s >= least }.min_by { |comparison, per_s| [comparison.cell.topology.slots_count, -per_s] }.first
      end
    end
  end

  # What is lost by a setting, of the throughput of the best one; with the interval that the repeats leave open.
  #
  # Each setting's mean logarithm is drawn around what its repeats gave, with the scatter that all settings' repeats have in common (Student's t, as that
  # scatter is itself measured), and the best setting is looked for anew in each draw: the highest of many measured values is too high by chance.
  module Regret
    DRAWS_COUNT = 2_000
    LEVEL_RATIO = 0.95

    class << self
      # @param picked [Measured]
      # @param group [Array<Measured>] all settings, picked among them
      # @return [PumaTuner::Stats::Estimate] of 0..1; from nothing to everything where no setting has two repeats
      def of(picked, group)
        value = 1 - picked.throughput.value / group.map { |measured| measured.throughput.value }.max
        low, high = interval(picked, group)
        PumaTuner::Stats::Estimate.new(value:, low: [low, value].min, high: [high, value].max, level_ratio: LEVEL_RATIO, samples_count: group.size)
      end

      private

      def interval(picked, group)
        logarithms = group.map { |measured| measured.throughputs_per_s.map { |per_s| Math.log(per_s) } }
        freedom = logarithms.sum { |values| values.size - 1 }
        return [0.0, 1.0] if freedom.zero?
        means = logarithms.map { |values| values.sum / values.size }
        deviation = Math.sqrt(logarithms.zip(means).sum { |values, mean| values.sum { |value| (value - mean)**2 } } / freedom)
        draws = draws(means, logarithms.map { |values| deviation / Math.sqrt(values.size) }, freedom, group.index(picked))
        [(1 - LEVEL_RATIO) / 2, (1 + LEVEL_RATIO) / 2].map { |ratio| PumaTuner::Stats::Quantile.of(draws, ratio) }
      end

      # @return [Array<Float>] of the regret, ascending
      def draws(means, deviations, freedom, picked)
        random = Random.new(1)
        Array.new(DRAWS_COUNT) {
          wider = Math.sqrt(freedom / Array.new(freedom) { normal(random)**2 }.sum)
          drawn = means.zip(deviations).map { |mean, deviation| mean + deviation * wider * normal(random) }
          1 - Math.exp(drawn.fetch(picked) - drawn.max)
        }.sort
      end

      # Box and Muller, Annals of Mathematical Statistics 29 (1958), 610-611.
      def normal(random) = Math.sqrt(-2 * Math.log(1 - random.rand)) * Math.cos(2 * Math::PI * random.rand)
    end
  end
end
