# frozen_string_literal: true

module PumaTuner
  module Report
    class Html
      # How the latency of the busiest endpoints is spread: a hill for each on one logarithmic line.
      class LatencyChart
        include RowsOnScale

        LEFT = 250
        TOP = 0
        HILL_HEIGHT = 40
        ROW_HEIGHT = 54

        ENDPOINTS_MAX = 4

        # Of a name, beside the plot.
        NAME_LENGTH = 34

        # To each doubling: fine enough for two humps to stand apart, coarse enough for a thousand requests.
        BINS_PER_OCTAVE = 6

        # y: of the hill's foot; path: of its outline; marks: places and titles of p50 and p99
        Row = Data.define(:y, :name, :facts, :title, :path, :marks)

        # @param endpoints [Array<Probe::EndpointObservation>]
        def initialize(endpoints)
          seen = endpoints.select { |endpoint| endpoint.latency.counts.any? }
          @endpoints = seen.sort_by { |endpoint| [-endpoint.requests_count, endpoint.name] }.first(ENDPOINTS_MAX)
          @bins = @endpoints.to_h { |endpoint| [endpoint, bins(endpoint.latency)] }
          edges = @bins.values.flat_map { |bins| [bins.keys.min, bins.keys.max + 1] }.map { |bin| edge_ms(bin) }
          @scale = scale_over(edges, logarithmic: true)
        end

        # @return [Integer] where the last hill stands
        def plot_bottom = @endpoints.size * ROW_HEIGHT

        # @return [Array<Row>]
        def rows = @endpoints.each_with_index.map { |endpoint, index| row(endpoint, (index + 1) * ROW_HEIGHT) }

        private

        def tick_numbers = @scale.decades

        def tick_name(ms) = format((ms >= 100) ? "%d" : "%.3g", ms)

        def row(endpoint, y)
          marks = {"p50" => endpoint.p50_ns, "p99" => endpoint.p99_ns}
          facts = marks.map { |name, ns| "#{name} #{Units.duration(ns)}" }.join(", ")
          Row.new(y:, name: Figures.shortened(endpoint.name, NAME_LENGTH),
            title: "#{endpoint.name}: #{Figures.counted(endpoint.requests_count, "request")}, #{facts}",
            facts: "of #{Figures.count(endpoint.requests_count)}: #{facts}", path: path(@bins[endpoint], y),
            marks: marks.map { |name, ns| [@scale.place(ns.fdiv(Units::NS_PER_MS)), "#{name} #{Units.duration(ns)}"] })
        end

        # A bucket across an edge counts in both bins, by how much of it lies in each.
        def bins(latency)
          latency.counts.each_with_object(Hash.new(0.0)) do |(bucket, count), bins|
            range = Probe::Histogram.range_of(bucket)
            low, high = [[range.begin, 1].max, range.end].map { |ns| Math.log2(ns) * BINS_PER_OCTAVE }
            (low.floor..(high.ceil - 1)).each { |bin| bins[bin] += count * ([high, bin + 1].min - [low, bin].max) / (high - low) }
          end
        end

        def edge_ms(bin) = 2**bin.fdiv(BINS_PER_OCTAVE) / Units::NS_PER_MS

        def path(bins, foot)
          most = bins.values.max
          first, last = bins.keys.minmax
          steps = (first..last).map do |bin|
            "V#{(foot - bins.fetch(bin, 0) / most * HILL_HEIGHT).round(1)}H#{@scale.place(edge_ms(bin + 1))}"
          end
          "M#{@scale.place(edge_ms(first))} #{foot}#{steps.join}V#{foot}Z"
        end
      end
    end
  end
end
