# frozen_string_literal: true

module PumaTuner
  module Prove
    # The rounds: every variant once in each, in shuffled order, so that neither drift of the machine nor position favours
    # one of them. A round with a void trial is thrown out whole and run again. How many there are was fixed before: one
    # number, or a few looks at which the primary metric may decide.
    class Rounds
      # After so many void rounds in a row it is the app, not chance; and in all, as a share of those that count.
      VOID_ROUNDS_MAX = 3

      # @param variants [Array<Variant>] the first is the baseline
      # @param looks [Looks]
      # @param trial_runner [#together or #call, #expected_s] of a whole round, or of a trial
      # @param random [Random] for the order
      # @param kept [#trials, #keep] what an interrupted run has left, and where attempts are kept; see Journal
      # @param decided [#call] trials so far -> why they suffice, or nil; asked at looks
      # @param law [#call] trials of an attempt -> why it is void as a whole, or nil
      def initialize(variants:, looks:, trial_runner:, random:, kept: Nothing, decided: ->(_) {}, law: ->(_) {})
        @variants = variants
        @looks = looks
        @trial_runner = trial_runner
        @order = balanced_order(random)
        @kept = kept
        @decided = decided
        @law = law
      end

      # Nothing is left, and nothing kept.
      module Nothing
        def self.trials = []

        def self.keep(_attempt) = nil
      end

      # @return [Float] seconds that the rest should take, when no round is void
      def expected_s = (@looks.rounds_max - valid_count(@kept.trials)) * @variants.size * @trial_runner.expected_s

      # @return [String] why there were no more rounds
      attr_reader :stopped_because

      # @yieldparam what [String] is about to run
      # @return [Array<Trial>] void ones included
      # @raise [VoidMeasurement] after VOID_ROUNDS_MAX void rounds in a row
      def call(&progress)
        trials = @kept.trials.dup
        void_count = 0
        until (@stopped_because = enough(trials))
          attempt = run_round(valid_count(trials), &progress)
          @kept.keep(attempt)
          trials.concat(attempt)
          void = attempt.find(&:void_reason)
          void_count = void ? void_count + 1 : 0
          raise VoidMeasurement, give_up_message(void) if void_count >= VOID_ROUNDS_MAX
          progress&.call("void, and once more: with #{void.variant}, #{void.void_reason}") if void
        end
        trials
      end

      private

      # Each shuffled order is followed by its reverse: no variant comes first more often than its fellow.
      def balanced_order(random)
        Array.new((@looks.rounds_max + 1) / 2) { @variants.shuffle(random:) }.flat_map { |order| [order, order.reverse] }
      end

      def valid_count(trials) = trials.each_slice(@variants.size).count { |attempt| attempt.none?(&:void_reason) }

      def enough(trials)
        count = valid_count(trials)
        return unless @looks.at?(count)
        reason = @decided.call(trials)
        return "#{reason}, after #{count} rounds" if reason && count < @looks.rounds_max
        "all #{count} planned rounds were run" if count >= @looks.rounds_max
      end

      def run_round(round, &progress)
        attempt = @trial_runner.respond_to?(:together) ? together(round, &progress) : one_by_one(round, &progress)
        reason = @law.call(attempt) unless attempt.any?(&:void_reason)
        reason ? attempt.map { |trial| trial.with(void_reason: reason) } : attempt
      end

      def together(round, &progress)
        progress&.call("#{name_of(round)}: #{@order[round].map(&:name).join(", ")}")
        @trial_runner.together(@order[round], round:)
      end

      def one_by_one(round, &progress)
        @order[round].each_with_index.map do |variant, position|
          progress&.call("#{name_of(round)}, #{variant.name}")
          Named.by(variant, round) { @trial_runner.call(variant, round:, position:) }
        end
      end

      def name_of(round) = "round #{round + 1} of #{"at most " if @looks.several?}#{@looks.rounds_max}"

      def give_up_message(trial)
        "#{VOID_ROUNDS_MAX} rounds in a row were void; the last because, with #{trial.variant}, #{trial.void_reason}. " \
          "#{Advice.for(trial.void_reason)}"
      end

      # What to do about it.
      module Advice
        ADVICE = {
          /unexpected status|answers|closed before|never answered/ => "A proof needs the same right answers from all; mend the app or the request file.",
          /machine|core|hypervisor|quota/ => "Wait until the machine is quiet, or move to a quieter one.",
          /generator|Little/ => "Send less: a lower --rate, or fewer --connections.",
          /went away/ => "Its log says why; a server that leaks or crashes can't be measured."
        }.freeze

        def self.for(reason) = ADVICE.find { |pattern, _| pattern.match?(reason) }&.last || "Run it again."
      end
      private_constant :Advice
    end
  end
end
