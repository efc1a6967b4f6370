# frozen_string_literal: true

require_relative "verdict"

module Overhead
  # The probe's targets. Pure.
  module Judge
    # Beside a rival, in the same rounds, so that it holds on any machine: the form's key, the rival's, and the share of the rival's
    # cost that ours may be.
    BESIDE = [["c_alone", "gvltools", 0.6], ["pipe_alone", "gvltools", 0.6], ["c_busy", "gvltools", 1.0], ["pipe_busy", "gvltools", 1.0],
      ["request_5", "gvl_timing", 1.0], ["request_1", "gvl_timing", 1.0]].freeze

    # The aim.
    REQUEST_TARGET_US = 1.5
    REQUEST = %w[request_5 request_1].freeze

    # What counts as "no more beside threads that sleep". That two things are equal to the last nanosecond can't be shown.
    GROWTH_TARGET_NS = 25

    # Forms with threads asleep, and the same work without them.
    ASLEEP = {"c_blocked" => "c_alone", "pipe_blocked" => "pipe_alone"}.freeze

    class << self
      # @param all_series [Array<Series>]
      # @return [Array<Verdict>] none for what was not measured, or not with the probe
      def verdicts(all_series)
        by_key = all_series.select { |series| judged?(series) }.to_h { |series| [series.key, series] }
        [
          *BESIDE.filter_map { |key, rival, share| beside(by_key[key], rival, share) if by_key[key] },
          *ASLEEP.filter_map { |many, single| growth(by_key[many], by_key[single]) if by_key[many] && by_key[single] },
          *by_key.values_at(*REQUEST).compact.map { |series| absolute(series, REQUEST_TARGET_US) }
        ].compact
      end

      private

      # Where the baseline failed, too, the probe is not to blame.
      def judged?(series) = series.variants.include?(Variant::OURS) && series.values(Variant::NONE).any?

      # What ours takes beyond that share of what the rival takes, each less the same round's baseline.
      def beside(series, rival_key, share)
        rival = series.variants.find { |variant| variant.key == rival_key } or return
        rivals = series.differences(rival)
        beyond = series.differences(Variant::OURS).filter_map { |round, value| value - share * rivals[round] if rivals[round] }
        Verdict.new(claim: "#{series.title}: nothing beyond #{"#{share} times " unless share == 1}what #{rival.label} takes", unit: series.unit, target: 0,
          estimate: Difference.of(beyond), noise: series.difference(Variant::AGAIN))
      end

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
