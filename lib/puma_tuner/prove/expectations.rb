# frozen_string_literal: true

module PumaTuner
  module Prove
    # The expectations that somebody has of a proof, in words, and whether they were shown. Several must all be shown,
    # so each keeps the level of its interval: no correction for their number is needed (Berger, "Multiparameter
    # hypothesis testing and acceptance sampling", 1982).
    class Expectations
      UNDERSTOOD = <<~TEXT.chomp
        Write "METRIC >= 1.2" or "METRIC <= 0.9" (variant over baseline), "METRIC better", "METRIC worse",
        "METRIC equivalent" or "METRIC not worse"; with "VARIANT: " in front, it is about that variant only.
      TEXT

      PATTERN = /\A(?:(?<variant>\S.*?):\s+)?(?<metric>[a-z]\w*)\s*
        (?:(?<bound>>=|<=)\s*(?<ratio>\d*\.?\d+)|\b(?<outcome>better|worse|equivalent|not\s+worse))\z/x

      # variant: nil for every one; claim: an outcome, :not_worse, :at_least or
      #   :at_most; ratio: of the latter two, else nil
      Wanted = Data.define(:text, :variant, :metric, :claim, :ratio)

      # @param texts [Array<String>]
      # @param metrics [Array<Metric>] that there can be
      # @return [Expectations]
      # @raise [UsageError] on the first that is not understood
      def self.parse(texts, metrics: Metric::SERVED | Metric::BLOCK)
        names = metrics.map(&:name).uniq
        new(texts.map do |text|
          match = PATTERN.match(text.strip) or raise UsageError, "#{text.inspect} is not an expectation. #{UNDERSTOOD}"
          ensure_metric(text, match[:metric], names)
          Wanted.new(text: text.strip, variant: match[:variant], metric: match[:metric], claim: claim(match),
            ratio: match[:ratio]&.to_f)
        end)
      end

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
