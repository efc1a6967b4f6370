# frozen_string_literal: true

module PumaTuner
  module Prove
    # Decides what others on the machine do to a proof: processes that are not the server's, the generator's or ours,
    # and the hypervisor.
    #
    # The variants of a round take turns, so most of it hits both, cancels in their ratio, and widens the interval by
    # what does not. Only a round in which it hit one variant clearly more than the other is run again, and the figures
    # of the variants have no part in that. A control group's throttling and threads that wait for cores are not looked
    # at: a variant that uses more CPU makes more of both by itself.
    class Disturbance
      # The difference between two variants in what others took must lie at least so far from that of the median round,
      # as a share of the machine. A variant may make a difference of its own, by a database that works more.
      CLEARLY_MORE_RATIO = 0.10

      # It must also lie so many standard deviations away: that is an outlier, and not the tail of what happens in every
      # round. Without that, leaving out tails makes intervals too narrow: 14% false alarms for 5%
      # (benchmark/false_alarms/neighbour.rb).
      OUTLIER_SDS = 4

      # For a normal distribution, this is the standard deviation over the median absolute deviation (Rousseeuw and
      # Croux, 1993).
      SD_PER_MAD = 1.4826

      # It takes so many rounds at least to know what is usual.
      USUAL_COUNT = 5

      # At most this share of the planned rounds is run again for it; the others that are hit count, and widen the
      # interval.
      AGAIN_SHARE = 1 / 3r

      # The fewest rounds of which a correlation says something.
      CORRELATED_COUNT = 6

      # A measurement that stands alone, without a pair that was hit as well, should not count when others took more
      # than this.
      FOREIGN_CPU_RATIO = 0.15
      STOLEN_RATIO = 0.05

      class << self
        # @param conditions [Hash{String => Numeric}] see Conditions
        # @return [Float, nil] share of the machine that others took; nil where it is not known
        def taken_ratio(conditions)
          shares = conditions.values_at("foreign_cpu_ratio", "stolen_ratio").compact
          shares.sum if shares.any?
        end

        # @param conditions [Hash{String => Numeric}] of a measurement that has no pair
        # @return [String, nil] who else used the machine, as a clause
        def of_unpaired(conditions)
          foreign, stolen, throttled = conditions.values_at("foreign_cpu_ratio", "stolen_ratio", "throttled_count")
          if foreign && foreign > FOREIGN_CPU_RATIO then "others used #{Units.percent(foreign)} of the machine"
          elsif stolen && stolen > STOLEN_RATIO then "the hypervisor took #{Units.percent(stolen)} of the machine away"
          elsif throttled&.positive? then "the control group's CPU quota was used up #{throttled} times"
          end
        end
      end

      # @param variants [Array<Variant>] the first is the baseline
      # @param planned_count [Integer] rounds
      def initialize(variants, planned_count:)
        @baseline, *@others = variants.map(&:name)
        @again_max = (planned_count * AGAIN_SHARE).ceil
      end

      # @param trials [Array<Trial>] of all attempts so far
      # @return [Array<Trial>] the same, with those void that were disturbed;
      #   judged anew each time, as what is usual gets clearer
      def mark(trials)
        attempts = trials.map { |trial| (trial.void&.kind == :disturbed) ? trial.with(void: nil) : trial }
          .each_slice(@others.size + 1).to_a
        hit = hit(attempts)
        attempts.each_with_index.flat_map do |attempt, index|
          hit.key?(index) ? marked(attempt, *hit.fetch(index)) : attempt
        end
      end

      # @param trials [Array<Trial>] marked
      # @param primary [String] metric that the cost is told of
      # @return [Disturbed, nil] nil where no trial knows what others took
      def summary(trials, primary:, level_ratio:)
        again, valid = trials.each_slice(@others.size + 1).partition { |attempt| attempt.any?(&:void) }
        taken = valid.flatten.filter_map { |trial| Disturbance.taken_ratio(trial.conditions) }
        return if taken.empty?
        explained, quiet = cost(valid, primary, level_ratio)
        Disturbed.new(taken_ratio: Stats::Estimate.of_range(taken),
          again_count: again.count { |attempt| attempt.any? { |trial| trial.void&.kind == :disturbed } },
          explained_ratio: explained, quiet_effect_ratio: quiet)
      end

      private

      # @return [Hash{Integer => Array(String, Float)}] index of an attempt =>
      #   the variant that was hit, and by how much more
      def hit(attempts)
        known = attempts.each_index.reject { |index| attempts[index].any?(&:void) }
        worst = @others.flat_map { |name| excesses_of(name, attempts, known) }.group_by(&:first)
          .values.map { |found| found.max_by { |_, _, excess| excess.abs } }
        worst.max_by(@again_max) { |_, _, excess| excess.abs }
          .to_h { |index, name, excess| [index, [name, excess]] }
      end

      # @return [Array<Array(Integer, String, Float)>] index of an attempt, variant, and how far its difference is from
      #   the usual one, of outliers
      def excesses_of(name, attempts, indices)
        differences = indices.to_h { |index| [index, difference(attempts[index], name)] }.compact
        return [] if differences.size < USUAL_COUNT
        usual = median(differences.values)
        sd = SD_PER_MAD * median(differences.values.map { |difference| (difference - usual).abs })
        differences.map { |index, difference| [index, name, difference - usual] }
          .select { |_, _, excess| excess.abs > [CLEARLY_MORE_RATIO, OUTLIER_SDS * sd].max }
      end

      def median(values) = Stats::Quantile.of(values.sort, 0.5)

      # Returns how much more of the machine others took while the variant ran than while the baseline did.
      def difference(attempt, name)
        one, other = [name, @baseline].map do |wanted|
          Disturbance.taken_ratio(attempt.find { |trial| trial.variant == wanted }.conditions)
        end
        one - other if one && other
      end

      def marked(attempt, variant, excess)
        name, ratio = excess.positive? ? [variant, excess] : [@baseline, -excess]
        attempt.map do |trial|
          next trial unless trial.variant == name
          trial.with(void: Void.new(kind: :disturbed, detail: Statement.of(:disturbed, taken_ratio: ratio)))
        end
      end

      # It is judged by the correlation of the log-ratio with the difference, over rounds and for the first variant: the
      # share of variance that a straight line explains, corrected for the line having been fitted (adjusted r²;
      # Ezekiel, 1930).
      def cost(valid, primary, level_ratio)
        points = valid.filter_map { |attempt| point(attempt, primary) }
        return if points.size < CORRELATED_COUNT
        explained = [1 - (1 - squared_correlation(points)) * (points.size - 1) / (points.size - 2), 0.0].max
        sd = Stats::PairedRatio.sd(*[:baseline, :variant].map { |side| points.map { |one| one.fetch(side) } })
        sd *= Math.sqrt(1 - explained)
        [explained, Stats::MinimumDetectableEffect.of(sd:, pairs_count: points.size, level_ratio:)]
      end

      def point(attempt, primary)
        taken = difference(attempt, @others.first) or return
        baseline, variant = [@baseline, @others.first].map do |name|
          attempt.find { |trial| trial.variant == name }.values[primary]
        end
        if baseline&.positive? && variant&.positive?
          {baseline:, variant:, taken:, log_ratio: Math.log(variant.fdiv(baseline))}
        end
      end

      def squared_correlation(points)
        xs, ys = %i[taken log_ratio].map { |name| centred(points.map { |point| point.fetch(name) }) }
        xx, yy, xy = [[xs, xs], [ys, ys], [xs, ys]].map { |one, other| one.zip(other).sum { |a, b| a * b } }
        (xx.zero? || yy.zero?) ? 0.0 : xy**2 / (xx * yy)
      end

      def centred(values)
        mean = values.sum.fdiv(values.size)
        values.map { |value| value - mean }
      end
    end
  end
end
