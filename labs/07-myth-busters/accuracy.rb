# frozen_string_literal: true

module PumaTuner
  module Labs
    class MythBusters
      # How far the predictions of the sweep were off. Pure.
      class Accuracy
        # name => what was measured of a cell, what was predicted: an estimate, or a bare number
        METRICS = {
          "throughput" => [->(cell) { cell.throughput_per_s.value }, ->(forecast) { forecast.throughput_per_s }],
          "p50" => [->(cell) { cell.p50_ns.value }, ->(forecast) { forecast.p50_ns }],
          "p99" => [->(cell) { cell.p99_ns.value }, ->(forecast) { forecast.p99_ns }],
          "GVL wait" => [->(cell) { cell.gvl_wait_ns }, ->(forecast) { forecast.gvl_wait_ns }]
        }.freeze

        # One forecast held against what came.
        #
        # error_ratio: predicted over measured, less 1; inside: whether its interval holds what was measured, nil where it has none
        Miss = Data.define(:error_ratio, :inside)

        # One metric's misses. median_ratio, p90_ratio: of their absolute errors; worst_ratio: signed; inside_ratio: nil where there is no interval
        Row = Data.define(:metric, :count, :median_ratio, :p90_ratio, :worst_ratio, :inside_ratio) do
          # @param misses [Array<Miss>] one at least
          def self.of(metric, misses)
            errors = misses.map(&:error_ratio)
            sizes = errors.map(&:abs).sort
            told = misses.map(&:inside).compact
            new(metric:, count: errors.size, median_ratio: Stats::Quantile.of(sizes, 0.5), p90_ratio: Stats::Quantile.of(sizes, 0.9), worst_ratio: errors.max_by(&:abs),
              inside_ratio: (told.count(true).fdiv(told.size) unless told.empty?))
          end
        end

        # Per cent of next to nothing mean nothing.
        LEAST_GVL_WAIT_NS = 200_000

        # @param cells [Array<Sweep::Cell>]
        def initialize(cells)
          @cells = cells
        end

        # @return [Miss, nil] nil where either is unknown, or too small to tell
        def self.miss(cell, metric)
          measured, predicted = METRICS.fetch(metric)
          truth, forecast = measured.call(cell), cell.forecast&.steady? && predicted.call(cell.forecast)
          return if !truth || !forecast || truth.zero?
          value = forecast.is_a?(Stats::Estimate) ? forecast.value : forecast
          return if metric == "GVL wait" && [truth, value].max < LEAST_GVL_WAIT_NS
          Miss.new(error_ratio: value / truth - 1, inside: (forecast.covers?(truth) if forecast.is_a?(Stats::Estimate)))
        end

        # @return [Array<Row>]
        def rows
          METRICS.keys.filter_map do |metric|
            misses = @cells.filter_map { |cell| self.class.miss(cell, metric) }
            Row.of(metric, misses) if misses.any?
          end
        end

        # @return [Array<Advised>] for each share of IO
        def advised = @cells.group_by(&:io_ratio).map { |io_ratio, cells| Advised.of(io_ratio, cells) }
      end

      # For one share of IO: threads by each piece of advice, and how much of the best throughput they have.
      #
      # threads: {name => Integer}, as advised; kept: {name => Float, nil} of the measured best, at the nearest number that was measured
      # best: Integer
      Advised = Data.define(:io_ratio, :best, :threads, :kept) do
        const_set(:NAMES, ["100 / CPU %", "Amdahl", "Rails' 3", "Rails' 5", "forecast"].freeze)

        # @param cells [Array<Sweep::Cell>] of that share
        def self.of(io_ratio, cells)
          estimates = cells.to_h { |cell| [cell.threads, cell.throughput_per_s] }
          measured = estimates.transform_values(&:value)
          forecast = cells.filter_map { |cell| [cell.threads, cell.forecast.throughput_per_s.value] if cell.forecast&.steady? }.to_h
          threads = self::NAMES.zip([Picks.rule(io_ratio), Picks.amdahl(io_ratio), Picks::RAILS_NEW, Picks::RAILS_OLD, Picks.best(forecast)]).to_h
          kept = threads.transform_values { |count| count && measured.fetch(Picks.nearest(count, measured.keys)) / measured.values.max }
          new(io_ratio:, best: Picks.best_measured(estimates), threads:, kept:)
        end
      end
    end
  end
end
