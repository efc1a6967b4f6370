# frozen_string_literal: true

module PumaTuner
  module Prove
    # One part of the mean request's time, for the baseline and for a variant.
    #
    # part: a name in Probe::Parts, or :residual; nil of all of them together
    # difference_ns: variant less baseline; share_ratio: of the whole difference, nil where there is next to none
    CausePart = Document.define(:part, :baseline_ns, :variant_ns, :difference_ns, :share_ratio, symbols: %i[part])

    # The cause of a variant's difference: the mean request's budget beside the baseline's, part by part. It follows
    # from a verdict, and stands in its JSON for programs.
    #
    # parts: that both know, and the residual; total: of all of them
    # unknown: names of parts that one of the two could not tell apart
    # outcome: what the rounds showed in the primary metric, if that says anything of a request's time; else nil
    # same: whether both took about the same time, so that there is no part to name
    # doubtful: whether the time went the other way than what the rounds showed, so that no cause is named
    # main: the part that makes most of the difference; contrary: one that clearly goes the other way, nil without
    # behind: the part that changed most of those that are no waiting, where main is: waiting follows from it
    Cause = Document.define(:variant, :parts, :total, :unknown, :outcome, :same, :doubtful, :main, :contrary, :behind,
      nested: {parts: [CausePart], total: CausePart}, symbols: %i[outcome main contrary behind])

    class Cause
      # Closer together they took the same time: a short load with the probe tells no more.
      SAME_WITHIN_RATIO = 0.01

      # A part that goes the other way is told from this share of the difference on.
      LEAST_CONTRARY_RATIO = 0.1

      # Waiting is not said to follow from a part that makes less of the difference. This is a judgement.
      LEAST_BEHIND_RATIO = 0.02

      # Metrics, besides latencies, that are better when a request takes less time.
      TIMED = %w[throughput iterations].freeze

      # They get longer or shorter because others do.
      WAITING = %i[queue gvl_wait].freeze
      private_constant :TIMED, :WAITING

      class << self
        # @param verdict [Verdict]
        # @return [Array<Cause>] of the variants that have a budget beside the baseline's
        def of(verdict)
          baseline = verdict.baseline_cell
          return [] unless timed?(baseline)
          verdict.other_cells.select { |cell| timed?(cell) }.map { |cell| between(verdict, baseline, cell) }
        end

        private

        def timed?(cell) = cell&.budget&.wall_ns&.positive?

        def between(verdict, baseline, cell)
          budgets = [baseline.budget, cell.budget]
          known = Probe::Parts::REQUEST.select { |part| budgets.all? { |budget| budget.part_ns(part) } }
          total = part(nil, *budgets.map(&:wall_ns), nil)
          same = total.difference_ns.abs < total.baseline_ns * SAME_WITHIN_RATIO
          parts = parts(known, budgets, (total.difference_ns unless same))
          outcome = verdict.comparison(cell.variant, verdict.primary)&.outcome if timed_metric?(verdict)
          doubtful = !same && {better: total.difference_ns.positive?, worse: total.difference_ns.negative?}
            .fetch(outcome, false)
          new(variant: cell.variant, parts:, total:, unknown: Probe::Parts::REQUEST - known, outcome:, same:, doubtful:,
            **(same ? {main: nil, contrary: nil, behind: nil} : named(parts)))
        end

        def timed_metric?(verdict)
          TIMED.include?(verdict.primary) ||
            verdict.metrics.any? { |metric| metric.name == verdict.primary && metric.percentile }
        end

        # The residual is of the parts that both know, so that it means the same in both.
        def parts(known, budgets, whole_ns)
          residual = budgets.map { |budget| budget.wall_ns - known.sum { |name| budget.part_ns(name) } }
          [*known.map { |name| part(name, *budgets.map { |budget| budget.part_ns(name) }, whole_ns) },
            part(:residual, *residual, whole_ns)]
        end

        def part(part, baseline_ns, variant_ns, whole_ns)
          difference_ns = variant_ns - baseline_ns
          share_ratio = difference_ns.fdiv(whole_ns) if whole_ns
          CausePart.new(part:, baseline_ns:, variant_ns:, difference_ns:, share_ratio:)
        end

        def named(parts)
          main = parts.max_by(&:share_ratio)
          least = parts.min_by(&:share_ratio)
          own = parts.reject { |part| WAITING.include?(part.part) }.max_by(&:share_ratio)
          {main: main.part, contrary: (least.part if least.share_ratio <= -LEAST_CONTRARY_RATIO),
           behind: (own.part if WAITING.include?(main.part) && own.share_ratio >= LEAST_BEHIND_RATIO)}
        end
      end

      # @param name [Symbol, nil]
      # @return [CausePart, nil]
      def part(name) = parts.find { |part| part.part == name }
    end
  end
end
