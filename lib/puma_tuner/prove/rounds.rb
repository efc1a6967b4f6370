# frozen_string_literal: true

module PumaTuner
  module Prove
    # The rounds: every variant once in each, in shuffled order, so that neither drift of the machine nor position
    # favours one of them. A round with a void trial is thrown out whole and run again. How many there are was fixed
    # before: one number, or a few looks at which the primary metric may decide; the time that was given may end them
    # earlier.
    class Rounds
      # So many void rounds in a row are due to the app or the load, and not to chance.
      VOID_ROUNDS_MAX = 3

      # This is the limit for all void rounds, as a share of those that are planned; but it is never fewer than the
      # above.
      VOID_SHARE_MAX = 0.5

      # @param variants [Array<Variant>] the first is the baseline
      # @param looks [Looks]
      # @param trial_runner [#together or #call, #expected_s] of a whole round, or of a trial
      # @param random [Random] for the order
      # @param kept [#trials, #ended, #keep] what an earlier run has left, and where attempts are kept; see Journal
      # @param decided [#call] trials so far -> why they suffice, or nil; asked at looks
      # @param hopeless [#call] trials so far -> why more would tell nothing, or
      #   nil; asked once, when there are enough for an interval
      # @param wanted [#call] the rounds so far that count, as their trials -> Wanted, or nil as long as that is not
      #   known; the first number holds
      # @param check [#call] trials of an attempt -> Void of it as a whole, or nil
      # @param marked [#call] trials so far -> the same, with those void that others on the machine have disturbed
      # @param clock [TimeLimit::Clock, nil] of the time that was given
      def initialize(variants:, looks:, trial_runner:, random:, kept: Nothing, decided: ->(_) {}, hopeless: ->(_) {},
        wanted: ->(_) {}, check: ->(_) {}, marked: :itself.to_proc, clock: nil)
        @variants = variants
        @looks = looks
        @trial_runner = trial_runner
        @order = balanced_order(random)
        @kept = kept
        @decided = decided
        @hopeless = hopeless
        @wanted_of = wanted
        @check = check
        @marked = marked
        @clock = clock
        @trials = kept.ended ? kept.trials : marked.call(kept.trials)
        @earlier_count = @trials.size
        @looked_counts = []
      end

      # How many rounds it takes until intervals are so narrow, see Stats::PairsWanted.
      Wanted = Data.define(:rounds_count, :half_width_ratio)

      # Stands in where nothing is left from before, and nothing is kept.
      module Nothing
        def self.trials = []

        def self.ended = nil

        def self.times = nil

        def self.keep(_attempt) = nil

        def self.keep_times(_times) = nil

        def self.ensure_same(_fingerprints) = nil
      end

      # @return [Array<Trial>] so far, void ones included
      attr_reader :trials

      # @return [Statement] why there were no more rounds
      attr_reader :stopped_because

      # @return [Integer] rounds so far that count
      def valid_count = attempts.count { |attempt| attempt.none?(&:void) }

      # @return [Boolean] whether there are as many rounds as were wanted
      def complete? = !!@complete

      # @return [Float] seconds that the rest should take, when no round is void
      def expected_s = (rounds_count - valid_count) * @variants.size * @trial_runner.expected_s

      # @yieldparam what [String, Statement] is about to run, or has happened
      # @yieldparam left_s [Float, nil] seconds that the rest should take; nil: nothing new is known
      # @return [Array<Trial>] void ones included
      def call(&progress)
        until (@stopped_because = enough || gives_up)
          attempt = run_round(valid_count, &progress)
          @kept.keep(attempt)
          earlier = @trials
          @trials = @marked.call(earlier + attempt)
          tell(earlier, &progress)
        end
        @trials
      end

      private

      # Each shuffled order is followed by its reverse: no variant comes first more often than its fellow.
      def balanced_order(random)
        Array.new((@looks.rounds_max + 1) / 2) { @variants.shuffle(random:) }
          .flat_map { |order| [order, order.reverse] }
      end

      def attempts = @trials.each_slice(@variants.size)

      # A run that came to its end has had its say: rounds added to it would be one more chance.
      # @return [Statement, nil] why no more rounds are needed
      def enough
        return (@complete = true) && @kept.ended.stopped_because if @kept.ended
        count = valid_count
        decided = look?(count) && @decided.call(@trials)
        @wanted ||= @wanted_of.call(attempts.select { |attempt| attempt.none?(&:void) })
        @complete = decided || count >= rounds_count
        return Statement.of(:primary_decided, rounds_count: count) if decided && count < rounds_count
        ended(count) if @complete
      end

      # @return [Integer] as far as is known yet
      def rounds_count = [@wanted&.rounds_count, @looks.rounds_max].compact.min

      def ended(count)
        return Statement.of(:planned_rounds, rounds_count: count) unless @wanted
        facts = {rounds_count: count, wanted_count: @wanted.rounds_count, half_width_ratio: @wanted.half_width_ratio}
        return Statement.of(:imprecise_rounds, **facts) if @wanted.rounds_count > count
        Statement.of(:precise_rounds, **facts)
      end

      # Each look is taken once, also where a round turns out to be void after it: another would be one more chance.
      def look?(count)
        return false if @looked_counts.include?(count) || !@looks.at?(count)
        @looked_counts << count
      end

      # @return [Statement, nil] why there are no more rounds, though more were wanted
      def gives_up
        new_voids = attempts.drop(@earlier_count / @variants.size).map { |attempt| attempt.filter_map(&:void).first }
        in_a_row = new_voids.reverse.take_while { |void| void && void.kind != :disturbed }
        voids = new_voids.compact.reject { |void| void.kind == :disturbed }
        count = valid_count
        if in_a_row.size >= VOID_ROUNDS_MAX
          voids_of(:voids_in_a_row, VOID_ROUNDS_MAX, in_a_row.first)
        elsif voids.size > [VOID_ROUNDS_MAX, VOID_SHARE_MAX * @looks.rounds_max].max
          voids_of(:too_many_voids, voids.size, voids.last)
        elsif @clock&.short?(@variants.size * @trial_runner.expected_s) then out_of_time
        else hopeless(count)
        end
      end

      # A round in which others hit one variant more is better than none, where there is no time for another.
      def out_of_time
        @trials = @trials.map { |trial| (trial.void&.kind == :disturbed) ? trial.with(void: nil) : trial }
        count = valid_count
        @complete = count >= rounds_count
        return Statement.of(:time_used_up) if count.positive?
        round_s = @variants.size * @trial_runner.expected_s
        least_count = @looks.least_rounds_count(@variants.size - 1)
        Statement.of(:no_time_for_a_round, left_s: [@clock.left_s, 0].max, round_s:, rounds_count: least_count,
          lacking_s: least_count * round_s - @clock.left_s)
      end

      def hopeless(count)
        return if @hope_asked || count != @looks.least_rounds_count(@variants.size - 1)
        @hope_asked = true
        @hopeless.call(@trials)
      end

      def run_round(round, &progress)
        attempt = @trial_runner.respond_to?(:together) ? together(round, &progress) : one_by_one(round, &progress)
        void = @check.call(attempt) unless attempt.any?(&:void)
        void ? attempt.map { |trial| trial.with(void:) } : attempt
      rescue VariantFailed => failure
        failed(@order[round], round, failure)
      end

      # The others' trials lack their pair, whatever they measured.
      def failed(order, round, failure)
        order.each_with_index.map do |variant, position|
          void = Void.failed(failure.detail, output: failure.output) if variant == failure.variant
          Trial.new(variant: variant.name, round:, position:, requests_count: 0, void:)
        end
      end

      def together(round, &progress)
        progress&.call("#{name_of(round)}: #{@order[round].map(&:name).join(", ")}", expected_s)
        @trial_runner.together(@order[round], round:)
      end

      def one_by_one(round, &progress)
        @order[round].each_with_index.map do |variant, position|
          progress&.call("#{name_of(round)}, #{variant.name}", expected_s - position * @trial_runner.expected_s)
          Named.by(variant, round) { @trial_runner.call(variant, round:, position:) }
        end
      end

      def name_of(round) = "round #{round + 1} of #{"at most " if @looks.several?}#{rounds_count}"

      # Tells of an earlier round that counted, too, and turns out to be disturbed now that others are known.
      def tell(earlier)
        return unless block_given?
        attempts.zip(earlier.each_slice(@variants.size)) do |attempt, before|
          trial = attempt.find(&:void)
          next if trial.nil? || before&.any?(&:void)
          yield(Statement.of(:void_round, round: trial.round + 1, variant: trial.variant, void: trial.void,
            output: trial.void.output.last(2)), nil)
        end
      end

      def voids_of(kind, rounds_count, void)
        trial = @trials.reverse_each.find { |one| one.void == void }
        Statement.of(kind, rounds_count:, variant: trial.variant, void:)
      end
    end
  end
end
