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
  end
end
