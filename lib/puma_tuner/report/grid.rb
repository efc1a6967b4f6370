# frozen_string_literal: true

module PumaTuner
  module Report
    # The forecasts of a sweep that differ in their topology only: one table, and one map, for each load, time slice and
    # number of I/O threads. Where each of these has a single forecast, as one topology under many loads has, they are
    # one grid.
    class Grid
      # @param sweep [Predict::Sweep]
      # @return [Array<Grid>] in the order in which they were asked for
      def self.of(sweep)
        alike = sweep.forecasts.group_by { |forecast| forecast.scenario.with(topology: nil, min_threads_count: nil) }
        return [new(sweep, nil, sweep.forecasts)] if alike.size > 1 && alike.values.all?(&:one?)
        alike.map { |scenario, forecasts| new(sweep, scenario, forecasts) }
      end

      # More topologies of a reason are counted only.
      NAMED_MAX = 6

      # Nor do many reasons tell more than a few.
      REASONS_MAX = 4

      attr_reader :forecasts

      # @param scenario [Predict::Scenario, nil] without a topology; nil: each forecast has its own
      # @param forecasts [Array<Predict::Forecast>]
      def initialize(sweep, scenario, forecasts)
        @sweep = sweep
        @scenario = scenario
        @forecasts = forecasts
      end

      # @return [Array<String>] of the latency, to be shown
      def percentiles = @sweep.percentiles

      # @return [Array<Predict::Forecast>]
      def steady = @steady ||= @forecasts.select(&:steady?)

      # @return [Predict::Forecast, nil]
      def at(topology) = @forecasts.find { |forecast| forecast.topology == topology }

      # The throughput of an open loop with room is its own rate, whatever the topology: there, latency tells them
      # apart.
      #
      # @return [Predict::Forecast, nil] nil without any steady state, and where loads differ
      def best
        return unless @scenario
        return steady.min_by { |forecast| forecast.p99_ns.value } if open?
        steady.max_by { |forecast| forecast.throughput_per_s.value }
      end

      # @return [String] what the best is
      def best_word = open? ? "lowest p99" : "fastest"

      # @return [Boolean]
      def open? = !@scenario.nil? && @scenario.arrivals.open?

      # @return [Boolean] whether a cell for each number of workers and of threads shows all there is
      def map? = !@scenario.nil? && @forecasts.size > 1 && @forecasts.map(&:topology).uniq.size == @forecasts.size

      # @return [Array<Integer>]
      def workers_counts = @forecasts.map { |forecast| forecast.topology.workers_count }.uniq.sort

      # @return [Array<Integer>]
      def threads_counts = @forecasts.map { |forecast| forecast.topology.threads_count }.uniq.sort

      # @return [String] "1x5"; "1x5 min 1" where the same topology stands there with another minimum; "1x5 180/s" where
      # loads differ
      def name(forecast)
        return own_name(forecast.scenario) unless @scenario
        return forecast.topology.to_s if map? || @forecasts.one?
        "#{forecast.topology} min #{forecast.scenario.min_threads_count}"
      end

      # @return [String] "20 connections", "200 requests/s (bursty), time slice 10 ms"; what all scenarios have in
      # common is left out, but for the load
      def words = @scenario ? [load, time_slice, io_threads].compact.join(", ") : "a load of its own each"

      # @return [String, nil] for a heading: whether this is what the recording saw
      def recorded
        return unless @scenario && @scenario.arrivals == @sweep.arrivals
        "as recorded" if @scenario.timeslice_ms.nil? && @scenario.io_threads_count.zero?
      end

      # @return [Array<String>] why some have no figures
      def unsteady_reasons
        reasons = (@forecasts - steady).group_by { |forecast| Statements.words(forecast.unsteady) }
        told = reasons.first(REASONS_MAX).map { |reason, forecasts| "#{named(forecasts)}: #{reason}." }
        more = reasons.size - REASONS_MAX
        told << "#{Figures.counted(more, "reason")} more in the JSON." if more.positive?
        told
      end

      private

      def load
        arrivals = @scenario.arrivals
        return "#{Units.rate(arrivals.rate_per_s)} requests/s (#{kind(arrivals)})" if arrivals.open?
        think_time = ", #{Units.duration(arrivals.think_ns)} of think time" if arrivals.think_ns.to_i.positive?
        "#{Figures.counted(arrivals.connections_count, "connection")}#{think_time}"
      end

      def kind(arrivals)
        [arrivals.kind, ("#{plain(arrivals.burst_count)} at a time" if arrivals.burst_count)].compact.join(", ")
      end

      def time_slice
        return "time slice #{plain(@scenario.timeslice_ms)} ms" if @scenario.timeslice_ms
        "the recorded time slice" if others_differ?(:timeslice_ms)
      end

      def io_threads
        count = @scenario.io_threads_count
        return Figures.counted(count, "I/O thread") if count.positive?
        "no I/O threads" if others_differ?(:io_threads_count)
      end

      def plain(number) = (number == number.to_i) ? number.to_i.to_s : Units.significant(number)

      def others_differ?(field) = @sweep.forecasts.map { |forecast| forecast.scenario.public_send(field) }.uniq.size > 1

      # Short, as it stands in front of many numbers.
      def own_name(scenario)
        arrivals = scenario.arrivals
        [
          scenario.topology,
          arrivals.open? ? "#{Units.rate(arrivals.rate_per_s)}/s" : "#{arrivals.connections_count} conn.",
          (arrivals.kind if arrivals.open? && kinds_differ?),
          ("slice #{scenario.timeslice_ms || "-"}" if others_differ?(:timeslice_ms)),
          ("I/O #{scenario.io_threads_count}" if others_differ?(:io_threads_count))
        ].compact.join(" ")
      end

      def kinds_differ?
        @forecasts.map { |forecast| forecast.scenario.arrivals }.select(&:open?).map(&:kind).uniq.size > 1
      end

      def named(forecasts)
        names = forecasts.map { |forecast| name(forecast) }
        return Figures.list(names) if names.size <= NAMED_MAX
        "#{names.first(NAMED_MAX - 1).join(", ")} and #{names.size - NAMED_MAX + 1} more"
      end
    end
  end
end
