# frozen_string_literal: true

module FalseAlarms
  # p99 of rounds of requests: one number a round, or all requests in one pot.
  class Tail
    ROUNDS_COUNT = 10
    REQUESTS_COUNT = 3_000
    QUANTILE_RATIO = 0.99

    # How much longer the variant's requests take where they do.
    EFFECT_RATIO = 1.1
    EFFECT = Math.log(EFFECT_RATIO)

    # Requests are many to draw: fewer repeats than of rounds.
    REPEATS_SHARE = 3

    RESAMPLES_COUNT = 400

    TITLES = {by_round: "**one p99 a round, then as above (ours)**", pooled: "all requests pooled, percentile bootstrap"}.freeze

    attr_reader :condition

    # @param condition [Condition]
    def initialize(condition, repeats_count:, seed:)
      @condition = condition
      @repeats_count = [repeats_count / REPEATS_SHARE, 1].max
      @random = Random.new(seed)
      @tallies = TITLES.transform_values { Tally.new }
    end

    # @return [self]
    def run
      @repeats_count.times do
        rounds = Layout.pairs(@condition.log_speeds(2 * ROUNDS_COUNT, @random), @random)
        slowest = rounds.to_h.transform_values { |logs| logs.map { |log| slowest(log) } }
        {by_round: by_round(**slowest), pooled: pooled(**slowest)}.each { |name, interval| add(name, interval) }
      end
      self
    end

    # @param name [Symbol] of TITLES
    # @return [Tally] :false_alarm, :shown
    def tally(name) = @tallies.fetch(name)

    private

    # Longer by a factor: the interval moves along, and does no more.
    def add(name, interval) = tally(name).add(false_alarm: interval.excludes?(0.0), shown: interval.excludes?(-EFFECT))

    # Exponential latencies, the slowest last, as many as a pot of all rounds can need.
    def slowest(log_speed)
      mean = Math.exp(-log_speed)
      Array.new(REQUESTS_COUNT) { -Math.log(1 - @random.rand) * mean }.max(2 * pot_rank).reverse
    end

    # From the top.
    def pot_rank = (REQUESTS_COUNT * ROUNDS_COUNT * (1 - QUANTILE_RATIO)).round

    def by_round(baseline:, variant:)
      rank = (REQUESTS_COUNT * (1 - QUANTILE_RATIO)).round
      Interval.ours(Layout.new(*[baseline, variant].map { |rounds| rounds.map { |latencies| Math.log(latencies[-1 - rank]) } }))
    end

    # A resample's quantile is one of the sample's values: which one scatters as the quantile of so many uniform numbers
    # does, normally at this size (David and Nagaraja, "Order statistics", 10.2). So nothing needs to be drawn but that.
    def pooled(baseline:, variant:)
      pots = [baseline, variant].map { |rounds| rounds.flatten.sort }
      logs = Array.new(RESAMPLES_COUNT) { pots.map { |pot| Math.log(pot[-1 - resampled_rank]) }.then { |one, other| other - one } }.sort
      Interval.new(low: PumaTuner::Stats::Quantile.of(logs, 0.025), high: PumaTuner::Stats::Quantile.of(logs, 0.975))
    end

    def resampled_rank
      count = REQUESTS_COUNT * ROUNDS_COUNT
      sd = Math.sqrt(QUANTILE_RATIO * (1 - QUANTILE_RATIO) * count)
      (pot_rank + sd * Chance.normal(@random)).round.clamp(0, 2 * pot_rank - 1)
    end
  end
end
