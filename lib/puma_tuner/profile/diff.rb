# frozen_string_literal: true

module PumaTuner
  module Profile
    # One method, or one allocating line, before and after; amounts and counts are of one request or iteration.
    #
    # before, after: nil where it was not seen at all
    # ratio: after over before: exact where every call was followed, else with
    #   what sampling leaves open; nil when one is 0
    # difference: after less before
    # outcome: :cheaper, :dearer, :gone, :new, :same, or :not_shown where sampling can't tell, and where counts are of
    #   work that nobody counted, or of a list that was full
    MethodDiff = Document.define(:name, :path, :before, :after, :difference, :ratio, :outcome, symbols: %i[outcome],
      nested: {ratio: Stats::Estimate})

    # Two profiles by the same profiler and mode, held against each other.
    #
    # before, after: {what: facts of each: "target", "profiler", "work_count",
    #   "samples_count", "total_amount", "recorded_at"}
    # unit: of amounts; per: what they are of: "request", "iteration", or nil when one of both did not count its work,
    #   and amounts are shares of the whole
    # total: of everything; methods: by what each took itself; calls: by how often each was called (empty unless both
    #   followed every call); allocations: by class and line
    CostDiff = Document.define(:before, :after, :unit, :per, :total, :methods, :calls, :allocations, :unknown,
      kind: :profile_diff,
      nested: {total: MethodDiff, methods: [MethodDiff], calls: [MethodDiff], allocations: [MethodDiff],
               unknown: [Unknown]})

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

      # What a list of both profiles says.
      #
      # amounts: of each, {name => [amount, path]}; whole: of each, what its amounts are shares of where nobody counted
      #   the work; hidden: of each, how much one that its list has no room for may have, 0 of a list with room
      Lists = Data.define(:amounts, :whole, :hidden) do
        # @return [Array<String>]
        def names = amounts.flat_map(&:keys).uniq

        # @return [Array(Numeric, Numeric)]
        def amounts_of(name) = amounts.map { |own| own[name]&.first || 0 }

        # @return [String, nil] of its file as it is now
        def path_of(name) = (amounts.last[name] || amounts.first[name]).last
      end
      private_constant :Lists

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

      # @return [Array] what the block makes of each
      def both(&) = [@before, @after].map(&)

      # @param whole [Array<Numeric>]
      # @return [Array<Numeric>] what amounts are divided by
      def exposures(whole) = counted? ? both(&:work_count) : whole.map { |amount| [amount, 1].max }

      def total
        amounts = both(&:total_amount)
        # A profile of objects alone that was written before they were a total.
        amounts = both { |costs| objects_count(costs) } if amounts.all?(&:zero?)
        judged([row("everything", nil, amounts, whole: amounts, samples: samples_of(amounts))]).first
      end

      def objects_count(costs) = costs.allocations.sum { |site| site.objects_count.to_i }

      # The dearest are kept, so that none of those left out has more than the last of them.
      def methods
        hidden = both do |costs|
          (costs.methods.size < Aggregate::METHODS_MAX) ? 0 : costs.methods.last.self_amount
        end
        diffs(Lists.new(amounts: both { |costs| by_name(costs) }, whole: both(&:total_amount), hidden:))
      end

      # @return [Hash{String => Array(Numeric, String)}] self amounts and a path, by name
      def by_name(costs)
        costs.methods.group_by(&:name).transform_values { |same| [same.sum(&:self_amount), same.first.path] }
      end

      def calls
        return [] unless [@before, @after].all?(&:traced?)
        amounts = both do |costs|
          costs.methods.select(&:calls_count).group_by(&:name).transform_values do |same|
            [same.sum(&:calls_count), same.first.path]
          end
        end
        counts(amounts) { |costs| costs.methods.size >= Aggregate::METHODS_MAX }
      end

      def allocations
        amounts = both do |costs|
          costs.allocations
            .group_by { |site| [site.class_name, site.path && File.basename(site.path)].compact.join(" ") }
            .transform_values { |same| [same.sum { |site| site.objects_count.to_i }, same.first.path] }
        end
        counts(amounts) { |costs| costs.allocations.size >= Aggregate::SITES_MAX }
      end

      # Counts say nothing of each other where nobody knows of how much work they are: then they are shares, and no
      # outcome is called. A list that is full tells nothing of what is not in it, however much of it there was: methods
      # are kept by what they took and not by their calls, and of a class in a file there may be many lines.
      #
      # @yieldparam costs [Costs]
      # @yieldreturn [Boolean] whether its list is full
      def counts(amounts, &full)
        hidden = both { |costs| full.call(costs) ? Float::INFINITY : 0 }
        whole = amounts.map { |own| own.each_value.sum(&:first) }
        rows = diffs(Lists.new(amounts:, whole:, hidden:), exact: true)
        counted? ? rows : rows.map { |diff| diff.with(outcome: :not_shown) }
      end

      # @param lists [Lists]
      def diffs(lists, exact: false)
        rows = lists.names.filter_map do |name|
          amounts = lists.amounts_of(name)
          next if amounts.all?(&:zero?)
          row(name, lists.path_of(name), amounts, whole: lists.whole, hidden: lists.hidden,
            samples: exact ? nil : samples_of(amounts))
        end
        judged(rows).sort_by { |diff| [-diff.difference.abs, diff.name] }.first(ROWS_MAX)
      end

      # @return [Array(Float, Float), nil] samples that the amounts stand for; nil where every call was followed
      def samples_of(amounts)
        [@before, @after].zip(amounts).map { |costs, amount| costs.samples_of(amount) || 0 } unless @before.traced?
      end

      def row(name, path, amounts, whole:, samples:, hidden: [0, 0])
        before, after = amounts.zip(exposures(whole)).map { |amount, exposure| amount.fdiv(exposure) }
        ratio = samples ? Stats::RateRatio.of(samples, samples_exposures) : exact_ratio(before, after)
        MethodDiff.new(name:, path:, before: before.zero? ? nil : before, after: after.zero? ? nil : after,
          difference: after - before, ratio: (ratio if ratio&.high&.finite?),
          outcome: samples ? p_value(samples) : exact_outcome(before, after, hidden.zip(exposures(whole))))
      end

      # Of so many samples: the work, in units of what one sample stands for, as an interval may be longer for one than
      # for the other, and may differ from file to file. So the rates of samples are those of amounts.
      def samples_exposures
        return both(&:samples_count) unless counted?
        amounts = both { |costs| sample_amount(costs) }
        both(&:work_count).zip(amounts).map { |count, amount| count.fdiv(amount || amounts.compact.first || 1) }
      end

      # @return [Float, nil] nil of a profile in which nothing counts
      def sample_amount(costs)
        costs.total_amount.fdiv(costs.samples_count) if costs.total_amount.positive? && costs.samples_count.positive?
      end

      def p_value(samples) = Stats::RateRatio.p_value(samples, samples_exposures)

      def exact_ratio(before, after)
        if before.positive? && after.positive?
          Stats::Estimate.new(value: after / before, low: after / before, high: after / before, level_ratio: nil,
            samples_count: nil)
        end
      end

      # @param hidden [Array<Array(Numeric, Numeric)>] how much there may have been though it is not listed, and the
      #   exposure, before and after
      def exact_outcome(before, after, hidden)
        return :same if before == after
        most_before, most_after = hidden.map { |amount, exposure| amount.fdiv(exposure) }
        return absent_outcome(after, most_before, :new, :dearer) if before.zero?
        return absent_outcome(before, most_after, :gone, :cheaper) if after.zero?
        return :same if (after / before - 1).abs <= SAME_RATIO
        (after < before) ? :cheaper : :dearer
      end

      # @param most [Float] that the other one may have had
      # @param absent [Symbol] when it had nothing; less: when it had less, and perhaps something
      def absent_outcome(amount, most, absent, less)
        return absent if most.zero?
        (amount > most) ? less : :not_shown
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
