# frozen_string_literal: true

module PumaTuner
  module Prove
    # Measures how far apart two equal variants come: the baseline against itself, before the rounds. It tells what the
    # planned rounds can show before the time for them is spent.
    class NoiseFloor
      # @param variant [Variant] the baseline
      # @param trial_runner [#call]
      # @param metrics [Array<Metric>]
      # @param rounds_count [Integer] of two trials each; the fewer, the rougher: by 4, a spread is known to about 40%
      # @param planned_rounds_count [Integer] what is to be told of
      # @param level_ratio [Float] of the intervals that are planned
      def initialize(variant, trial_runner:, metrics:, rounds_count:, planned_rounds_count:, seed:, level_ratio: 0.95)
        @variants = [variant, variant.with(name: "#{variant.name} again")]
        @metrics = metrics
        @planned_rounds_count = planned_rounds_count
        @level_ratio = level_ratio
        @rounds = Rounds.new(variants: @variants, looks: Looks.fixed(rounds_count), random: Random.new(seed),
          trial_runner: trial_runner.respond_to?(:together) ? trial_runner : Twins.new(trial_runner, variant))
      end

      # Runs the one variant under either name: its factors, and not its name, say what is run.
      Twins = Data.define(:trial_runner, :variant) do
        def expected_s = trial_runner.expected_s

        def call(twin, **place) = trial_runner.call(variant, **place).with(variant: twin.name)
      end
      private_constant :Twins

      # @yieldparam what [String, Statement] is about to run, or has happened
      # @return [Array<Noise>] of each metric that could be told
      def call
        trials = @rounds.call { |what, _| yield(what.is_a?(Statement) ? what : "noise: #{what}", nil) if block_given? }
        values = PairedValues.new(trials, 2)
        @metrics.filter_map do |metric|
          pairs = values.pairs(*@variants.map(&:name), metric.name)
          noise(metric, pairs) if pairs
        end
      end

      private

      def noise(metric, pairs)
        sd = Stats::PairedRatio.sd(*pairs)
        Noise.new(metric: metric.name, ratio: Stats::PairedRatio.of(*pairs), sd_ratio: sd,
          mde_ratio: Stats::MinimumDetectableEffect.of(sd:, pairs_count: @planned_rounds_count,
            level_ratio: @level_ratio))
      end
    end
  end
end
