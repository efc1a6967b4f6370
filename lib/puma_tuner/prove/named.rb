# frozen_string_literal: true

module PumaTuner
  module Prove
    # What goes wrong with a variant is told with its name and round.
    module Named
      MISTAKES = [ServerFailed, LoadToolFailed, VoidMeasurement].freeze

      # @param round [Integer, nil] nil: before the rounds
      # @param boot [Boolean] only until the block calls what it is given: what comes after it has names of its own
      # @yieldparam booted [#call]
      def self.by(variant, round = nil, boot: false)
        over = false
        yield(-> { over = true })
      rescue *MISTAKES => error
        raise if boot && over
        raise error.exception("#{variant.name}#{", round #{round + 1}" if round}: #{error.message}")
      end
    end
  end
end
