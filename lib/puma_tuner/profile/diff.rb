# frozen_string_literal: true

module PumaTuner
  module Profile
    # Two Costs -> CostDiff: what got cheaper and what dearer.
    #
    # Methods are known by name alone, as a file moves with its gem's version. Of sampled profiles a difference is
    # called only where chance would make it once in twenty comparisons of all methods together (Holm); samples are
    # taken as independent, which is generous where a profile holds few requests.
    class Diff
      LEVEL_RATIO = 0.95

      # Where nothing is left to chance, smaller differences count as none: clocks have their grain.
      SAME_RATIO = 0.02

      ROWS_MAX = 400

      # @param before [Costs]
      # @param after [Costs]
      def initialize(before, after)
        @before = before
        @after = after
        ensure_comparable
      end

      # @return [CostDiff]
      def call
        CostDiff.new(before: facts(@before), after: facts(@after), unit: @before.unit, per:, total:, methods: methods,
          calls:, allocations:, unknown:)
      end

      private

      def ensure_comparable
        return if %i[profiler mode unit traced?].all? { |what| @before.public_send(what) == @after.public_send(what) }
        raise UsageError, "a profile by #{@before.profiler} (#{@before.mode}) and one by #{@after.profiler} " \
          "(#{@after.mode}) measure different things. Take both with the same profiler and mode."
      end

      def facts(costs)
        {"target" => costs.target, "profiler" => "#{costs.profiler} #{costs.profiler_version}, #{costs.mode}",
         "work_count" => costs.work_count, "samples_count" => costs.samples_count,
         "total_amount" => costs.total_amount, "recorded_at" => costs.recorded_at}
      end

      # @return [Boolean] whether both know how many requests they are about
      def counted?
        [@before, @after].all? { |costs| costs.work_count&.positive? } && @before.work_noun == @after.work_noun
      end

      def per = (@before.work_noun if counted?)

      def unknown
        counted? ? [] : [Unknown.of(:per_request, :one_not_counted)]
      end

      # @return [Numeric] what an amount is divided by
      def exposure(costs) = counted? ? costs.work_count : [costs.total_amount, 1].max

      def total
        amounts = [@before.total_amount, @after.total_amount]
        row("everything", nil, amounts, samples: samples_of(amounts)).then { |diff| judged([diff]).first }
      end

      def methods = diffs(by_name(@before), by_name(@after))

      # @return [Hash{String => Array(Numeric, String)}] self amounts and a path, by name
      def by_name(costs)
        costs.methods.group_by(&:name).transform_values { |same| [same.sum(&:self_amount), same.first.path] }
      end

      def calls
        return [] unless [@before, @after].all?(&:traced?)
        before, after = [@before, @after].map do |costs|
          costs.methods.select(&:calls_count).group_by(&:name).transform_values do |same|
            [same.sum(&:calls_count), same.first.path]
          end
        end
        diffs(before, after, exact: true)
      end

      def allocations
        before, after = [@before, @after].map do |costs|
          costs.allocations
            .group_by { |site| [site.class_name, site.path && File.basename(site.path)].compact.join(" ") }
            .transform_values { |same| [same.sum { |site| site.objects_count.to_i }, same.first.path] }
        end
        diffs(before, after, exact: true)
      end

      def diffs(before, after, exact: false)
        rows = (before.keys | after.keys).filter_map do |name|
          amounts = [before, after].map { |all| all[name]&.first || 0 }
          next if amounts.all?(&:zero?)
          row(name, (after[name] || before[name]).last, amounts, samples: exact ? nil : samples_of(amounts))
        end
        judged(rows).sort_by { |diff| [-diff.difference.abs, diff.name] }.first(ROWS_MAX)
      end

      # @return [Array(Float, Float), nil] samples that the amounts stand for; nil where every call was followed
      def samples_of(amounts)
        [@before, @after].zip(amounts).map { |costs, amount| costs.samples_of(amount) || 0 } unless @before.traced?
      end

      def row(name, path, amounts, samples:)
        before, after = [[@before, amounts.first], [@after, amounts.last]].map do |costs, amount|
          amount.fdiv(exposure(costs))
        end
        ratio = samples ? Stats::RateRatio.of(samples, exposures) : exact_ratio(before, after)
        MethodDiff.new(name:, path:, before: before.zero? ? nil : before, after: after.zero? ? nil : after,
          difference: after - before, ratio: (ratio if ratio&.high&.finite?),
          outcome: samples ? p_value(samples) : exact_outcome(before, after))
      end

      # An interval may be longer for one than for the other.
      def exposures
        [@before, @after].map { |costs| counted? ? costs.work_count.fdiv(costs.interval_ns || 1) : costs.samples_count }
      end

      def p_value(samples) = Stats::RateRatio.p_value(samples, exposures)

      def exact_ratio(before, after)
        if before.positive? && after.positive?
          Stats::Estimate.new(value: after / before, low: after / before, high: after / before, level_ratio: nil,
            samples_count: nil)
        end
      end

      def exact_outcome(before, after)
        return :same if before == after
        return :new if before.zero?
        return :gone if after.zero?
        return :same if (after / before - 1).abs <= SAME_RATIO
        (after < before) ? :cheaper : :dearer
      end

      # The outcome of sampled rows is a p-value until all of them are known.
      def judged(rows)
        sampled = rows.select { |diff| diff.outcome.is_a?(Float) }
        adjusted = Stats::Holm.adjust(sampled.to_h { |diff| [diff, diff.outcome] })
        rows.map { |diff| adjusted.key?(diff) ? diff.with(outcome: sampled_outcome(diff, adjusted[diff])) : diff }
      end

      def sampled_outcome(diff, p_value)
        return :not_shown if p_value > 1 - LEVEL_RATIO
        return :new unless diff.before
        return :gone unless diff.after
        (diff.difference < 0) ? :cheaper : :dearer
      end
    end
  end
end
