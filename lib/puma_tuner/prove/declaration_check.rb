# frozen_string_literal: true

module PumaTuner
  module Prove
    # Holds what ran against what was declared. Variants that differ in something that nobody declared prove nothing
    # about what was; nor do those whose declared difference did not take effect.
    class DeclarationCheck
      # Facts that appeared only later, or not yet, are no change.
      # @param before [Hash] a fingerprint
      # @param now [Hash] of the same variant, later
      # @return [Array(Symbol, String), nil] a key that both have, with another value
      def self.changed_since(before, now) = before.keys.find { |key| now.key?(key) && now[key] != before[key] }

      # @param baseline [Variant]
      # @param fingerprints [Hash{Variant => Hash}] of what ran, the baseline's too
      # @param allowed [Array<Array(Symbol, String)>] what may differ all the
      #   same: kinds of a fingerprint's keys, and beginnings of their names
      def initialize(baseline, fingerprints, allowed: [])
        @baseline = baseline
        @fingerprints = fingerprints
        @allowed = allowed
      end

      # @raise [UsageError] naming the variant and the difference
      def ensure_declared
        (@fingerprints.keys - [@baseline]).each do |variant|
          keys = changed_keys(variant)
          declared = declared_keys(variant)
          covered = ->(key) { declared.any? { |factor| Factors.among?(Factors.covers(factor), key) } }
          shown = ->(factor) { keys.any? { |key| Factors.among?(Factors.shows(factor), key) } }
          refuse_undeclared(variant, keys.reject { |key| covered.call(key) || allowed?(key) })
          refuse_without_effect(variant, declared.reject(&shown))
        end
        @fingerprints.each_key { |variant| refuse_otherwise(variant) }
        nil
      end

      # @return [Array<Array(Symbol, String)>] what is not the same in that variant and the baseline
      def changed_keys(variant)
        one, other = @fingerprints.fetch(@baseline), @fingerprints.fetch(variant)
        # When only one process can tell (the other is no Ruby), that is no difference but a silence.
        silent = one.empty? || other.empty? || one.key?([:ruby, nil]) != other.key?([:ruby, nil])
        keys = silent ? one.keys & other.keys : one.keys | other.keys
        keys.reject { |key| one[key] == other[key] }
      end

      private

      def declared_keys(variant)
        (variant.factors.keys | @baseline.factors.keys).reject { |key| variant.factors[key] == @baseline.factors[key] }
      end

      def allowed?(key)
        @allowed.any? { |kind, beginning| key.first == kind && key.last.to_s.start_with?(beginning.to_s) }
      end

      # The baseline, too, has to run as it was declared.
      def refuse_otherwise(variant)
        declared, ran = variant.factors["yjit"], @fingerprints.fetch(variant)[[:yjit, nil]]
        return if declared.nil? || ran.nil? || declared == ran
        raise UsageError, "yjit=#{declared} of #{variant.name} did not come true: it runs with YJIT #{ran}. " \
          "Something in the app decides that, such as its Ruby's options."
      end

      def refuse_undeclared(variant, keys)
        return if keys.empty?
        one, other = @fingerprints.fetch(@baseline), @fingerprints.fetch(variant)
        lines = keys.first(12).map do |key|
          "  #{text(key)}: #{one[key] || "-"} with #{@baseline.name}, #{other[key] || "-"} with #{variant.name}"
        end
        raise UsageError, "#{@baseline.name} and #{variant.name} differ in something " \
          "undeclared:\n#{lines.join("\n")}\nPossible ways to address this: make it the same, declare it as a " \
          "factor, or allow it with --allow #{text(keys.first).inspect}."
      end

      def text(key) = Probe::Fingerprint.text(key)

      def refuse_without_effect(variant, factors)
        return if factors.empty?
        factor = factors.first
        seen = @fingerprints.fetch(variant).select { |key, _| Factors.among?(Factors.covers(factor), key) }.first(3)
        value = variant.factors[factor]&.then { |one| Host::Masking.factor(factor, one) } || "(unset)"
        both = " (#{seen.map { |key, fact| "#{text(key)}: #{fact}" }.join(", ")} in both)" if seen.any?
        raise UsageError, "#{factor}=#{value} of #{variant.name} had no effect: " \
          "what ran does not differ from #{@baseline.name} in it#{both}. Compare something that differs."
      end
    end
  end
end
