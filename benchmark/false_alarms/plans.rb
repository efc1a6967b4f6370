# frozen_string_literal: true

module FalseAlarms
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

    # Looks after every round, and stops when the interval of 95 % says something.
    module Peeking
      ROUNDS_MIN = 6
      ROUNDS_MAX = Ours::ROUNDS_MAX
      TITLE = "peeking: after each of #{ROUNDS_MIN} to #{ROUNDS_MAX} rounds, at 95 %"

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
