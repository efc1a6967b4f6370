# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # How the latency of the busiest endpoints is spread: a hill for each on one logarithmic line.
      class LatencyChart < RowChart
        HILL_HEIGHT = 40
        ENDPOINTS_MAX = 4

        # To each doubling: fine enough for two humps to stand apart, coarse enough for a thousand requests.
        BINS_PER_OCTAVE = 6

        # @param endpoints [Array<Probe::EndpointObservation>]
        def initialize(endpoints)
          seen = endpoints.select { |endpoint| endpoint.latency.counts.any? }
          @endpoints = seen.sort_by { |endpoint| [-endpoint.requests_count, endpoint.name] }.first(ENDPOINTS_MAX)
          @bins = @endpoints.to_h { |endpoint| [endpoint, bins(endpoint.latency)] }
          edges = @bins.values.flat_map { |bins| [bins.keys.min, bins.keys.max + 1] }.map { |bin| edge_ms(bin) }
          @scale = scale_over(edges, logarithmic: true)
        end

        # @return [String] for those who do not see it
        def label = "Latency of the busiest endpoints, how many requests took how long"

        # @return [Array<String>]
        def headings = %w[requests p50 p99]

        # @return [Array<String>]
        def axis_names = ["", "ms, from being queued in Puma to the end of the response"]

        # @return [Integer] a hill stands on the row's end
        def row_height = HILL_HEIGHT + 8

        # @return [Array<Row>]
        def rows = @endpoints.map { |endpoint| row(endpoint) }

        private

        def tick_numbers = @scale.decades

        def tick_name(ms) = format((ms >= 100) ? "%d" : "%.3g", ms)

        def row(endpoint)
          marks = {"p50" => endpoint.p50_ns, "p99" => endpoint.p99_ns}
          told = marks.map { |name, ns| "#{name} #{Units.duration(ns)}" }
          places = marks.values.map { |ns| @scale.place(ns.fdiv(Units::NS_PER_MS)) }
          hill = Hill.new(path: path(@bins[endpoint]), height: row_height)
          rules = places.zip(told).map { |x, title| Rule.new(x:, title:) }
          Row.new(name: endpoint.name, style: nil, marks: [hill, *rules],
            facts: [Figures.count(endpoint.requests_count), *marks.values.map { |ns| Units.duration(ns) }],
            title: "#{endpoint.name}: #{Figures.counted(endpoint.requests_count, "request")}, #{told.join(", ")}")
        end

        # A bucket across an edge counts in both bins, by how much of it lies in each.
        def bins(latency)
          latency.counts.each_with_object(Hash.new(0.0)) do |(bucket, count), bins|
            range = Probe::Histogram.range_of(bucket)
            low, high = [[range.begin, 1].max, range.end].map { |ns| Math.log2(ns) * BINS_PER_OCTAVE }
            (low.floor..(high.ceil - 1)).each do |bin|
              bins[bin] += count * ([high, bin + 1].min - [low, bin].max) / (high - low)
            end
          end
        end

        def edge_ms(bin) = 2**bin.fdiv(BINS_PER_OCTAVE) / Units::NS_PER_MS

        def path(bins)
          most = bins.values.max
          first, last = bins.keys.minmax
          steps = (first..last).map do |bin|
            "V#{(row_height - bins.fetch(bin, 0) / most * HILL_HEIGHT).round(1)}H#{@scale.place(edge_ms(bin + 1))}"
          end
          "M#{@scale.place(edge_ms(first))} #{row_height}#{steps.join}V#{row_height}Z"
        end
      end
    end
  end
end
