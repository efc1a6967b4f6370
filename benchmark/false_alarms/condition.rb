# frozen_string_literal: true

module FalseAlarms
  # How the speed of a machine wanders while trials follow each other. All as logs: 0.01 is about 1 %.
  #
  # trend: over 40 trials, at most, up or down; walk_sd: of the step from each trial to the next
  # process_sd: what each fresh process is off by, for itself
  # spike_ratio: of the trials that something else slows down; spike_depth: how much of the speed that takes, at most
  Condition = Data.define(:name, :trend, :walk_sd, :process_sd, :spike_ratio, :spike_depth) do
    # @param random [Random]
    # @return [Array<Float>] log speed of each trial
    def log_speeds(count, random)
      slope = trend * random.rand(-1.0..1.0) / 40
      level = 0.0
      Array.new(count) do |index|
        level += walk_sd * Chance.normal(random)
        level + slope * index + process_sd * Chance.normal(random) + spike(random)
      end
    end

    # @return [String]
    def description
      drift = format("a trend of up to %g %% over 40 trials, random steps of %g %%", trend * 100, walk_sd * 100)
      spikes = format(", and %g %% of trials slowed by up to %g %%", spike_ratio * 100, spike_depth * 100) if spike_ratio.positive?
      "#{drift}, processes that scatter by #{format("%g", process_sd * 100)} %#{spikes}"
    end

    private

    def spike(random) = (random.rand < spike_ratio) ? Math.log(1 - spike_depth * random.rand) : 0.0
  end

  class Condition
    ALL = [
      new(name: "quiet", trend: 0.03, walk_sd: 0.002, process_sd: 0.012, spike_ratio: 0.0, spike_depth: 0.0),
      new(name: "noisy", trend: 0.10, walk_sd: 0.006, process_sd: 0.02, spike_ratio: 0.08, spike_depth: 0.25)
    ].freeze
  end

  # Drawn numbers.
  module Chance
    # @param random [Random]
    # @return [Float] of the standard normal distribution (Box and Muller, 1958)
    def self.normal(random) = Math.sqrt(-2 * Math.log(1 - random.rand)) * Math.cos(2 * Math::PI * random.rand)
  end
end
