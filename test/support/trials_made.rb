# frozen_string_literal: true

# Readings of a server as a trial makes them, by hand.
module TrialsMade
  include PumaTuner

  MS = Units::NS_PER_MS

  def plan(pids: [11, 12], threads_count: 5, configured: [3, 3], periods_count: 12, period_s: 10.0, **)
    Trial::Plan.new(threads_count:, configured:, pids:, periods_count:, period_s:, settle_s: 2, memory_limit_bytes: nil, **)
  end

  def ratio(value, low = value * 0.9, high = value * 1.1) = Stats::Estimate.new(value:, low:, high:, level_ratio: 0.95, samples_count: 5)

  # What `auto` decides by, with another number of threads that is surely better.
  def situation(**others)
    Trial::Situation.new(at_s: 1_000.0, threads_count: 4, least: 1, most: 8, metric: "p99", ratios: {3 => ratio(1.2), 5 => ratio(0.8)},
      requests_count: 500, why_not: nil, workers_count: 2, memory_bytes: nil, memory_limit_bytes: nil,
      youngest_s: 900.0, step_s: nil, direction: nil, served_count: 0, refused: {7 => 1_200.5}, **others)
  end

  # @param latencies_ms [Array<Numeric>] of its requests
  def worker(pid, threads: 3, latencies_ms: [10] * 20, errors: 0, pool_ms: 0, **others)
    latencies_ns = latencies_ms.map { |ms| (ms * MS).round }
    Trial::WorkerReading.new(pid:, worker_index: pid % 10, threads_count: threads, spawned_count: threads, live_count: threads, waiting_count: 0,
      queued_count: 0, why_not: nil, errors_count: errors, endpoints: latencies_ns.empty? ? {} : {"GET /" => Probe::Histogram.of(latencies_ns)},
      parts_ns: {"wall" => latencies_ns.sum, "pool" => pool_ms * MS, "gvl_wait" => latencies_ns.sum / 10, "queue" => 0},
      cpu_ns: latencies_ns.sum / 3, memory_bytes: 100_000_000, **others)
  end

  # A look each second of as many periods, with each worker as the block says.
  #
  # @param seconds [Integer]
  # @yieldparam pid [Integer]
  # @yieldparam canary [Boolean]
  # @yieldparam at_s [Integer]
  # @yieldreturn [Hash] of worker
  def readings(plan, seconds: plan.duration_s.to_i)
    (1..seconds).map do |at_s|
      period = plan.period_at(at_s - 1)
      workers = plan.pids.map do |pid|
        canary = plan.canary(period) == pid
        worker(pid, threads: canary ? plan.threads_count : plan.configured.last, **(yield(pid, canary, at_s) || {}))
      end
      Trial::Reading.new(at_s: at_s.to_f, since_s: at_s - 1.0, workers:, memory_bytes: nil)
    end
  end
end
