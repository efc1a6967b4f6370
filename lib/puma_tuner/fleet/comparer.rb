# frozen_string_literal: true

module PumaTuner
  module Fleet
    # Two lists of spans, paired by their place, as rows. Pure but for the random numbers it is given.
    class Comparer
      # p99 of a span on its own, for the adjustment: with fewer requests it is hardly one.
      REQUESTS_MIN = 200

      LEVEL_RATIO = 0.95

      # These are the reasons for which nothing is shown, whatever the figures are. short_blocks: they are parts of a
      # day, and what disturbs a server for hours is in several of them, so that their scatter is not all there is;
      # few_blocks: no interval can be made of so few; traffic_apart: at no traffic were both groups observed, so that
      # the ratio has the traffic's part in it, and taking that out would go on with a line where nobody has looked;
      # few_requests: the groups' traffic differs, and no span has the requests that tell its part in the ratio;
      # unknown_traffic: the groups' workers are unknown, and so what each of them was sent.
      REASONS = %i[short_blocks few_blocks traffic_apart few_requests unknown_traffic].freeze

      # Up to so much more traffic in one of them, the ratio decides where nothing can be taken out. A judgement.
      ALIKE_RATIO = 1.1

      # @param a [Array<Span>]
      # @param b [Array<Span>] as many
      # @param blocks [Array<Integer>] the number of the block of each pair
      # @param days [Boolean] whether a block is a day, or as good as one: nothing that disturbs hits several of them
      # @param random [Random]
      # @param metrics [Array<Measured::Metric>]
      def initialize(a, b, blocks, days:, random:, metrics: Measured::ALL)
        @metrics = metrics
        pairs = a.zip(b, blocks).select { |one, two, _| one.usable? && two.usable? }
        @pairs = pairs.group_by(&:last).values.map { |list| list.map { |one, two, _| [one, two] } }
        @days = days
        @random = random
      end

      # @return [Array<Array<Array(Span, Span)>>] by block, those that both groups have
      attr_reader :pairs

      # @return [Array<Row>]
      # @raise [InvalidMeasurement] when there is nothing to pair
      def rows
        if @pairs.empty?
          raise InvalidMeasurement, "no span has requests and enough samples in both groups; choose another " \
            "--window, or a longer --step"
        end
        plain, adjusted = results.each_slice(@metrics.size).to_a
        reasons = @metrics.zip(plain, adjusted).map { |metric, *results| reason(metric, *results) }
        decisive = plain.zip(adjusted, reasons).map { |one, other, reason| other || one unless reason }
        p_values = @metrics.zip(decisive)
          .filter_map { |metric, result| [metric.name, result.p_value] if metric.better && result }.to_h
        raised = Stats::Holm.adjust(p_values)
        @metrics.each_with_index.map do |metric, index|
          row(metric, plain[index], adjusted[index],
            outcome: outcome(metric, decisive[index], raised[metric.name], reasons[index]), reason: reasons[index])
        end
      end

      private

      def results
        Stats::BlockBootstrap.of(@pairs.size, random: @random) do |weights|
          ratios = ratios(weights)
          [*ratios, *adjusted(ratios, weights)]
        end
      end

      # Returns the sums by metric, side and block.
      def sums
        @sums ||= @metrics.to_h do |metric|
          [metric, [0, 1].map { |side| @pairs.map { |block| metric.sum(block.map { |pair| pair[side] }) } }]
        end
      end

      def ratios(weights)
        @metrics.map do |metric|
          a, b = sums[metric].map { |side| metric.of(side, weights) }
          Math.log(b / a) if a&.positive? && b&.positive?
        end
      end

      # The ratio, less what traffic explains of it. An hour counts as it does in the ratio, by its requests, so that at
      # equal traffic nothing is taken off. The difference of the hours' mean logarithms was rejected: nights decide it,
      # of which the ratio knows little, and it can say the contrary at the same traffic.
      def adjusted(ratios, weights)
        @metrics.zip(ratios).map do |metric, ratio|
          a, b = (points(metric) if ratio && metric.adjusted && !traffic_apart?)
          explained = a && Stats::Ancova.weighted(b, weights).explained(Stats::Ancova.weighted(a, weights))
          ratio - explained if explained
        end
      end

      # Returns the points by side and block.
      def points(metric)
        (@points ||= {})[metric] ||= [0, 1].map do |side|
          @pairs.map { |block| Stats::Ancova.of(block.filter_map { |pair| point(metric, pair, side) }) }
        end
      end

      def point(metric, pair, side)
        return unless adjustable?(pair)
        span = pair[side]
        value = metric.of([metric.sum([span])])
        [Math.log(span.load_per_s), Math.log(value), metric.weight(span)] if value&.positive?
      end

      def adjustable?(pair) = pair.none? { |span| span.load_per_s.nil? || span.requests_count < REQUESTS_MIN }

      # Groups are compared in the middle between their mean loads; it has to be a load that either has had.
      def traffic_apart?
        return @traffic_apart unless @traffic_apart.nil?
        sides = @pairs.flatten(1).select { |pair| adjustable?(pair) }
          .map { |pair| pair.map { |span| Math.log(span.load_per_s) } }.transpose
        middle = sides.sum { |logs| logs.sum / logs.size } / 2 if sides.any?
        # Equal but for rounding is equal.
        @traffic_apart = sides.any? { |logs| !middle.between?(logs.min - 1e-9, logs.max + 1e-9) }
      end

      # @param plain [Stats::BlockBootstrap::Result, nil] the ratio
      # @param adjusted [Stats::BlockBootstrap::Result, nil] the ratio at equal traffic
      # @return [Symbol, nil]
      def reason(metric, plain, adjusted)
        return if metric.better.nil? || sums[metric].any? { |side| metric.of(side).nil? }
        return :few_blocks unless plain
        return :short_blocks unless @days
        return unless metric.adjusted
        return :traffic_apart if traffic_apart?
        (alike?.nil? ? :unknown_traffic : :few_requests) unless adjusted || alike?
      end

      # Returns whether the groups had about the same traffic; nil where nobody knows it, as workers are unknown.
      def alike?
        a, b = [0, 1].map { |side| mean_load_per_s(@pairs.flatten(1).map { |pair| pair[side] }) }
        a && b && (b / a).between?(1 / ALIKE_RATIO, ALIKE_RATIO)
      end

      # @return [Float, nil] requests per second and worker
      def mean_load_per_s(spans)
        return unless spans.all?(&:load_per_s)
        spans.sum(&:requests_count) / spans.sum { |span| span.seconds * span.workers_count }
      end

      def row(metric, plain, adjusted, **said)
        a, b = sums[metric].map { |side| metric.of(side) }
        Row.new(name: metric.name, label: metric.label, unit: metric.unit, a:, b:,
          ratio: plain&.estimate(level_ratio: LEVEL_RATIO), adjusted: adjusted&.estimate(level_ratio: LEVEL_RATIO),
          error_ratio: error_ratio(metric), **said)
      end

      # Half the bucket in which the percentile lies, in the group where that is worse.
      def error_ratio(metric)
        return unless metric.ratio
        sums[metric].filter_map { |side| Measured.weighted(side).ends_s(metric.ratio) }
          .map { |low, high| (high - low) / (high + low) }.max
      end

      def outcome(metric, result, p_value, reason)
        return :not_shown if reason
        return unless metric.better && result
        return :not_shown if p_value > 1 - LEVEL_RATIO
        (result.log.negative? == (metric.better == "less")) ? :better : :worse
      end
    end
  end
end
