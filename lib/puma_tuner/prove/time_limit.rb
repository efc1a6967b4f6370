# frozen_string_literal: true

module PumaTuner
  module Prove
    # Makes a proof fit into a time that was given, by what the app took when it was looked at.
    #
    # Cuts a proof to the time there is, in this order: rounds, down to the fewest that can show anything; the load with
    # the probe, which tells the cause; the warm-up's limit and the load itself, in equal shares. When not even that is
    # enough, as many rounds are run as fit.
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
      def initialize(left_s, variants_count:, trial_s:)
        @left_s = left_s * (1 - SPARE_RATIO)
        @variants_count = variants_count
        @trial_s = trial_s
      end

      # @param times [TrialRunner::Times]
      # @param looks [Looks]
      # @param kept_count [Integer] rounds that are there already: others are not made shorter than these
      # @return [Fitted]
      def fit(times, looks, noise_rounds_count: 0, kept_count: 0)
        wanted = Fitted.new(times:, looks:, noise_rounds_count:, remarks: [])
        missing_s = seconds(times, looks.rounds_max - kept_count) + noise_rounds_count * 2 * @trial_s.call(times)
        return wanted if missing_s <= @left_s
        least_count = [looks.least_rounds_count(@variants_count - 1), looks.rounds_max].min
        shorten = kept_count.zero? && seconds(times, least_count) > @left_s
        shorter = shorten ? shortened(times, least_count) : times
        fitting_count = (@left_s / seconds(shorter, 1)).floor
        rounds_count = (kept_count + fitting_count).clamp(1, looks.rounds_max)
        fitted = looks.at_most(rounds_count)
        Fitted.new(times: shorter, looks: fitted, noise_rounds_count: 0,
          remarks: remarks(wanted, shorter, fitted, least_count))
      end

      private

      def seconds(times, rounds_count) = rounds_count * @variants_count * @trial_s.call(times)

      def shortened(times, rounds_count)
        unprobed = times.with(probe_s: 0)
        share = (1..20).map { |step| 1 - step / 20.0 }
          .find { |ratio| seconds(scaled(unprobed, ratio), rounds_count) <= @left_s }
        (seconds(unprobed, rounds_count) <= @left_s) ? unprobed : scaled(unprobed, share || 0)
      end

      def scaled(times, ratio)
        window_s = [times.warmup_window_s * ratio, WINDOW_LEAST_S].max
        times.with(duration_s: [times.duration_s * ratio, DURATION_LEAST_S].max, warmup_window_s: window_s,
          warmup_limit_s: [times.warmup_limit_s * ratio, window_s * Load::WarmupRun::WINDOWS_COUNT].max)
      end

      def remarks(wanted, times, looks, least_count)
        rounds_count, wanted_count = looks.rounds_max, wanted.looks.rounds_max
        [
          (Statement.of(:fewer_rounds, rounds_count:, wanted_count:) if rounds_count < wanted_count),
          (if times != wanted.times
             Statement.of(:shorter_trials, seconds: seconds_of(times), wanted_seconds: seconds_of(wanted.times))
           end),
          (Statement.of(:too_few_rounds, rounds_count:, least_count:) if rounds_count < least_count),
          (Statement.of(:noise_left_out) if wanted.noise_rounds_count.positive?)
        ].compact
      end

      def seconds_of(times)
        {"load" => times.duration_s, "warmup" => times.warmup_limit_s, "probe" => times.probe_s}
      end
    end
  end
end
