# frozen_string_literal: true

module FalseAlarms
  # How the speed of a machine wanders while trials follow each other. All as logs: 0.01 is about 1%.
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
      drift = format("a trend of up to %g%% over 40 trials, random steps of %g%%", trend * 100, walk_sd * 100)
      spikes = format(", and %g%% of trials slowed by up to %g%%", spike_ratio * 100, spike_depth * 100) if spike_ratio.positive?
      "#{drift}, processes that scatter by #{format("%g", process_sd * 100)}%#{spikes}"
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

  # How often which came out.
  class Tally
    # False alarms promised, of all.
    PROMISED_RATIO = 0.05

    # How many standard deviations of a binomial count pass for chance. One of ten figures beyond three is chance 1 time in 70.
    DEVIATIONS = 3

    attr_reader :count

    def initialize
      @count = 0
      @sums = Hash.new(0)
    end

    # @param observed [Hash{Symbol => Boolean, Numeric}] true counts 1, false nothing
    def add(**observed)
      @count += 1
      observed.each { |name, value| @sums[name] += {true => 1, false => 0}.fetch(value, value) }
    end

    # @return [Float] share, or mean
    def [](name) = @sums[name].fdiv(@count)

    # @return [Boolean] whether there are more false alarms than promised, and than chance explains
    def broken? = self[:false_alarm] > PROMISED_RATIO + DEVIATIONS * Math.sqrt(PROMISED_RATIO * (1 - PROMISED_RATIO) / @count)
  end

  # Rounds on one simulated machine, over and over: two equal variants, and two of which one is faster.
  class Simulation
    ROUNDS_COUNTS = [6, 10, 20].freeze

    # How much faster the variant is where it is.
    EFFECT_RATIO = 1.03
    EFFECT = Math.log(EFFECT_RATIO)

    attr_reader :condition

    # @param condition [Condition]
    def initialize(condition, repeats_count:, seed:)
      @condition = condition
      @repeats_count = repeats_count
      @random = Random.new(seed)
      @fixed = Hash.new { |tallies, key| tallies[key] = Tally.new }
      @plans = Hash.new { |tallies, key| tallies[key] = Tally.new }
    end

    # @return [self]
    def run
      @repeats_count.times do
        log_speeds = @condition.log_speeds(2 * Plans::Ours::ROUNDS_MAX, @random)
        ROUNDS_COUNTS.product(Methods::ALL) { |count, method| compare(method, count, log_speeds.first(2 * count)) }
        Plans::ALL.each { |plan| follow(plan, log_speeds.first(2 * plan::ROUNDS_MAX)) }
      end
      self
    end

    # @return [Tally] :false_alarm, :shown, :covered
    def fixed(method, rounds_count) = @fixed[[method, rounds_count]]

    # @return [Tally] the same, and :rounds_of_equals, :rounds_of_others
    def plan(plan) = @plans[plan]

    private

    def compare(method, rounds_count, log_speeds)
      of_equals, of_others = [0.0, EFFECT].map { |effect| method.interval(log_speeds, @random, effect:) }
      fixed(method, rounds_count).add(**outcome(of_equals, of_others))
    end

    def follow(plan, log_speeds)
      equals, others = [0.0, EFFECT].map { |effect| plan.end_of(Layout.pairs(log_speeds, @random, effect:)) }
      plan(plan).add(**outcome(equals.interval, others.interval), rounds_of_equals: equals.rounds_count, rounds_of_others: others.rounds_count)
    end

    def outcome(of_equals, of_others)
      {false_alarm: of_equals.excludes?(0.0), shown: of_others.excludes?(0.0), covered: !of_others.excludes?(EFFECT)}
    end
  end

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
