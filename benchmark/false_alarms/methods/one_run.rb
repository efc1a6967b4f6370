# frozen_string_literal: true

require_relative "../welch"

module FalseAlarms
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
end
