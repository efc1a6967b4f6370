# frozen_string_literal: true

module PumaTuner
  module Fleet
    # What is compared, in the order in which it is shown. Each is made of spans drawn with weights, so that a resample costs no more
    # than the whole.
    class Measured
      # unit: "ns", "bytes", "per_s" or "count"; better: "less", or nil of what is only told
      # number: of spans with their weights, [[Span, Integer], …], to a Float, or nil
      Metric = Data.define(:name, :label, :unit, :better, :number)

      PART = ->(part) { ->(spans) { per_request(spans, spans.map { |span, weight| [span.parts_s[part], weight] }) } }

      class << self
        # @param spans [Array<Array(Span, Integer)>] with weights
        # @return [MergedHistogram, nil]
        def histogram(spans)
          bounds = spans.first.first.histogram.bounds_s
          raise VoidMeasurement, "histograms of different spans have different bounds: two versions of the exporter" if spans.any? { |span, _| span.histogram.bounds_s != bounds }
          counts = Array.new(bounds.size, 0.0)
          spans.each { |span, weight| span.histogram.counts.each_with_index { |count, place| counts[place] += count * weight } unless weight.zero? }
          MergedHistogram.new(bounds_s: bounds, counts:)
        end

        # @return [Float, nil] of seconds, per request, in nanoseconds; nil where a span does not know its own
        def per_request(spans, seconds)
          return if seconds.any? { |one, _| one.nil? }
          requests_count = spans.sum { |span, weight| span.requests_count * weight }
          seconds.sum { |one, weight| one * weight } / requests_count * Units::NS_PER_S if requests_count.positive?
        end

        # @return [Float, nil] over time; nil where a span does not know it
        def mean(spans, &)
          numbers = spans.map { |span, weight| [yield(span), weight] }
          return if numbers.any? { |number, _| number.nil? }
          numbers.sum { |number, weight| number * weight } / numbers.sum { |_, weight| weight }
        end

        # @return [Float, nil]
        def quantile_ns(spans, ratio) = histogram(spans).quantile_s(ratio)&.*(Units::NS_PER_S)
      end

      ALL = [
        Metric.new(name: "p99", label: "p99", unit: "ns", better: "less", number: ->(spans) { quantile_ns(spans, 0.99) }),
        Metric.new(name: "p50", label: "p50", unit: "ns", better: "less", number: ->(spans) { quantile_ns(spans, 0.5) }),
        Metric.new(name: "memory", label: "memory (PSS), sum", unit: "bytes", better: "less", number: ->(spans) { mean(spans, &:memory_bytes) }),
        Metric.new(name: "memory_per_worker", label: "memory per worker", unit: "bytes", better: "less",
          number: ->(spans) { mean(spans) { |span| span.memory_bytes && span.workers_count && span.memory_bytes / span.workers_count } }),
        Metric.new(name: "code", label: "code_region_size, mean", unit: "bytes", better: nil,
          number: ->(spans) { mean(spans) { |span| span.code_bytes && span.yjit_workers_count && span.code_bytes / span.yjit_workers_count } }),
        Metric.new(name: "cpu_per_request", label: "CPU per request", unit: "ns", better: "less",
          number: ->(spans) { per_request(spans, spans.map { |span, weight| [span.cpu_s, weight] }) }),
        Metric.new(name: "gvl_wait_per_request", label: "GVL wait per request", unit: "ns", better: "less", number: PART.call("gvl_wait")),
        Metric.new(name: "queue_per_request", label: "queue per request", unit: "ns", better: "less", number: PART.call("queue")),
        Metric.new(name: "throughput", label: "requests/s", unit: "per_s", better: nil,
          number: ->(spans) { spans.sum { |span, weight| span.requests_count * weight } / spans.sum { |span, weight| span.seconds * weight } }),
        Metric.new(name: "workers", label: "workers", unit: "count", better: nil, number: ->(spans) { mean(spans, &:workers_count) })
      ].freeze

      # What traffic explains a part of: at more requests, queues are longer and more code is compiled.
      ADJUSTED = %w[p99 p50 memory_per_worker cpu_per_request gvl_wait_per_request queue_per_request].freeze
    end
  end
end
