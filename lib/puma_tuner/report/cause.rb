# frozen_string_literal: true

module PumaTuner
  module Report
    # Where a variant's difference comes from: the mean request's budget beside the baseline's, part by part.
    class Cause
      # difference_ns: variant less baseline; share_ratio: of the whole difference, nil where there is next to none
      Row = Data.define(:part, :baseline_ns, :variant_ns, :difference_ns, :share_ratio) do
        # @return [Array<String>] as people read them: the part, both times, their difference, its share of the whole one
        def words
          [part&.word || "all", Units.duration(baseline_ns), Units.duration(variant_ns), Figures.change_ns(difference_ns),
            share_ratio ? "#{Figures.share(share_ratio)}%" : ""]
        end
      end

      # Closer together they took the same time: a short load with the probe tells no more.
      SAME_WITHIN_RATIO = 0.01

      # A part that goes the other way is told from this share of the difference on.
      LEAST_CONTRARY_RATIO = 0.1

      # Metrics that are better when a request takes less time.
      TIMED = %w[throughput p50 p90 p99 p999 iterations].freeze

      # They get longer or shorter because others do.
      WAITING = %i[queue gvl_wait].freeze

      # @param contents [Contents] with a verdict
      # @return [Array<Cause>] of the variants that have a budget beside the baseline's
      def self.of(contents)
        baseline = contents.baseline_cell
        return [] unless baseline&.budget&.wall_ns&.positive?
        contents.other_cells.select { |cell| cell.budget&.wall_ns&.positive? }.map do |cell|
          new(baseline, cell, contents.noun, outcome: outcome(contents.verdict, cell))
        end
      end

      # @return [String, nil] of the primary metric, when it says anything of a request's time
      def self.outcome(verdict, cell)
        verdict.comparison(cell.variant, verdict.primary)&.outcome if TIMED.include?(verdict.primary)
      end
      private_class_method :outcome

      attr_reader :cell

      # @param noun [String] what the budgets are the mean of
      # @param outcome [Symbol, nil] that the rounds showed, if it says anything of time
      def initialize(baseline, cell, noun, outcome: nil)
        @baseline = baseline
        @cell = cell
        @noun = noun
        @outcome = outcome
      end

      # @return [Array<Row>] of the parts that both know and one has something of, as a request meets them
      def rows
        @rows ||= [*known.map { |part| row(part, *budgets.map { |budget| budget.part_ns(part.name) }) }, residual]
          .select { |row| [row.baseline_ns, row.variant_ns].any? { |ns| ns.abs >= total.baseline_ns * ThreadLine::LEAST_PRINTED_RATIO } }
      end

      # @return [Row] of all parts together
      def total
        @total ||= begin
          before, after = budgets.map(&:wall_ns)
          Row.new(part: nil, baseline_ns: before, variant_ns: after, difference_ns: after - before, share_ratio: nil)
        end
      end

      # @return [Array<Parts::Part>] that one of the two could not tell apart
      def unknown = Parts::ALL - known

      # @return [Boolean] whether they took about the same time
      def same? = total.difference_ns.abs < total.baseline_ns * SAME_WITHIN_RATIO

      # @return [String] which part the difference is
      def sentence
        span = "#{Units.duration(total.baseline_ns)} to #{Units.duration(total.variant_ns)}"
        return "The mean #{@noun} took the same time within #{Units.percent(SAME_WITHIN_RATIO)} (#{span}), so there is no part to name." if same?
        return doubt(span) if doubtful?
        "#{[headline(span), contrary, own].compact.join("; ")}."
      end

      # @return [Boolean] whether the time went the other way than what the rounds showed
      def doubtful?
        !same? && {better: total.difference_ns.positive?, worse: total.difference_ns.negative?}.fetch(@outcome, false)
      end

      # @return [String] what the numbers rest on
      def note
        "Of the mean #{@noun}, from a short load with the probe after the counted one." \
          "#{" Unknown: #{Figures.list(unknown.map(&:word))}." if unknown.any?}"
      end

      private

      def budgets = [@baseline.budget, @cell.budget]

      def known = Parts::ALL.select { |part| budgets.all? { |budget| budget.part_ns(part.name) } }

      # Of the parts that both know, so that it means the same in both.
      def residual
        row(Parts::RESIDUAL, *budgets.map { |budget| budget.wall_ns - known.sum { |part| budget.part_ns(part.name) } })
      end

      def row(part, before, after)
        Row.new(part:, baseline_ns: before, variant_ns: after, difference_ns: after - before,
          share_ratio: same? ? nil : (after - before).fdiv(total.difference_ns))
      end

      # No cause is better than a wrong one.
      def doubt(span)
        "The rounds showed #{@cell.variant} to be #{@outcome}, but under the load for the cause the mean #{@noun} took " \
          "#{Units.duration(total.difference_ns.abs)} #{less_or_more(total)} (#{span}): that load was too short, or the machine too busy, to tell the cause."
      end

      def less_or_more(row) = row.difference_ns.negative? ? "less" : "more"

      def headline(span)
        most = rows.max_by(&:share_ratio)
        whole = Units.duration(total.difference_ns.abs)
        amount = Units.duration(most.difference_ns.abs)
        verb = total.difference_ns.negative? ? "saved" : "added"
        what = "#{most.part.word} (#{most.part.meaning})"
        return "Of #{whole} #{verb} per #{@noun} (#{span}), #{amount} are #{what}" if most.share_ratio <= 1
        "#{whole} are #{verb} per #{@noun} (#{span}): #{amount} #{less_or_more(total)} #{what}"
      end

      def contrary
        least = rows.min_by(&:share_ratio)
        return if least.share_ratio > -LEAST_CONTRARY_RATIO
        "#{least.part.word} takes #{Units.duration(least.difference_ns.abs)} #{less_or_more(least)}"
      end

      # What made the waiting shorter or longer.
      def own
        return unless WAITING.include?(rows.max_by(&:share_ratio).part.name)
        most = rows.reject { |row| WAITING.include?(row.part.name) }.max_by(&:share_ratio)
        return unless most&.share_ratio&.positive?
        "waiting follows from the rest, of which #{most.part.word} changed most, by #{Figures.change_ns(most.difference_ns)}"
      end
    end
  end
end
