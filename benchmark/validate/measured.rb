# frozen_string_literal: true

module Validation
  # What was measured in a cell, on one server or on several that were started one after the other. Each metric is an Estimate: its interval spans what single repeats gave, and of percentiles also
  # what so many requests leave open. How far the repeats are apart decides nothing: a cell is left out or marked by causes alone.
  class Measured
    # Undisturbed ones; with less there is no spread.
    LEAST_REPEATS_COUNT = 2

    # Percentiles of fewer requests are not shown.
    P99_LEAST_COUNT = 200

    # 95 %, of a normal distribution.
    Z = 1.96

    Stats = PumaTuner::Stats
    private_constant :Stats

    # @param starts [Array<Hash>] of the journal, one or more, see Session
    def initialize(starts)
      answering = starts.reject { |fields| fields["failure"] }
      @starts = answering.empty? ? starts : answering
      @fields = @starts.first
      @all = @starts.flat_map { |fields| (fields["repeats"] || []).map { |repeat| repeat.merge("start" => fields["start"]) } }
      answered = @all.reject { |repeat| repeat["failure"] }
      undisturbed = answered.reject { |repeat| repeat["disturbed"] }
      @repeats = (undisturbed.size < LEAST_REPEATS_COUNT) ? answered : undisturbed
    end

    # @return [String, nil] why there is nothing that a prediction could be held against, as a clause
    def failure
      return @fields["failure"] if @fields["failure"]
      @all.filter_map { |repeat| repeat["failure"] }.first || "nothing was sent" if @repeats.empty?
    end

    # @return [String, nil] what disturbed it, as a clause: others on the machine, or repeats that had to be made again
    def disturbed
      failures = @all.filter_map { |repeat| repeat["failure"] }
      @repeats.filter_map { |repeat| repeat["disturbed"] }.first || ("#{failures.size} of #{@all.size} repeats failed: #{failures.first}" if failures.any?)
    end

    def open? = !@fields["rate_per_s"].nil?

    def connections_count = @fields["connections_count"]

    # @return [Integer] answers that throughput and latency are of
    def counted_count = @repeats.sum { |repeat| repeat["counted_count"] }

    # What really arrived, of chance: a prediction is made for the load that there was.
    # @return [Float, nil]
    def offered_per_s
      @repeats.sum { |repeat| repeat["intended_count"] } / (@repeats.size * @fields["load_s"]) if open?
    end

    # Of a closed loop; an open one has the throughput that is sent to it, which proves nothing.
    # @return [Stats::Estimate, nil]
    def throughput
      return if open? || @repeats.empty?
      estimate(counted_count / (@repeats.sum { |repeat| repeat["duration_ns"] } / 1e9), throughputs_per_s, counted_count)
    end

    # @return [Array<Float>] of each repeat
    def throughputs_per_s = @repeats.map { |repeat| repeat["throughput_per_s"] }

    # @return [Stats::Estimate, nil] ns
    def mean
      return if @repeats.empty? || counted_count.zero?
      estimate(@repeats.sum { |repeat| repeat["mean_ns"] * repeat["counted_count"] }.fdiv(counted_count), @repeats.map { |repeat| repeat["mean_ns"] }, counted_count)
    end

    # How far the servers that were started one after the other are apart: a heap that is lucky in one start differs in the next.
    # @return [Float, nil] the throughput of the best over that of the worst, less 1; nil where there was only one
    def start_spread_ratio
      return if open?
      of_starts = @repeats.group_by { |repeat| repeat["start"] }.values.map { |repeats| repeats.sum { |repeat| repeat["throughput_per_s"] } / repeats.size }
      of_starts.max / of_starts.min - 1 if of_starts.size > 1
    end

    # @return [Float, nil] CPU of what runs beside the server for it, for a request; nil where there is nothing
    def beside_cpu_ns
      total_ns, requests_count = %w[beside_cpu_ns requests_count].map { |name| @repeats.sum { |repeat| repeat[name].to_i } }
      total_ns.fdiv(requests_count) if total_ns.positive? && requests_count.positive?
    end

    # @return [Float] the machine's speed meanwhile, see Speed
    def turns_per_ms = @repeats.sum { |repeat| repeat["turns_per_ms"] } / @repeats.size

    # Of the server, for a request that it worked for, whether it counts for throughput or not: the CPU clock is read before the
    # first and after the last of them.
    # @return [Stats::Estimate, nil] ns
    def cpu
      repeats = @repeats.select { |repeat| repeat["cpu_ns"] && repeat["requests_count"].positive? }
      requests_count = repeats.sum { |repeat| repeat["requests_count"] }
      return if requests_count.zero?
      estimate(repeats.sum { |repeat| repeat["cpu_ns"] }.fdiv(requests_count), repeats.map { |repeat| repeat["cpu_ns"].fdiv(repeat["requests_count"]) }, requests_count)
    end

    # @return [Stats::Estimate, nil] ns
    def p50 = quantile(0.5, "p50_ns")

    # @return [Stats::Estimate, nil] ns
    def p99 = (quantile(0.99, "p99_ns") if counted_count >= P99_LEAST_COUNT)

    # @return [Stats::Estimate, nil] ns, mean of a request
    def gvl_wait
      waits = @starts.filter_map { |fields| fields["gvl_wait"] }
      requests_count = waits.sum { |wait| wait["requests_count"] }
      return if requests_count.zero?
      ends = waits.flat_map do |wait|
        half = Z * (wait["deviation_ns"] || 0) / Math.sqrt(wait["requests_count"])
        [wait["mean_ns"] - half, wait["mean_ns"] + half]
      end
      estimate(waits.sum { |wait| wait["mean_ns"] * wait["requests_count"] }.fdiv(requests_count), ends, requests_count)
    end

    private

    def estimate(value, ends, samples_count)
      low, high = [value, *ends].minmax
      Stats::Estimate.new(value:, low:, high:, level_ratio: nil, samples_count:)
    end

    # Between which ranks the true percentile lies, were requests independent. They follow each other's queues, so it is more
    # that they leave open, not less.
    def quantile(ratio, name)
      return if counted_count.zero?
      return quantile_of_repeats(name) if histogram.count.zero?
      half = Z * Math.sqrt(ratio * (1 - ratio) / counted_count)
      ends = [ratio - half, ratio + half].map { |one| histogram.quantile_ns(one.clamp(0, 1)) }
      estimate(histogram.quantile_ns(ratio), [*ends, *@repeats.map { |repeat| repeat[name] }], counted_count)
    end

    # Of a generator that tells no histogram.
    def quantile_of_repeats(name)
      repeats = @repeats.select { |repeat| repeat[name] }
      return if repeats.empty?
      value = repeats.sum { |repeat| repeat[name] * repeat["counted_count"] }.fdiv(repeats.sum { |repeat| repeat["counted_count"] })
      estimate(value, repeats.map { |repeat| repeat[name] }, counted_count)
    end

    def histogram = @histogram ||= @repeats.filter_map { |repeat| repeat["latency"] }.sum(PumaTuner::Probe::Histogram.empty) { |latency| PumaTuner::Probe::Histogram.from_document(latency) }
  end
end
