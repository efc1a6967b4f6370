# frozen_string_literal: true

module PumaTuner
  module Prove
    # The expectations that somebody has of a proof, in words, and whether they were shown. Several must all be shown,
    # so each keeps the level of its interval: no correction for their number is needed (Berger, "Multiparameter
    # hypothesis testing and acceptance sampling", 1982).
    class Expectations
      UNDERSTOOD = <<~TEXT.chomp
        Write "METRIC >= 1.2" or "METRIC <= 0.9" (variant over baseline), "METRIC better", "METRIC worse",
        "METRIC equivalent" or "METRIC not worse"; or "90% < 300ms", a goal for the latency itself, of any percentage
        above 0 and below 100 of the requests, in ms or s; with "VARIANT: " in front, it is about that variant only.
      TEXT

      PATTERN = /\A(?:(?<variant>\S.*?):\s+)?(?<metric>[a-z]\w*(?:\.\d+)?)\s*
        (?:(?<bound>>=|<=)\s*(?<ratio>\d*\.?\d+)|\b(?<outcome>better|worse|equivalent|not\s+worse))\z/x

      # Nobody means a bound beyond: it is a time without its unit.
      RATIOS = {at_least: 0.1..100, at_most: 0.01..10}.freeze

      # An objective of one endpoint reads like this.
      OF_ALL_REQUESTS = " A load does not see which endpoint a request is of, so a goal is of all requests: send one " \
        "endpoint's alone, with --path."

      # variant: nil for every one; claim: an outcome, :not_worse, :at_least, :at_most or :goal; ratio: of :at_least and
      #   :at_most, else nil; limit_ns: of :goal, else nil
      Wanted = Data.define(:text, :variant, :metric, :claim, :ratio, :limit_ns) do
        def initialize(ratio: nil, limit_ns: nil, **fields) = super
      end

      # @param texts [Array<String>]
      # @param metrics [Array<Metric>] that there can be
      # @return [Expectations]
      # @raise [UsageError] on the first that is not understood
      def self.parse(texts, metrics: Metric::SERVED | Metric::BLOCK)
        new(texts.map { |text| of_goal(text, metrics) || of_metric(text, metrics) })
      end

      def self.of_goal(text, metrics)
        goal = Goal.read(text) or return
        Wanted.new(text: text.strip, variant: goal.endpoint, metric: metric_named(text, goal.percentile, metrics).name,
          claim: :goal, limit_ns: goal.limit_ns)
      end
      private_class_method :of_goal

      def self.of_metric(text, metrics)
        match = PATTERN.match(text.strip) or raise UsageError, "#{text.inspect} is not an expectation. #{UNDERSTOOD}"
        Wanted.new(text: text.strip, variant: match[:variant], metric: metric_named(text, match[:metric], metrics).name,
          claim: claim(match), ratio: match[:ratio]&.then { |words| ratio(text, words, claim(match)) })
      end
      private_class_method :of_metric

      def self.ratio(text, words, claim)
        return words.to_f if RATIOS.fetch(claim).cover?(words.to_f)
        raise UsageError, "#{text.inspect} is about #{words} times the baseline's. #{UNDERSTOOD}"
      end
      private_class_method :ratio

      def self.claim(match)
        return (match[:bound] == ">=") ? :at_least : :at_most if match[:bound]
        match[:outcome].split.join("_").to_sym
      end
      private_class_method :claim

      def self.metric_named(text, name, metrics)
        Metric.named(name, metrics) or raise UsageError, "#{text.inspect} expects something of #{name}, which is not " \
          "measured; the metrics are #{Metric.choice(metrics.uniq(&:name))}."
      end

      # @param wanted [Array<Wanted>]
      def initialize(wanted)
        @wanted = wanted
      end

      # @return [Array<String>] names of those that something is expected of
      def metrics = @wanted.map(&:metric).uniq

      # It is asked before the rounds: an unknown name is found out too late after them.
      #
      # @param variant_names [Array<String>] but for the baseline's
      # @param metrics [Array<Metric>] that are measured
      # @raise [UsageError]
      def ensure_known(variant_names:, metrics:)
        @wanted.each do |wanted|
          self.class.metric_named(wanted.text, wanted.metric, metrics)
          next if wanted.variant.nil? || variant_names.include?(wanted.variant)
          raise UsageError, "#{wanted.text.inspect}: #{wanted.variant} is not compared with the baseline; the " \
            "variants are #{variant_names.join(", ")}.#{OF_ALL_REQUESTS if wanted.claim == :goal}"
        end
      end

      # @param verdict [Verdict]
      # @return [Array<Expectation>] one for each text and variant that it is about
      def judge(verdict)
        others = verdict.cells.map(&:variant) - [verdict.baseline]
        @wanted.flat_map do |wanted|
          (wanted.variant ? [wanted.variant] : others).map do |variant|
            reason = ExpectationCheck.new(wanted, verdict).objection(variant)
            Expectation.new(text: wanted.text, variant:, shown: reason.nil?, reason:)
          end
        end
      end
    end

    # One expectation, held against a verdict. What is only likely is not shown: the whole interval must be where it is
    # expected.
    class ExpectationCheck
      # @param wanted [Expectations::Wanted]
      # @param verdict [Verdict]
      def initialize(wanted, verdict)
        @wanted = wanted
        @verdict = verdict
        @metric = verdict.metrics.find { |metric| metric.name == wanted.metric }
      end

      # @param variant [String]
      # @return [Statement, nil] why it is not shown of that variant; nil when it is
      def objection(variant)
        failure = @verdict.failing(variant)
        if failure && @wanted.claim != :worse
          return Statement.of(:variant_failed, **failure.to_h.slice(:attempts_count, :all_count, :reason))
        end
        return goal_missed(variant) if @wanted.claim == :goal
        comparison = @verdict.comparison(variant, @wanted.metric)
        return untold(variant) unless comparison
        ratio = comparison.ratio
        return Statement.of(:no_interval, rounds_count: ratio.samples_count) unless ratio.level_ratio
        elsewhere(comparison) unless holds?(comparison)
      end

      private

      # The rounds' values over the limit are judged as pairs are: their whole interval must be below it.
      def goal_missed(variant)
        values = trials(variant).map { |trial| trial.values[@wanted.metric] }
        return untold(variant) if values.empty? || values.include?(nil)
        ratio = Stats::PairedRatio.of([@wanted.limit_ns] * values.size, values,
          level_ratio: @verdict.level_ratio)
        return Statement.of(:no_interval, rounds_count: values.size) unless ratio.level_ratio
        return if ratio.high < 1
        Statement.of(:goal_missed, metric: @wanted.metric, level_ratio: ratio.level_ratio,
          latency_ns: [ratio.value, ratio.low, ratio.high].map { |one| one * @wanted.limit_ns })
      end

      def trials(variant) = @verdict.valid_trials.select { |trial| trial.variant == variant }

      def untold(variant)
        least_count = @metric&.least_requests_count.to_i
        requests_count = [variant, @verdict.baseline].flat_map { |name| trials(name) }.map(&:requests_count).min
        if requests_count.nil? || requests_count >= least_count
          return Statement.of(:not_compared, metric: @wanted.metric, variant:)
        end
        Statement.of(:few_requests, metric: @metric.label, least_count:, requests_count:)
      end

      def holds?(comparison)
        ratio = comparison.ratio
        case @wanted.claim
        when :at_least then ratio.low >= @wanted.ratio
        when :at_most then ratio.high <= @wanted.ratio
        when :not_worse then not_worse?(ratio)
        else comparison.outcome == @wanted.claim
        end
      end

      # Worse by less than what counts as equivalent is not worse.
      def not_worse?(ratio)
        if @metric.more_is_better
          ratio.low >= 1 - @verdict.equivalent_ratio
        else
          ratio.high <= 1 + @verdict.equivalent_ratio
        end
      end

      def elsewhere(comparison)
        ratio = comparison.ratio
        outcome = comparison.outcome.to_s if %i[better worse equivalent].include?(@wanted.claim)
        Statement.of(:elsewhere, interval: [ratio.low, ratio.high], level_ratio: ratio.level_ratio, outcome:,
          adjusted_p_value: (comparison.adjusted_p_value if outcome && by_chance?(comparison)))
      end

      # An interval clear of 1 that shows nothing begs the question why.
      def by_chance?(comparison) = comparison.outcome == :not_shown && !comparison.ratio.covers?(1)
    end
  end
end
