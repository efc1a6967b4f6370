# frozen_string_literal: true

module PumaTuner
  module Prove
    # Makes a proof fit into a time that was given, by what the app took when it was looked at.
    #
    # Cuts a proof to the time there is, in this order: rounds, down to one more than the fewest that can show anything;
    # the load with the probe, which tells the cause; the warm-up's limit and the load itself, in equal shares; that one
    # round more. When not even that is enough, a proof leaves out variants that it can spare, and as many rounds are
    # run as fit.
    class TimeLimit
      # A trial says nothing when its load, or a window of its warm-up, is shorter than this.
      DURATION_LEAST_S = 1.0
      WINDOW_LEAST_S = 0.25

      # This share of the time is left for what can't be foreseen: a slow boot, a last round that takes longer.
      SPARE_RATIO = 0.07

      # Tells how much of the time is left.
      class Clock
        # @param limit_s [Numeric]
        def initialize(limit_s)
          @ends_s = PumaTuner::Clock.now_s + limit_s
        end

        # @return [Float] seconds
        def left_s = @ends_s - PumaTuner::Clock.now_s

        # @return [Boolean] whether what takes so long would end too late
        def short?(seconds) = seconds > left_s
      end

      # times: TrialRunner::Times; looks: Looks; noise_rounds_count
      # remarks: [Statement] what was cut, and what that costs
      Fitted = Data.define(:times, :looks, :noise_rounds_count, :remarks)

      # @param left_s [Numeric] seconds that there are
      # @param variants_count [Integer] the baseline included
      # @param trial_s [#call] Times -> seconds that one trial takes, about
      # @param least_duration_s [Numeric] seconds of load below which a trial can't tell what decides
      def initialize(left_s, variants_count:, trial_s:, least_duration_s: 0)
        @left_s = left_s * (1 - SPARE_RATIO)
        @least_duration_s = [DURATION_LEAST_S, least_duration_s].max
        @variants_count = variants_count
        @trial_s = trial_s
      end

      # @param times [TrialRunner::Times, nil] as below
      # @param looks [Looks]
      # @return [Boolean] whether there are rounds enough to show anything of so many variants, with trials as short as
      #   they may be
      def enough?(times, looks)
        least_count = looks.least_rounds_count(@variants_count - 1)
        least_count <= looks.rounds_max && seconds(times && shortened(times, least_count), least_count) <= @left_s
      end

      # @param times [TrialRunner::Times, nil] nil: they are what they are, as those of blocks are
      # @param looks [Looks]
      # @param kept_count [Integer] rounds that are there already: others are as long as these
      # @param kept_times [TrialRunner::Times, nil] of these, where they were made shorter
      # @return [Fitted]
      def fit(times, looks, noise_rounds_count: 0, kept_count: 0, kept_times: nil)
        now = (kept_count.positive? && kept_times) || times
        least_count = [looks.least_rounds_count(@variants_count - 1), looks.rounds_max].min
        missing_s = seconds(now, looks.rounds_max - kept_count) + noise_rounds_count * 2 * @trial_s.call(now)
        if missing_s > @left_s
          now = shortened(times, [least_count + 1, looks.rounds_max].min, least_count) if times && kept_count.zero?
          # One more is planned where none fits: rounds that are there are a plan's end only when it has run them all.
          fitting_count = [(@left_s / seconds(now, 1)).floor, 1].max
          fitted = looks.at_most((kept_count + fitting_count).clamp(1, looks.rounds_max))
          left_out = noise_rounds_count.positive?
          noise_rounds_count = 0
        end
        Fitted.new(times: now, looks: fitted || looks, noise_rounds_count:,
          remarks: [*fewer_rounds(looks, fitted || looks, least_count), *TimeLimit.shorter_trials(times, now),
            *(Statement.of(:noise_left_out) if left_out)])
      end

      private

      def seconds(times, rounds_count) = rounds_count * @variants_count * @trial_s.call(times)

      # Where trials take longer than was foreseen, the last round is not begun: without one more than the fewest, all
      # of them would show nothing.
      #
      # @return [TrialRunner::Times] by which the first of these numbers of rounds fits; the shortest where none does
      def shortened(times, *rounds_counts)
        unprobed = times.with(probe_s: 0)
        choice = [times, unprobed, *(1..20).map { |step| scaled(unprobed, 1 - step / 20.0) }]
        (rounds_counts.product(choice).find { |count, one| seconds(one, count) <= @left_s } || choice).last
      end

      def scaled(times, ratio)
        window_s = [times.warmup_window_s * ratio, WINDOW_LEAST_S].max
        duration_s = (times.duration_s * ratio).clamp([@least_duration_s, times.duration_s].min..)
        times.with(duration_s:, warmup_window_s: window_s,
          warmup_limit_s: [times.warmup_limit_s * ratio, window_s * Load::WarmupRun::WINDOWS_COUNT].max)
      end

      def fewer_rounds(wanted, looks, least_count)
        rounds_count, wanted_count = looks.rounds_max, wanted.rounds_max
        [
          (Statement.of(:fewer_rounds, rounds_count:, wanted_count:) if rounds_count < wanted_count),
          (Statement.of(:too_few_rounds, rounds_count:, least_count:) if rounds_count < least_count)
        ].compact
      end

      class << self
        # @param wanted [TrialRunner::Times]
        # @param times [TrialRunner::Times]
        # @return [Array<Statement>] that trials are shorter than was wanted; empty where they are not
        def shorter_trials(wanted, times)
          return [] if times == wanted
          [Statement.of(:shorter_trials, seconds: seconds_of(times), wanted_seconds: seconds_of(wanted))]
        end

        private

        def seconds_of(times)
          {"load" => times.duration_s, "warmup" => times.warmup_limit_s, "probe" => times.probe_s}
        end
      end
    end
  end
end
