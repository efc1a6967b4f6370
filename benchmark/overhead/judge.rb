# frozen_string_literal: true

require_relative "verdict"

module Overhead
  # The probe's targets. Pure.
  module Judge
    CYCLE_TARGET_NS = 75
    REQUEST_TARGET_US = 1.5

    # What counts as "no more with 32 threads": a third of what a cycle may cost at all. That two things are equal to the last
    # nanosecond can't be shown.
    GROWTH_TARGET_NS = 25

    # Forms with one thread, which the first target is about.
    SINGLE = %w[c_alone pipe_alone].freeze

    REQUEST = %w[request_5 request_1].freeze

    # Forms with 32 threads, and the same work on one.
    MANY = {"c_blocked" => "c_alone", "c_busy" => "c_alone", "pipe_blocked" => "pipe_alone", "pipe_busy" => "pipe_alone"}.freeze

    class << self
      # @param all_series [Array<Series>]
      # @return [Array<Verdict>] none for what was not measured, or not with the probe
      def verdicts(all_series)
        by_key = all_series.select { |series| judged?(series) }.to_h { |series| [series.key, series] }
        [
          *by_key.values_at(*SINGLE).compact.map { |series| absolute(series, CYCLE_TARGET_NS) },
          *MANY.filter_map { |many, single| growth(by_key[many], by_key[single]) if by_key[many] && by_key[single] },
          *by_key.values_at(*REQUEST).compact.map { |series| absolute(series, REQUEST_TARGET_US) }
        ]
      end

      private

      # Where the baseline failed, too, the probe is not to blame.
      def judged?(series) = series.variants.include?(Variant::OURS) && series.values(Variant::NONE).any?

      def absolute(series, target)
        Verdict.new(claim: "#{series.title}: at most #{target} #{series.unit} more", unit: series.unit, target:,
          estimate: series.difference(Variant::OURS), noise: series.difference(Variant::AGAIN))
      end

      def growth(many, single)
        estimate, noise = [Variant::OURS, Variant::AGAIN].map { |variant| Difference.of(growths(many, single, variant)) }
        Verdict.new(claim: "#{many.title}: at most #{GROWTH_TARGET_NS} ns more than for #{single.title}", unit: many.unit,
          target: GROWTH_TARGET_NS, estimate:, noise:)
      end

      def growths(many, single, variant)
        alone = single.differences(variant)
        many.differences(variant).filter_map { |round, value| value - alone[round] if alone[round] }
      end
    end
  end
end
