# frozen_string_literal: true

module PumaTuner
  module Prove
    # Memory at equal requests served. Memory grows with requests, and a faster variant serves more in the same time: at
    # its end it would be blamed for its speed. So a round's trials are compared where the slowest of them ended, in a
    # straight line between the samples of the others.
    module EqualMemory
      class << self
        # @param trials [Array<Trial>] of one round
        # @return [Hash{String => Hash{String => Numeric}}] "pss" and "rss" in bytes, by variant; without curves of all,
        #   what each trial had in the end
        def of(trials)
          served_count = trials.map { |trial| trial.memory.last&.first }
            .then { |counts| counts.min unless counts.include?(nil) }
          trials.to_h do |trial|
            [trial.variant, served_count ? at(trial.memory, served_count) : trial.values.slice("pss", "rss")]
          end
        end

        private

        def at(curve, served_count)
          index = curve.index { |count, _| count >= served_count }
          after, before = curve[index], curve[[index - 1, 0].max]
          share = (after.first == before.first) ? 1.0 : (served_count - before.first).fdiv(after.first - before.first)
          pss, rss = [1, 2].map { |column| before[column] + (after[column] - before[column]) * share }
          {"pss" => pss, "rss" => rss}
        end
      end
    end

    # The numbers of the rounds that count: one for each variant, metric and round.
    class PairedValues
      # A round in which neither variant collected garbage, or waited, is no mistake; it has no ratio, and is left out
      # of these. Where one of them did not, leaving it out would hide just what the variant saves.
      MAY_BE_ZERO = %w[gc_per_request gvl_wait_per_request gc_per_iteration].freeze

      # The fewest that show anything at 95%.
      PAIRS_MIN = 6

      # @param trials [Array<Trial>] the rounds' attempts after each other. One
      #   void trial voids its attempt: the others of it lack their pair
      # @param variants_count [Integer] trials of an attempt
      def initialize(trials, variants_count)
        @void, valid = trials.each_slice(variants_count).partition { |attempt| attempt.any?(&:void) }
        @rounds = valid.sort_by { |attempt| attempt.first.round }
        @values = @rounds.map do |attempt|
          memory = EqualMemory.of(attempt)
          attempt.to_h { |trial| [trial.variant, trial.values.merge(memory.fetch(trial.variant))] }
        end
      end

      # @return [Integer]
      def rounds_count = @rounds.size

      # @return [Integer] trials thrown away, with those that were void
      def voided_count = @void.sum(&:size)

      # @return [Array<Trial>] of a variant, by round
      def trials(variant_name) = @rounds.flatten.select { |trial| trial.variant == variant_name }

      # @return [Array<Numeric, nil>] by round
      def values(variant_name, metric_name) = @values.map { |round| round.fetch(variant_name)[metric_name] }

      # @return [Array(Array<Numeric>, Array<Numeric>), nil] the baseline's and the
      #   variant's, above zero, in the same order; nil when any is missing or has no
      #   ratio: to leave out the rounds that could not tell would let results
      #   decide what counts
      def pairs(baseline_name, variant_name, metric_name)
        pairs = values(baseline_name, metric_name).zip(values(variant_name, metric_name))
        return if pairs.empty? || pairs.flatten.include?(nil)
        told = MAY_BE_ZERO.include?(metric_name) ? pairs.reject { |pair| pair.all?(&:zero?) } : pairs
        return if told.size < pairs.size && told.size < PAIRS_MIN
        told.transpose if told.flatten.all?(&:positive?)
      end
    end
  end
end
