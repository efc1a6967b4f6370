# frozen_string_literal: true

module PumaTuner
  module Labs
    class MythBusters
      # How far the predictions of the sweep were off. Pure.
      class Accuracy
        # name => what was measured of a cell, what was predicted
        METRICS = {
          "throughput" => [->(cell) { cell.throughput_per_s.value }, ->(forecast) { forecast.throughput_per_s.value }],
          "p50" => [->(cell) { cell.p50_ns.value }, ->(forecast) { forecast.p50_ns.value }],
          "p99" => [->(cell) { cell.p99_ns.value }, ->(forecast) { forecast.p99_ns.value }],
          "GVL wait" => [->(cell) { cell.gvl_wait_ns }, ->(forecast) { forecast.gvl_wait_ns }]
        }.freeze

        # Per cent of next to nothing mean nothing.
        LEAST_GVL_WAIT_NS = 200_000

        # @param cells [Array<Sweep::Cell>]
        def initialize(cells)
          @cells = cells
        end

        # @return [Float, nil] predicted over measured, less 1; nil where either is unknown, or too small to tell
        def self.error(cell, metric)
          measured, predicted = METRICS.fetch(metric)
          truth, forecast = measured.call(cell), cell.forecast&.steady? && predicted.call(cell.forecast)
          return if !truth || !forecast || truth.zero?
          return if metric == "GVL wait" && [truth, forecast].max < LEAST_GVL_WAIT_NS
          forecast / truth - 1
        end

        # @return [Array<Array(String, Integer, Float, Float, Float)>] metric, cells, median absolute error, its 90th percentile, the worst (signed)
        def rows
          METRICS.keys.filter_map do |metric|
            errors = @cells.filter_map { |cell| self.class.error(cell, metric) }
            sizes = errors.map(&:abs).sort
            [metric, errors.size, Stats::Quantile.of(sizes, 0.5), Stats::Quantile.of(sizes, 0.9), errors.max_by(&:abs)] if errors.any?
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
          measured = cells.to_h { |cell| [cell.threads, cell.throughput_per_s.value] }
          forecast = cells.filter_map { |cell| [cell.threads, cell.forecast.throughput_per_s.value] if cell.forecast&.steady? }.to_h
          threads = self::NAMES.zip([Picks.rule(io_ratio), Picks.amdahl(io_ratio), Picks::RAILS_NEW, Picks::RAILS_OLD, Picks.best(forecast)]).to_h
          kept = threads.transform_values { |count| count && measured.fetch(Picks.nearest(count, measured.keys)) / measured.values.max }
          new(io_ratio:, best: Picks.best(measured), threads:, kept:)
        end
      end
    end
  end
end
