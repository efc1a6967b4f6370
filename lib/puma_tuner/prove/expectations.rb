# frozen_string_literal: true

module PumaTuner
  module Prove
    # The expectations that somebody has of a proof, in words, and whether they were shown. Several must all be shown,
    # so each keeps the level of its interval: no correction for their number is needed (Berger, "Multiparameter
    # hypothesis testing and acceptance sampling", 1982).
    class Expectations
      UNDERSTOOD = <<~TEXT.chomp
        Write "METRIC >= 1.2" or "METRIC <= 0.9" (variant over baseline), "METRIC better", "METRIC worse",
        "METRIC equivalent" or "METRIC not worse"; or "90% < 300ms", a goal for the latency itself; with "VARIANT: " in
        front, it is about that variant only.
      TEXT

      PATTERN = /\A(?:(?<variant>\S.*?):\s+)?(?<metric>[a-z]\w*)\s*
        (?:(?<bound>>=|<=)\s*(?<ratio>\d*\.?\d+)|\b(?<outcome>better|worse|equivalent|not\s+worse))\z/x

      # The metrics whose percentiles a goal may be about.
      GOAL_METRICS = {"p50" => "p50", "p90" => "p90", "p99" => "p99", "p99.9" => "p999"}.freeze

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
        names = metrics.map(&:name).uniq
        new(texts.map do |text|
          goal = Goal.read(text)
          next of_goal(text, goal, names) if goal
          match = PATTERN.match(text.strip) or raise UsageError, "#{text.inspect} is not an expectation. #{UNDERSTOOD}"
          ensure_metric(text, match[:metric], names)
          Wanted.new(text: text.strip, variant: match[:variant], metric: match[:metric], claim: claim(match),
            ratio: match[:ratio]&.to_f)
        end)
      end

      def self.of_goal(text, goal, names)
        metric = GOAL_METRICS[goal.percentile]
        unless metric && names.include?(metric)
          raise UsageError, "#{text.inspect}: rounds measure 50%, 90%, 99% and 99.9% of an app's requests; take one " \
            "of these"
        end
        Wanted.new(text: text.strip, variant: goal.endpoint, metric:, claim: :goal, limit_ns: goal.limit_ns)
      end
      private_class_method :of_goal

      def self.claim(match)
        return (match[:bound] == ">=") ? :at_least : :at_most if match[:bound]
        match[:outcome].split.join("_").to_sym
      end
      private_class_method :claim

      def self.ensure_metric(text, name, names)
        return if names.include?(name)
        raise UsageError, "#{text.inspect} expects something of #{name}, which is not measured; the metrics are " \
          "#{names.join(", ")}."
      end

      # @param wanted [Array<Wanted>]
      def initialize(wanted)
        @wanted = wanted
      end

      # It is asked before the rounds: an unknown name is found out too late after them.
      #
      # @param variant_names [Array<String>] but for the baseline's
      # @param metrics [Array<Metric>] that are measured
      # @raise [UsageError]
      def ensure_known(variant_names:, metrics:)
        @wanted.each do |wanted|
          self.class.ensure_metric(wanted.text, wanted.metric, metrics.map(&:name))
          next if wanted.variant.nil? || variant_names.include?(wanted.variant)
          raise UsageError, "#{wanted.text.inspect}: #{wanted.variant} is not compared with the baseline; the " \
            "variants are #{variant_names.join(", ")}."
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
