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
  end
end
