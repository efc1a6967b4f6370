# frozen_string_literal: true

require_relative "../support/bench"

module AdviceCheck
  # The p99s of a shape's settings, round by round. Pure.
  #
  # Within a round all settings get the same requests at the same instants, so what chance there is in arrivals is theirs
  # together; p99s of one round are compared with each other only.
  class Rounds
    Stats = PumaTuner::Stats
    private_constant :Stats

    # @param rounds [Array<Hash{String => Numeric}>] p99 in nanoseconds by setting, of each round; without what must not count
    # @param contenders [Array<String>] settings that may be the best
    def initialize(rounds, contenders:)
      @rounds = rounds
      @contenders = contenders
    end

    # @return [Array<String>]
    attr_reader :contenders

    # @return [Stats::Estimate, nil] one's p99 over another's, from the rounds that have both; nil without any
    def ratio(one, over) = estimate(@rounds.map { |round| round.values_at(over, one) })

    # One's p99 over that of the best. Which one is the best is chosen in the half of the rounds that the compared one is not of: what
    # was lucky there is as lucky as anybody here.
    #
    # @return [Stats::Estimate, nil] nil where nothing was measured
    def over_best(one)
      best = bests
      estimate(@rounds.each_with_index.map { |round, index| round.values_at(best.fetch(1 - index % 2), one) })
    end

    # @return [Array<String, nil>] the best in the even rounds, and in the odd ones
    def bests
      @bests ||= [0, 1].map { |half| best_of(@rounds.each_with_index.filter_map { |round, index| round if index % 2 == half }) }
    end

    # @return [Float, nil] median of the rounds, ns
    def p99_ns(one) = Bench.median(@rounds.filter_map { |round| round[one] })

    private

    # By the middle of how far it is from its round's other settings.
    def best_of(rounds)
      scores = Hash.new { |all, name| all[name] = [] }
      rounds.each do |round|
        there = round.slice(*@contenders)
        middle = Bench.median(there.values)
        there.each { |name, p99_ns| scores[name] << p99_ns / middle }
      end
      scores.min_by { |_, values| Bench.median(values) }&.first
    end

    def estimate(pairs)
      whole = pairs.select(&:all?)
      Stats::PairedRatio.of(whole.map(&:first), whole.map(&:last)) if whole.any?
    end
  end

  # Which settings go on. What can't be the best need not be measured to the end. Pure.
  module Race
    # So many times the round's least p99, in each round so far.
    HOPELESS_FACTOR = 2.0

    # @param rounds [Array<Hash{String => Numeric}>] the first ones
    # @param kept [Array<String>] that are compared, however they do
    # @return [Array<String>] settings that go on
    def self.survivors(rounds, kept:)
      names = rounds.flat_map(&:keys).uniq
      names.select do |name|
        kept.include?(name) || rounds.any? { |round| round[name].nil? || round[name] < HOPELESS_FACTOR * round.values.compact.min }
      end
    end

    # @param rounds [Rounds] so far
    # @param kept [Array<String>] that are compared, however they do
    # @return [Array<String>] of its contenders, those that go on: who is not shown to be behind
    def self.near_best(rounds, kept:)
      best = rounds.contenders.min_by { |name| rounds.p99_ns(name) || Float::INFINITY }
      rounds.contenders.select do |name|
        ratio = rounds.ratio(name, best) unless kept.include?(name) || name == best
        ratio.nil? || ratio.low.nil? || ratio.low <= 1
      end
    end
  end

  # What came of one piece of advice.
  #
  # start_name: "one thread"; start, advised: settings; rules: that had something to say; kind: of what was said about settings, :go, :stay, …
  # rate_per_s; start_bears, advised_bears: whether they bear that; over_best, over_start: Estimates of p99, nil where there is none
  # unrivalled: whether no other setting of the grid can be the best, see Race
  # again: the same of the A/A pair, nil where it was not measured
  Case = Data.define(:shape, :start_name, :start, :advised, :kind, :rules, :rate_per_s, :start_bears, :advised_bears, :unrivalled, :over_best, :over_start, :again) do
    # "Within 5% of the best".
    const_set(:WITHIN_RATIO, 1.05)

    # An interval that reaches further hides a setting that is clearly not within 5%. So does that of the A/A pair: where nobody can tell settings
    # apart, the advised one is the best of both halves by luck at times, and then is compared with itself.
    const_set(:NOISE_RATIO, 1.10)

    # @return [Symbol] :met, :missed or :not_shown
    def near_best
      return :missed unless advised_bears
      unrivalled ? :met : outcome(over_best)
    end

    # What has no steady state can't get worse.
    # @return [Symbol]
    def no_worse
      return :met if advised == start || !start_bears
      advised_bears ? outcome(over_start) : :missed
    end

    private

    def outcome(estimate)
      return :not_shown unless estimate&.level_ratio && again&.level_ratio
      limit = self.class::WITHIN_RATIO
      return :missed if estimate.low > limit * apart_ratio
      (estimate.value <= limit && estimate.high <= limit * self.class::NOISE_RATIO && noise_ratio <= self.class::NOISE_RATIO) ? :met : :not_shown
    end

    # How far two equal servers were shown to be apart, 1 where they were not; and how far they may be.
    def apart_ratio = [again.low, 1 / again.high, 1.0].max

    def noise_ratio = [again.high, 1 / again.low].max
  end

  # The targets. Pure.
  module Judge
    # One target. measured: in words
    Verdict = Data.define(:claim, :measured, :outcome)

    # At most so many of 18 may be elsewhere than near the best.
    MISSES_MAX = 1

    class << self
      # @param cases [Array<Case>]
      # @param starved [Array<Hash>] "rules", "today" and "advised" of each app whose pool starves
      # @return [Array<Verdict>]
      def verdicts(cases, starved)
        [near_best(cases), no_worse(cases), *(named(starved) if starved.any?), silent(cases)]
      end

      private

      def near_best(cases)
        counts = counts(cases.map(&:near_best))
        outcome = if counts[:missed] > MISSES_MAX then :missed
        else
          (cases.size - counts[:met] <= MISSES_MAX) ? :met : :not_shown
        end
        Verdict.new(claim: "p99 of the advised setting within 5% of the best of the grid, in all but #{MISSES_MAX} of #{cases.size}", measured: words(counts), outcome:)
      end

      def no_worse(cases)
        counts = counts(cases.map(&:no_worse))
        Verdict.new(claim: "no advice makes p99 worse than at its starting point", measured: words(counts), outcome: worst(counts))
      end

      def named(starved)
        found = starved.count { |one| one["rules"].include?("starved_pool") && threads(one["advised"]) <= threads(one["today"]) }
        Verdict.new(claim: "a starved pool is named, and not answered with threads", measured: "#{found} of #{starved.size}", outcome: (found == starved.size) ? :met : :missed)
      end

      def silent(cases)
        silent = cases.count { |one| !one.rules.include?("starved_pool") }
        Verdict.new(claim: "and of no other app", measured: "silent in #{silent} of #{cases.size}", outcome: (silent == cases.size) ? :met : :missed)
      end

      def threads(setting) = PumaTuner::Topology.parse(setting).threads_count

      def counts(outcomes) = Bench::OUTCOMES.keys.to_h { |outcome| [outcome, outcomes.count(outcome)] }

      def worst(counts)
        return :missed if counts[:missed].positive?
        counts[:not_shown].positive? ? :not_shown : :met
      end

      def words(counts) = {met: "met", missed: "missed", not_shown: "not shown"}.map { |outcome, word| "#{counts[outcome]} #{word}" }.join(", ")
    end
  end
end
