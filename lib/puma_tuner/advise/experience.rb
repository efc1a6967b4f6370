# frozen_string_literal: true

module PumaTuner
  module Advise
    # What earlier proofs on this app showed, put beside the advice of now: what made things worse is left out, what
    # brought less than it promised comes last. What they showed under another load is told, and changes nothing.
    class Experience
      # @param measured [Array<Measured>] the last ones last
      # @param today [Topology] others' proofs are of other changes
      # @param arrivals [Model::Arrivals, nil] that are advised for; nil: proofs under any load count
      def initialize(measured, today:, arrivals: nil)
        @today = today
        of_today = measured.select { |one| one.today == today }
        here, @elsewhere = of_today.partition { |one| one.counts_under?(arrivals) }
        # Under loads that are alike there may be several.
        @measured = here.reverse.uniq(&:subject).reverse
      end

      # @param topologies [Array<Topology>] to forecast
      # @return [Array<Topology>] but for those that were measured to be worse than today's
      def topologies(topologies) = topologies - worse.filter_map(&:topology)

      # @param list [AdviceList]
      # @return [AdviceList]
      def apply(list)
        told = list.advice.map { |advice| told(advice) }
        worse, kept = told.partition { |advice| advice.measured&.worse? }
        last, first = kept.partition { |advice| advice.measured&.disappointing? }
        withheld = worse.map(&:measured) | self.worse.select(&:topology)
        list.with(advice: [*first, *last].freeze, withheld: withheld.freeze)
      end

      private

      def worse = @measured.select(&:worse?)

      def told(advice)
        measured, elsewhere = [@measured, @elsewhere].map { |all| all.reverse.find { |one| one.of?(advice, @today) } }
        advice.with(measured:, measured_elsewhere: (elsewhere unless measured))
      end
    end
  end
end
