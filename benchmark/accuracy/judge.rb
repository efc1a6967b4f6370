# frozen_string_literal: true

module Accuracy
  # The probe's targets. Pure.
  module Judge
    PART_TARGET_PERCENT = 1.0
    WALL_TARGET_PERCENT = 0.5
    CPU_CLOCK_TARGET_PERCENT = 1.0
    BLAME_TARGET_PERCENT = 3.0

    # By how much the probe was off in one round, and how far the truth itself may have been.
    Round = Data.define(:error_percent, :doubt_percent) do
      # @return [Float] at the worst, and at the least
      def most = error_percent.abs + doubt_percent

      def least = [error_percent.abs - doubt_percent, 0.0].max
    end

    # One target, in all rounds.
    #
    # note: what came instead of numbers
    Verdict = Data.define(:condition, :workload, :what, :target_percent, :rounds, :note) do
      # Met takes every round, with the doubt about its truth held against the probe: a noisy machine makes errors and doubts
      # larger, and with more rounds there are more to pass. So noise turns what is met into what is not shown, and never the
      # other way round. (The best of the rounds would be met by whatever is noisy enough, the median by half of them.)
      # Missed takes no more than the middle round, the doubt in the probe's favour: one disturbed round is no evidence.
      #
      # @return [Symbol] :met, :missed or :not_shown
      def outcome
        return :missed if note || PumaTuner::Stats::Quantile.of(rounds.map(&:least).sort, 0.5) > target_percent
        (rounds.all? { |round| round.most <= target_percent }) ? :met : :not_shown
      end
    end

    class << self
      # @param results [Results]
      # @param conditions [Array<String>]
      # @param workloads [Array<String>]
      # @return [Array<Verdict>] parts, and their sum, are judged on an idle machine only: elsewhere the truth is too coarse, but
      #   for the CPU clock
      def verdicts(results, conditions:, workloads:)
        conditions.product(workloads).flat_map do |condition, workload|
          samples = results.samples(condition, workload, Tools::OURS)
          failures = results.failures(condition, workload, Tools::OURS)
          [*failed(condition, workload, failures), *(judged(condition, workload, samples) if samples.any?)]
        end
      end

      # @param blame [Hash{Blame::Scenarios::Entry => Array<Blame::Sample, Failure>}]
      # @return [Array<Verdict>]
      def blame_verdicts(blame)
        blame.flat_map do |scenario, answers|
          samples, failures = answers.partition { |answer| answer.is_a?(Blame::Sample) }
          holders = samples.empty? ? [] : scenario.holders
          [*failed("idle", scenario.name, failures), *holders.map { |holder|
            rounds = samples.map { |sample| Round.new(error_percent: sample.error_percent(holder), doubt_percent: sample.doubt_percent) }
            verdict("idle", scenario.name, "waits for #{holder}", BLAME_TARGET_PERCENT, rounds)
          }]
        end
      end

      private

      def judged(condition, workload, samples)
        cpu_clock = verdict(condition, workload, "cpu and gc, by the CPU clock", CPU_CLOCK_TARGET_PERCENT, rounds(samples, &:cpu_clock_error_percent))
        return [cpu_clock] unless condition == "idle"
        parts = Truth::PARTS.map do |part|
          verdict(condition, workload, part.to_s, PART_TARGET_PERCENT,
            rounds(samples, doubt: ->(sample) { sample.doubt_percent(part) + sample.wall_doubt_percent }) { |sample| sample.error_percent(part) })
        end
        sum = verdict(condition, workload, "sum, by the wall clock", WALL_TARGET_PERCENT, rounds(samples, doubt: :wall_doubt_percent.to_proc, &:wall_error_percent))
        [*parts, sum, cpu_clock]
      end

      # @return [Array<Round, nil>] nil where nothing was told
      def rounds(samples, doubt: ->(_) { 0.0 })
        samples.map do |sample|
          error_percent = yield(sample)
          Round.new(error_percent:, doubt_percent: doubt.call(sample)) if error_percent
        end
      end

      def verdict(condition, workload, what, target_percent, rounds)
        Verdict.new(condition:, workload:, what:, target_percent:, rounds: rounds.compact, note: ("not told" unless rounds.all?))
      end

      # A crash is a miss, however many rounds went well.
      def failed(condition, workload, failures)
        failures.map(&:kind).tally.map do |kind, count|
          Verdict.new(condition:, workload:, what: "every run", target_percent: 0, rounds: [], note: "#{kind} #{count} times")
        end
      end
    end
  end
end
