# frozen_string_literal: true

module PumaTuner
  module Prove
    # The rounds: every variant once in each, in shuffled order, so that neither drift of the machine nor position favours
    # one of them. A round with a void trial is thrown out whole and run again.
    class Rounds
      # After so many void rounds it is the app, not chance.
      VOID_ROUNDS_MAX = 3

      # @param variants [Array<Variant>] the first is the baseline
      # @param rounds_count [Integer] fixed beforehand
      # @param random [Random] for the order
      def initialize(variants:, rounds_count:, trial_runner:, random:)
        @variants = variants
        @rounds_count = rounds_count
        @trial_runner = trial_runner
        @random = random
      end

      # @return [Float] seconds it should take, when no round is void
      def expected_s = @rounds_count * @variants.size * @trial_runner.expected_s

      # @yieldparam what [String] is about to run
      # @return [Array<Trial>] void ones included
      # @raise [VoidMeasurement] after VOID_ROUNDS_MAX void rounds
      def call(&progress)
        trials = []
        void_rounds = 0
        order = balanced_order
        @rounds_count.times do |round|
          attempt = run_round(round, order[round], &progress)
          trials.concat(attempt)
          next unless (void = attempt.find(&:void_reason))
          raise VoidMeasurement, give_up_message(void) if (void_rounds += 1) >= VOID_ROUNDS_MAX
          redo
        end
        trials
      end

      private

      # Each shuffled order is followed by its reverse: no variant comes first more often than its fellow.
      def balanced_order
        Array.new((@rounds_count + 1) / 2) { @variants.shuffle(random: @random) }.flat_map { |order| [order, order.reverse] }
      end

      def run_round(round, order)
        order.each_with_index.map do |variant, position|
          yield "round #{round + 1} of #{@rounds_count}, #{variant.name} (#{variant.topology})" if block_given?
          @trial_runner.call(variant, round:, position:)
        end
      end

      def give_up_message(trial)
        "#{VOID_ROUNDS_MAX} rounds were void; the last because, with #{trial.variant}, #{trial.void_reason}. " \
          "A proof needs answers with the expected status; mend the app or the request file."
      end
    end
  end
end
