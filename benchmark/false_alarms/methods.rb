# frozen_string_literal: true

module FalseAlarms
  # Which trial is whose. Both arrays hold log speeds, in the order in which they were measured.
  Layout = Data.define(:baseline, :variant) do
    # Two to a round, in the order that PumaTuner::Prove::Rounds gives them: shuffled, and each order followed by its reverse.
    #
    # @param log_speeds [Array<Float>] of trials after each other
    # @param effect [Float] log of how much faster the variant truly is
    def self.pairs(log_speeds, random, effect: 0.0)
      baseline_first = Array.new((log_speeds.size + 3) / 4) { random.rand < 0.5 }.flat_map { |first| [first, !first] }
      pairs = log_speeds.each_slice(2).zip(baseline_first).map { |pair, as_is| as_is ? pair : pair.reverse }
      baseline, variant = pairs.transpose
      new(baseline:, variant: variant.map { |log| log + effect })
    end

    # First all of the baseline, then all of the variant.
    def self.blocks(log_speeds, effect: 0.0)
      baseline, variant = log_speeds.each_slice(log_speeds.size / 2).to_a
      new(baseline:, variant: variant.map { |log| log + effect })
    end

    # @return [Layout] the rounds up to then
    def first(rounds_count) = with(baseline: baseline.first(rounds_count), variant: variant.first(rounds_count))

    # @return [Array<Float>] log-ratio of each round
    def differences = variant.zip(baseline).map { |one, other| one - other }
  end

  # What a method says: the log-ratio is somewhere here.
  Interval = Data.define(:low, :high) do
    # @param level_ratio [Float]
    # @return [Interval] ours: the one that verdicts rest on
    def self.ours(layout, level_ratio: 0.95)
      baseline, variant = [layout.baseline, layout.variant].map { |logs| logs.map { |log| Math.exp(log) } }
      ratio = PumaTuner::Stats::PairedRatio.of(baseline, variant, level_ratio:)
      # Without a level it claims nothing.
      ratio.level_ratio ? new(low: Math.log(ratio.low), high: Math.log(ratio.high)) : new(low: -Float::INFINITY, high: Float::INFINITY)
    end

    def excludes?(log) = !log.between?(low, high)
  end

  # Welch's test of two means (1947), by its p-value: an interval would take a quantile of its own for each.
  Welch = Data.define(:difference, :standard_error, :freedom) do
    # @param baseline [Array<Float>]
    # @param variant [Array<Float>]
    def self.of(baseline, variant)
      means, variances = [baseline, variant].map { |values| moments(values) }.transpose
      first, second = variances.zip([baseline.size, variant.size]).map { |variance, count| variance / count }
      freedom = (first + second)**2 / (first**2 / (baseline.size - 1) + second**2 / (variant.size - 1))
      new(difference: means.last - means.first, standard_error: Math.sqrt(first + second), freedom:)
    end

    def self.moments(values)
      mean = values.sum.fdiv(values.size)
      [mean, values.sum { |value| (value - mean)**2 } / (values.size - 1)]
    end
    private_class_method :moments

    # Whether the interval of 95% does.
    def excludes?(log) = PumaTuner::Stats::StudentT.probability((difference - log).abs / standard_error, freedom) > 0.975
  end

  module Methods
    # What puma_tuner does.
    module Ours
      TITLE = "**pairs, Hodges-Lehmann and exact signed-rank (ours)**"

      def self.interval(log_speeds, random, effect:) = Interval.ours(Layout.pairs(log_speeds, random, effect:))
    end
  end

  module Methods
    # Student's t on the pairs' log-ratios.
    module PairsT
      TITLE = "pairs, Student's t"

      class << self
        def interval(log_speeds, random, effect:)
          differences = Layout.pairs(log_speeds, random, effect:).differences
          count = differences.size
          mean = differences.sum / count
          sd = Math.sqrt(differences.sum { |difference| (difference - mean)**2 } / (count - 1))
          half = quantile(count - 1) * sd / Math.sqrt(count)
          Interval.new(low: mean - half, high: mean + half)
        end

        private

        def quantile(freedom) = (@quantiles ||= {})[freedom] ||= PumaTuner::Stats::StudentT.quantile(0.975, freedom)
      end
    end
  end

  module Methods
    # The pairs' log-ratios drawn again and again with replacement, and the middle 95% of the means (Efron's percentile
    # interval, 1979).
    module Bootstrap
      TITLE = "pairs, percentile bootstrap"
      RESAMPLES_COUNT = 1_000

      class << self
        def interval(log_speeds, random, effect:)
          differences = Layout.pairs(log_speeds, random, effect:).differences
          means = Array.new(RESAMPLES_COUNT) { resampled_mean(differences, random) }.sort
          Interval.new(low: PumaTuner::Stats::Quantile.of(means, 0.025), high: PumaTuner::Stats::Quantile.of(means, 0.975))
        end

        private

        def resampled_mean(values, random)
          count = values.size
          sum = 0.0
          left = count
          while left.positive?
            sum += values[random.rand(count)]
            left -= 1
          end
          sum / count
        end
      end
    end
  end

  module Methods
    # All trials of one, then all of the other, as most people do by hand.
    module BlockWelch
      TITLE = "blocks AAAA…BBBB, Welch on trials"

      def self.interval(log_speeds, _random, effect:)
        layout = Layout.blocks(log_speeds, effect:)
        Welch.of(layout.baseline, layout.variant)
      end
    end
  end

  module Methods
    # One process each, as long as the rounds together, and its samples taken for independent ones.
    module OneRun
      TITLE = "one run each, Welch on its samples"

      # Each trial's time is worth so many samples, which scatter within their process by this much.
      SAMPLES_PER_TRIAL = 10
      SAMPLE_SD = 0.02

      class << self
        def interval(log_speeds, random, effect:)
          count = log_speeds.size / 2 * SAMPLES_PER_TRIAL
          Welch.of(samples(log_speeds[0], count, random), samples(log_speeds[1] + effect, count, random))
        end

        private

        def samples(log_speed, count, random) = Array.new(count) { log_speed + SAMPLE_SD * Chance.normal(random) }
      end
    end
  end

  # Ways of comparing after a number of rounds that was fixed beforehand. Each has a TITLE, and `interval`: log speeds of
  # trials after each other, chance, and the true log effect -> what it says of that effect.
  module Methods
    ALL = [Ours, PairsT, Bootstrap, BlockWelch, OneRun].freeze
  end

  # Ways to decide when to stop. Each has a TITLE, ROUNDS_MAX, and `end_of`: a Layout of that many rounds -> Ended.
  module Plans
    # interval: the last one looked at; rounds_count: when it was
    Ended = Data.define(:interval, :rounds_count)

    # What puma_tuner does, given --looks.
    module Ours
      LOOKS = PumaTuner::Prove::Looks.stepwise([10, 20, 40])
      EQUIVALENT_RATIO = 0.02
      ROUNDS_MAX = LOOKS.rounds_max
      TITLE = "**looks at #{LOOKS} rounds, corrected, or equivalent (ours)**"

      class << self
        def end_of(layout)
          LOOKS.rounds_counts.each do |count|
            interval = Interval.ours(layout.first(count), level_ratio: LOOKS.level_ratio)
            return Ended.new(interval:, rounds_count: count) if count == ROUNDS_MAX || LOOKS.decided?(estimate(interval), EQUIVALENT_RATIO)
          end
        end

        private

        def estimate(interval)
          PumaTuner::Stats::Estimate.new(value: nil, low: Math.exp(interval.low), high: Math.exp(interval.high), level_ratio: LOOKS.level_ratio,
            samples_count: nil)
        end
      end
    end

    # Looks after every round, and stops when the interval of 95% says something.
    module Peeking
      ROUNDS_MIN = 6
      ROUNDS_MAX = Ours::ROUNDS_MAX
      TITLE = "peeking: after each of #{ROUNDS_MIN} to #{ROUNDS_MAX} rounds, at 95%"

      def self.end_of(layout)
        (ROUNDS_MIN..ROUNDS_MAX).each do |count|
          interval = Interval.ours(layout.first(count))
          return Ended.new(interval:, rounds_count: count) if count == ROUNDS_MAX || interval.excludes?(0)
        end
      end
    end

    ALL = [Ours, Peeking].freeze
  end
end
