# frozen_string_literal: true

module PumaTuner
  module Advise
    # What earlier proofs on this app showed, put beside the advice of now: what made things worse is left out, what
    # brought less than it promised comes last.
    class Experience
      # @param measured [Array<Measured>]
      # @param today [Topology] others' proofs are of other changes
      def initialize(measured, today:)
        @measured = measured.select { |one| one.today == today }
        @today = today
      end

      # @param topologies [Array<Topology>] to forecast
      # @return [Array<Topology>] but for those that were measured to be worse than today's
      def topologies(topologies) = topologies - worse.filter_map(&:topology)

      # @param list [AdviceList]
      # @return [AdviceList]
      def apply(list)
        told = list.advice.map { |advice| advice.with(measured: of(advice)) }
        worse, kept = told.partition { |advice| advice.measured&.worse? }
        last, first = kept.partition { |advice| advice.measured&.disappointing? }
        withheld = worse.map(&:measured) | self.worse.select(&:topology)
        list.with(advice: [*first, *last].freeze, withheld: withheld.freeze)
      end

      private

      def worse = @measured.select(&:worse?)

      def of(advice) = @measured.reverse.find { |one| one.of?(advice, @today) }
    end
  end
end
