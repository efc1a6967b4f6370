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

  # One target, held against what was measured.
  #
  # kind: class of work; metric: that it is of, nil of other things; claim, target: in words
  # value_ratio: what it came to, nil when nothing was measured that it is about; least_ratio, most_ratio: the same, were the truth at the near
  #   or the far end of what was measured; outcome: :met, :missed, :noisy, or :unmeasured
  # cells_count: it rests on so many; missing: those beyond the target, [name, ratio], worst first
  Verdict = Data.define(:kind, :metric, :claim, :target, :value_ratio, :least_ratio, :most_ratio, :outcome, :cells_count, :missing) do
    # By the errors as they are, which a user would have had: noise excuses no miss. And where it leaves open more than the target
    # itself, the target is not met by it either.
    # @param target_ratio [Float]
    def self.at_most(target_ratio, value_ratio:, most_ratio:, **fields)
      outcome = if value_ratio.nil? then :unmeasured
      elsif value_ratio > target_ratio then :missed
      else (most_ratio - value_ratio > target_ratio) ? :noisy : :met
      end
      new(target: "at most #{PumaTuner::Units.percent(target_ratio)}", value_ratio:, most_ratio:, outcome:, **fields)
    end

    # A share that is neither to be too low nor too high. It is missed where its own interval lies outside; where that reaches inside, there were too few cells.
    # @param range [Range] of ratios
    # @param share [PumaTuner::Stats::Estimate, nil]
    def self.within(range, share, **fields)
      outcome = if share.nil? then :unmeasured
      elsif range.cover?(share.value) then :met
      else (share.low > range.end || share.high < range.begin) ? :missed : :noisy
      end
      new(target: "#{PumaTuner::Units.percent(range.begin)} to #{PumaTuner::Units.percent(range.end)}", value_ratio: share&.value, least_ratio: share&.low,
        most_ratio: share&.high, outcome:, missing: [], **fields)
    end

    def missed? = outcome == :missed

    def noisy? = outcome == :noisy

    def unmeasured? = outcome == :unmeasured
  end

  # The targets, for each class of work. Pure.
  module Judge
    GVL_WAIT_NS = 200_000

    Statistic = Data.define(:title, :function) do
      def call(ratios) = function.call(ratios)
    end

    P90 = Statistic.new(title: "90th percentile of errors", function: ->(ratios) { PumaTuner::Stats::Quantile.of(ratios.sort, 0.9) })
    MEDIAN = Statistic.new(title: "median error", function: ->(ratios) { PumaTuner::Stats::Quantile.of(ratios.sort, 0.5) })
    WORST = Statistic.new(title: "worst error", function: ->(ratios) { ratios.max })

    Target = Data.define(:metric, :ratio, :statistic)

    # Per cent of next to nothing mean nothing.
    # @param error [Error]
    # @return [Boolean]
    def self.forgiven?(error) = error.metric == :gvl_wait && error.absolute <= GVL_WAIT_NS

    both = ->(metric, median, p90) { [Target.new(metric:, ratio: median, statistic: MEDIAN), Target.new(metric:, ratio: p90, statistic: P90)] }
    contended = [*both.call(:throughput, 0.05, 0.10), Target.new(metric: :p99, ratio: 0.15, statistic: P90)].freeze
    real = [*both.call(:throughput, 0.05, 0.12), *both.call(:p99, 0.15, 0.30)].freeze

    # There is none for background threads: their errors are told.
    TARGETS = {
      "made" => [*both.call(:throughput, 0.02, 0.05), *both.call(:p50, 0.03, 0.10), *both.call(:p99, 0.08, 0.20),
        Target.new(metric: :gvl_wait, ratio: 0.10, statistic: WORST)].freeze,
      "locks" => contended, "handover" => contended, "real" => real, "real, held out" => real
    }.freeze

    REGRET_RATIO = 0.03
    COVERED_RATIOS = (0.93..0.97)

    # Shown of every class, and what 95% intervals are judged by.
    METRICS = %i[throughput p50 p99 gvl_wait].freeze
    COVERED = %i[throughput p50 p99].freeze

    class << self
      # What a user would have had: of a subject that was recorded with companions, as `tune` does, no cell counts that was predicted without them.
      # @param comparisons [Array<Comparison>] all that was measured, disturbed or not
      # @return [Array<Comparison>]
      def judged(comparisons)
        own = comparisons.reject { |comparison| comparison.cell.level.wrk? }
        with_companions = own.select { |comparison| comparison.recorded.at.companions }.map { |comparison| comparison.cell.subject }.uniq
        own.select { |comparison| comparison.recorded.at.companions || !with_companions.include?(comparison.cell.subject) }
      end

      # @param comparisons [Array<Comparison>] that are judged; those that are held out only when they are to be looked at
      # @param kinds [Array<String>] classes of work that were asked for
      # @param picks [Array<Pick>] of the recommended settings
      # @return [Array<Verdict>]
      def verdicts(comparisons, kinds:, picks: Picks.of(comparisons))
        by_kind = comparisons.group_by(&:kind)
        [*TARGETS.slice(*kinds, *by_kind.keys).flat_map { |kind, targets| targets.map { |target| verdict(kind, target, errors(by_kind.fetch(kind, []), target.metric)) } },
          *kinds.map { |kind| regret(kind, picks.select { |pick| pick.kind == kind }) }.compact,
          *coverage(comparisons, kinds), steady(comparisons)]
      end

      private

      def errors(comparisons, metric) = comparisons.filter_map { |comparison| comparison.errors[metric] }

      def verdict(kind, target, errors)
        missing = errors.filter_map { |error| [error.cell_key, error.ratio] if !forgiven?(error) && error.ratio.abs > target.ratio }
        values = %i[itself least most].to_h { |which| [which, statistic(target, errors, which)] }
        only = ", where it is off by 0.2 ms or more" if target.metric == :gvl_wait
        Verdict.at_most(target.ratio, kind:, metric: target.metric, claim: "#{kind}: #{target.metric.to_s.tr("_", " ")}, #{target.statistic.title}#{only}",
          value_ratio: values[:itself], least_ratio: values[:least], most_ratio: values[:most],
          cells_count: errors.size, missing: missing.sort_by { |_, ratio| -ratio.abs })
      end

      def statistic(target, errors, which)
        ratios = errors.map do |error|
          next 0.0 if forgiven?(error)
          case which
          when :itself then error.ratio.abs
          when :least then error.least_ratio
          when :most then error.most_ratio
          end
        end
        target.statistic.call(ratios) if ratios.any?
      end

      # Nothing is picked among background threads' cells.
      def regret(kind, picks)
        return if kind == "background" && picks.empty?
        worst = ->(end_name) { picks.map { |pick| pick.regret.public_send(end_name) }.max }
        missing = picks.filter_map { |pick| ["#{pick.group}: #{pick.picked} instead of #{pick.needed}", pick.regret.value] if pick.regret.value > REGRET_RATIO }
        Verdict.at_most(REGRET_RATIO, kind:, metric: nil, claim: "#{kind}: throughput lost by the recommended workers x threads, worst", cells_count: picks.size,
          value_ratio: worst.call(:value), least_ratio: worst.call(:low), most_ratio: worst.call(:high), missing: missing.sort_by { |_, ratio| -ratio })
      end

      # How wrong the model is taken to be was set by the made grid, which is no test of it.
      def coverage(comparisons, kinds)
        return [] if (kinds - ["made"]).empty?
        fresh = comparisons.reject { |comparison| comparison.kind == "made" }
        COVERED.map do |metric|
          covered = errors(fresh, metric).map(&:covered?).compact
          share = PumaTuner::Stats::Wilson.interval(covered.count(true), covered.size) if covered.any?
          Verdict.within(COVERED_RATIOS, share, kind: nil, metric:, claim: "all but made: measured #{metric} in the 95% interval", cells_count: covered.size)
        end
      end

      # A load that was served, and was said to have no steady state, or could not be predicted at all.
      def steady(comparisons)
        failed = comparisons.select(&:unpredicted)
        share_ratio = failed.size.fdiv(comparisons.size) if comparisons.any?
        Verdict.at_most(0.0, kind: nil, metric: nil, claim: "cells that were served, and not predicted", value_ratio: share_ratio, least_ratio: share_ratio, most_ratio: share_ratio,
          cells_count: comparisons.size, missing: failed.map { |comparison| ["#{comparison.name}: #{comparison.unpredicted}", 1.0] })
      end
    end
  end
end
