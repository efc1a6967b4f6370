# frozen_string_literal: true

module PumaTuner
  module Labs
    # The charts of this lab's report: what YJIT costs by the variety of the load, and memory as requests are served.
    class YjitCharts
      # Points of a memory curve, over the requests that all its trials have served.
      STEPS = 24

      # @param measured [YjitMeasured]
      def initialize(measured)
        @measured = measured
      end

      # @return [Array<Lab::Chart>]
      def all = [*variety, *memory]

      private

      def variety
        cells = @measured.curve
        return [] if cells.empty?
        ratios = {"memory, on / off" => "pss", "CPU per request, on / off" => "cpu_per_request", "p99, on / off" => "p99"}.map do |title, metric|
          Lab::Series.new(title:, points: points(cells) { |cell| @measured.ratio(cell, metric) })
        end
        [Lab::Chart.new(id: "variety", title: "What YJIT costs and brings, by the variety of the load", across: kinds(cells), up: Lab::Axis.new(name: "YJIT on over off"), series: ratios,
          reading: "above 1 it costs, below 1 it saves; each point with its 95% interval. Staging's few kinds of requests stand on the left, production's on the right."),
          Lab::Chart.new(id: "code", title: "Machine code, by the variety of the load", across: kinds(cells), up: Lab::Axis.new(name: "code_region_size", unit: "MiB"),
            series: [Lab::Series.new(title: "in the worker that has most", points: points(cells, Units::MIB) { |cell| @measured.condition(cell, "yjit_code_bytes") })],
            reading: "middle and range of the rounds: what was not asked for often enough is not compiled, and takes no memory.")]
      end

      def kinds(cells) = Lab::Axis.new(name: "kinds of requests", ticks: cells.each_with_index.map { |cell, index| [index, cell.kinds_count.to_s] })

      # @yieldreturn [Stats::Estimate, nil]
      def points(cells, divisor = 1)
        cells.each_with_index.filter_map do |cell, index|
          estimate = yield(cell) or next
          [index, *[estimate.value, estimate.low, estimate.high].map { |number| number.fdiv(divisor) }]
        end
      end

      # One chart for each service and Ruby that was under production's mix.
      def memory
        @measured.verdicts.keys.select { |cell| cell.mix == YjitMeasured::PRODUCTION }.map do |cell|
          series = [cell, @measured.cell(cell.service, YjitMeasured::STAGING, cell.ruby)].compact.flat_map { |each| memory_series(each) }
          Lab::Chart.new(id: "memory-#{cell.service.tr("_", "-")}-#{cell.ruby.tr(".", "-")}", title: "Memory of the #{YjitMeasured::TITLES.fetch(cell.service)} as it serves, Ruby #{cell.ruby}",
            across: Lab::Axis.new(name: "requests served since it began"), up: Lab::Axis.new(name: "memory (PSS)", unit: "MiB"), series:,
            reading: "the sum over all processes of the server: middle and range of the rounds, warm-up included. A line that still rises at its end has not told all of its price.")
        end
      end

      def memory_series(cell)
        verdict = @measured.verdicts.fetch(cell)
        [YjitMeasured::OFF, YjitMeasured::ON].filter_map do |variant|
          curves = verdict.valid_trials.select { |trial| trial.variant == variant }.map(&:memory).reject { |curve| curve.size < 2 }
          Lab::Series.new(title: "#{variant}, #{cell.mix}", points: middle_of(curves)) if curves.any?
        end
      end

      # @param curves [Array<Array<Array(Integer, Integer, Integer)>>] requests served, PSS and RSS in bytes
      def middle_of(curves)
        last = curves.map { |curve| curve.last.first }.min
        (0..STEPS).map { |step| last * step / STEPS }.uniq.map do |count|
          sizes = curves.map { |curve| pss_at(curve, count).fdiv(Units::MIB) }.sort
          [count, Stats::Quantile.of(sizes, 0.5), sizes.first, sizes.last]
        end
      end

      def pss_at(curve, count)
        before, after = curve.each_cons(2).find { |one, two| count.between?(one.first, two.first) } || curve.last(2)
        return before[1] if after.first == before.first
        before[1] + (after[1] - before[1]) * (count - before.first).fdiv(after.first - before.first)
      end
    end
  end
end
