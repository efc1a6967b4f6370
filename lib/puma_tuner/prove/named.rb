# frozen_string_literal: true

module PumaTuner
  module Prove
    # A variant's server, or its load, failed.
    class VariantFailed < InvalidMeasurement
      # @return [Variant]
      attr_reader :variant

      # @return [String] what happened: the first sentence, without advice
      attr_reader :detail

      # @param round [Integer, nil] nil: before the rounds
      # @param error [MeasurementFailed]
      def initialize(variant, round, error)
        @variant = variant
        @detail = error.kept[/\A.*?(?=\.\s|\.?$)/]
        super("#{variant.name}#{", round #{round + 1}" if round}: #{error.kept}", output: error.output)
      end
    end

    # Adds the variant's name and round to what goes wrong with it.
    module Named
      MISTAKES = [ServerFailed, LoadToolFailed, InvalidMeasurement].freeze

      # @param round [Integer, nil] nil: before the rounds
      # @param boot [Boolean] only until the block calls what it is given: what comes after it has names of its own
      # @yieldparam booted [#call]
      # @raise [VariantFailed]
      def self.by(variant, round = nil, boot: false)
        over = false
        yield(-> { over = true })
      rescue VariantFailed
        raise
      rescue *MISTAKES => error
        raise if boot && over
        raise VariantFailed.new(variant, round, error)
      end
    end
  end
end
