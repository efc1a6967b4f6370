# frozen_string_literal: true

module FalseAlarms
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
end
