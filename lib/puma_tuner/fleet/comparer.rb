# frozen_string_literal: true

module PumaTuner
  module Fleet
    # Two lists of spans, paired by their place, as rows. Pure but for the random numbers it is given.
    class Comparer
      METRICS = Measured::ALL

      # p99 of a span on its own, for the adjustment: with fewer requests it is hardly one.
      REQUESTS_MIN = 200

      LEVEL_RATIO = 0.95

      # @param a [Array<Span>]
      # @param b [Array<Span>] as many
      # @param blocks [Array<Integer>] the number of the block of each pair
      # @param random [Random]
      def initialize(a, b, blocks, random:)
        pairs = a.zip(b, blocks).select { |one, two, _| one.usable? && two.usable? }
        @pairs = pairs.group_by(&:last).values.map { |list| list.map { |one, two, _| [one, two] } }
        @random = random
      end

      # @return [Array<Array<Array(Span, Span)>>] by block, those that both groups have
      attr_reader :pairs

      # @return [Array<Row>]
      # @raise [VoidMeasurement] when there is nothing to pair
      def rows
        raise VoidMeasurement, "there is no span in which both groups have requests and enough samples" if @pairs.empty?
        plain, adjusted = results.each_slice(METRICS.size).to_a
        decisive = plain.zip(adjusted).map { |one, other| other || one }
        p_values = METRICS.zip(decisive).filter_map { |metric, result| [metric.name, result.p_value] if metric.better && result }.to_h
        raised = Stats::Holm.adjust(p_values)
        METRICS.zip(plain, adjusted).map { |metric, one, other| row(metric, one, other, raised[metric.name]) }
      end

      private

      def results = Stats::BlockBootstrap.of(@pairs.size, random: @random) { |weights| [*ratios(weights), *adjusted(weights)] }

      # By metric, side and block.
      def sums = @sums ||= METRICS.to_h { |metric| [metric, [0, 1].map { |side| @pairs.map { |block| metric.sum(block.map { |pair| pair[side] }) } }] }

      def ratios(weights)
        METRICS.map do |metric|
          a, b = sums[metric].map { |side| metric.of(side, weights) }
          Math.log(b / a) if a&.positive? && b&.positive?
        end
      end

      def adjusted(weights)
        METRICS.map do |metric|
          a, b = (points(metric) if metric.adjusted)
          a && Stats::EqualCovariate.weighted(b, weights).difference(Stats::EqualCovariate.weighted(a, weights))
        end
      end

      # By side and block.
      def points(metric)
        (@points ||= {})[metric] ||= [0, 1].map { |side| @pairs.map { |block| Stats::EqualCovariate.of(block.filter_map { |pair| point(metric, pair, side) }) } }
      end

      def point(metric, pair, side)
        return if pair.any? { |span| span.load_per_s.nil? || span.requests_count < REQUESTS_MIN }
        value = metric.of([metric.sum([pair[side]])], [1])
        [Math.log(pair[side].load_per_s), Math.log(value)] if value&.positive?
      end

      def row(metric, plain, adjusted, p_value)
        a, b = sums[metric].map { |side| metric.of(side, Array.new(@pairs.size, 1)) }
        Row.new(name: metric.name, label: metric.label, unit: metric.unit, a:, b:, ratio: plain&.estimate(level_ratio: LEVEL_RATIO),
          adjusted: adjusted&.estimate(level_ratio: LEVEL_RATIO), error_ratio: error_ratio(metric), outcome: outcome(metric, adjusted || plain, p_value))
      end

      # Half the bucket in which the percentile lies, in the group where that is worse.
      def error_ratio(metric)
        return unless metric.ratio
        sums[metric].filter_map { |side| Measured.weighted(side, Array.new(@pairs.size, 1)).ends_s(metric.ratio) }.map { |low, high| (high - low) / (high + low) }.max
      end

      def outcome(metric, result, p_value)
        return unless metric.better && result
        return "not shown" if p_value > 1 - LEVEL_RATIO
        (result.log.negative? == (metric.better == "less")) ? "better" : "worse"
      end
    end
  end
end
