# frozen_string_literal: true

module PumaTuner
  module Fleet
    # The metrics that are compared, in the order in which they are shown. Each is a percentile of durations, or one sum
    # over another, so that blocks are added up once, and a resample adds blocks and no spans.
    class Measured
      # unit: "ns", "bytes", "per_s" or "count"; better: "less", or nil of what is only told
      # adjusted: whether traffic explains a part of it: at more requests, queues are longer and more code is compiled
      # ratio: of a percentile, else nil; over, under: Span to a number, nil where that is unknown
      Metric = Data.define(:name, :label, :unit, :better, :adjusted, :ratio, :over, :under) do
        # @param spans [Array<Span>]
        # @return [MergedHistogram, Array(Float, Float), nil] what adds up; nil where a span does not know its own
        def sum(spans)
          return Measured.histogram(spans) if ratio
          numbers = spans.map { |span| [over.call(span), under.call(span)] }
          numbers.transpose.map(&:sum) unless numbers.flatten.include?(nil)
        end

        # @param span [Span]
        # @return [Float] how much it counts beside others
        def weight(span) = ratio ? span.requests_count : under.call(span)

        # @param sums [Array] as above
        # @param weights [Array<Integer>] how often each counts
        # @return [Float, nil] nil where nobody knows
        def of(sums, weights = [1] * sums.size)
          return if sums.include?(nil)
          return Measured.weighted(sums, weights).quantile_s(ratio)&.*(Units::NS_PER_S) if ratio
          above, below = [0, 1].map { |place| sums.zip(weights).sum { |sum, weight| sum[place] * weight } }
          above / below if below.positive?
        end
      end

      class << self
        # @param spans [Array<Span>]
        # @return [MergedHistogram]
        # @raise [InvalidMeasurement] of spans with different bounds
        def histogram(spans) = weighted(spans.map(&:histogram))

        # @param histograms [Array<MergedHistogram>]
        # @param weights [Array<Numeric>] how often each counts
        # @return [MergedHistogram]
        # @raise [InvalidMeasurement] as above
        def weighted(histograms, weights = [1] * histograms.size)
          bounds_s = histograms.first.bounds_s
          if histograms.any? { |one| one.bounds_s != bounds_s }
            raise InvalidMeasurement, "histograms of different spans have different bounds, as from two versions of " \
              "the exporter; choose a --window with one of them"
          end
          counts = Array.new(bounds_s.size, 0.0)
          histograms.zip(weights) do |one, weight|
            one.counts.each_with_index { |count, place| counts[place] += count * weight } unless weight.zero?
          end
          MergedHistogram.new(bounds_s:, counts:)
        end

        private

        def metric(name, label, unit, better: nil, adjusted: false, ratio: nil, under: nil, &over)
          Metric.new(name:, label:, unit:, better:, adjusted:, ratio:, over:, under:)
        end

        # Seconds, to nanoseconds per request.
        def per_request(name, label, &seconds)
          metric(name, label, "ns", better: "less", adjusted: true, under: :requests_count.to_proc) do |span|
            seconds.call(span)&.*(Units::NS_PER_S)
          end
        end

        # Over time: spans are equally long.
        def mean(name, label, unit, **, &) = metric(name, label, unit, under: ->(_) { 1.0 }, **, &)
      end

      ALL = [
        metric("p99", "p99", "ns", better: "less", adjusted: true, ratio: 0.99),
        metric("p50", "p50", "ns", better: "less", adjusted: true, ratio: 0.5),
        mean("memory", "memory (PSS), sum", "bytes", better: "less", &:memory_bytes),
        mean("memory_per_worker", "memory per worker", "bytes", better: "less", adjusted: true) { |span|
          span.memory_bytes && span.workers_count && span.memory_bytes / span.workers_count
        },
        mean("code", "code_region_size, mean", "bytes") { |span|
          span.code_bytes && span.yjit_workers_count && span.code_bytes / span.yjit_workers_count
        },
        per_request("cpu_per_request", "CPU per request", &:cpu_s),
        per_request("gvl_wait_per_request", "GVL wait per request") { |span| span.parts_s["gvl_wait"] },
        per_request("queue_per_request", "queue per request") { |span| span.parts_s["queue"] },
        metric("throughput", "requests/s", "per_s", under: :seconds.to_proc, &:requests_count),
        mean("workers", "workers", "count", &:workers_count)
      ].freeze
    end
  end
end
