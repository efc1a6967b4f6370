# frozen_string_literal: true

module Validation
  # What was measured in a cell, with how far it can be trusted. Each metric is an Estimate: its interval spans what single
  # repeats gave, and of percentiles also what so many requests leave open.
  class Measured
    # More spread than this between the repeats of a closed loop, and the cell says nothing about a target of 2 %.
    SPREAD_RATIO = 0.03

    # Undisturbed ones; with less there is no spread.
    LEAST_REPEATS_COUNT = 2

    # Percentiles of fewer requests are not shown.
    P99_LEAST_COUNT = 200

    # 95 %, of a normal distribution.
    Z = 1.96

    Stats = PumaTuner::Stats
    private_constant :Stats

    # @param fields [Hash] of the journal, see Session
    def initialize(fields)
      @fields = fields
      all = fields["repeats"] || []
      undisturbed = all.select { |repeat| repeat["disturbed"].nil? }
      @repeats = (undisturbed.size < LEAST_REPEATS_COUNT) ? all : undisturbed
    end

    # @return [String, nil] why this cell says nothing, as a clause
    def invalid
      @fields["failure"] || @repeats.filter_map { |repeat| repeat["disturbed"] }.first || too_wide
    end

    def open? = !@fields["rate_per_s"].nil?

    def connections_count = @fields["connections_count"]

    # @return [Integer]
    def requests_count = @repeats.sum { |repeat| repeat["requests_count"] }

    # What really arrived, of chance: a prediction is made for the load that there was.
    # @return [Float, nil]
    def offered_per_s
      @repeats.sum { |repeat| repeat["intended_count"] } / (@repeats.size * @fields["load_s"]) if open?
    end

    # Of a closed loop; an open one has the throughput that is sent to it, which proves nothing.
    # @return [Stats::Estimate, nil]
    def throughput
      return if open? || @repeats.empty?
      value = requests_count / (@repeats.sum { |repeat| repeat["duration_ns"] } / 1e9)
      estimate(value, @repeats.map { |repeat| repeat["throughput_per_s"] }, requests_count)
    end

    # @return [Stats::Estimate, nil] ns
    def mean
      return if @repeats.empty? || requests_count.zero?
      estimate(@repeats.sum { |repeat| repeat["mean_ns"] * repeat["requests_count"] }.fdiv(requests_count), @repeats.map { |repeat| repeat["mean_ns"] }, requests_count)
    end

    # @return [Float] the machine's speed meanwhile, see Speed
    def turns_per_ms = @repeats.sum { |repeat| repeat["turns_per_ms"] } / @repeats.size

    # Of the server, for a request: tells apart whether the work or its order was predicted wrongly.
    # @return [Stats::Estimate, nil] ns
    def cpu
      values = @repeats.filter_map { |repeat| repeat["cpu_ns"]&.fdiv(repeat["requests_count"]) if repeat["requests_count"].positive? }
      estimate(values.sum / values.size, values, requests_count) if values.any?
    end

    # @return [Stats::Estimate, nil] ns
    def p50 = quantile(0.5, "p50_ns")

    # @return [Stats::Estimate, nil] ns
    def p99 = (quantile(0.99, "p99_ns") if requests_count >= P99_LEAST_COUNT)

    # @return [Stats::Estimate, nil] ns, mean of a request
    def gvl_wait
      wait = @fields["gvl_wait"] or return
      half = Z * (wait["deviation_ns"] || 0) / Math.sqrt(wait["requests_count"])
      estimate(wait["mean_ns"], [wait["mean_ns"] - half, wait["mean_ns"] + half], wait["requests_count"])
    end

    # @return [Float, nil] standard deviation of the repeats' throughput, of their mean
    def spread_ratio
      values = @repeats.map { |repeat| repeat["throughput_per_s"] }
      return if values.size < 2
      mean = values.sum.fdiv(values.size)
      Math.sqrt(values.sum { |value| (value - mean)**2 } / (values.size - 1)) / mean
    end

    private

    # Poisson arrivals differ by more than that from repeat to repeat, and should.
    def too_wide
      return if open? || spread_ratio.nil? || spread_ratio <= SPREAD_RATIO
      "its repeats' throughput varies by #{PumaTuner::Units.percent(spread_ratio)}"
    end

    def estimate(value, ends, samples_count)
      low, high = [value, *ends].minmax
      Stats::Estimate.new(value:, low:, high:, level_ratio: nil, samples_count:)
    end

    # Between which ranks the true percentile lies, were requests independent. They follow each other's queues, so it is more
    # that they leave open, not less.
    def quantile(ratio, name)
      return if requests_count.zero?
      half = Z * Math.sqrt(ratio * (1 - ratio) / requests_count)
      ends = [ratio - half, ratio + half].map { |one| histogram.quantile_ns(one.clamp(0, 1)) }
      estimate(histogram.quantile_ns(ratio), [*ends, *@repeats.map { |repeat| repeat[name] }], requests_count)
    end

    def histogram = @histogram ||= @repeats.filter_map { |repeat| repeat["latency"] }.sum(Stats::Histogram.empty) { |latency| Stats::Histogram.from_document(latency) }
  end
end
