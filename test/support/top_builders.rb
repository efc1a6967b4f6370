# frozen_string_literal: true

# What `puma_tuner top` makes of servers, by hand.
module TopBuilders
  include PumaTuner

  MS = Units::NS_PER_MS
  S = Units::NS_PER_S

  def server(pid: 4711, folder: "/srv/shop") = Top::Server.new(pid:, identity: "4711-1-1", directory: "/dev/shm/x", folder:, ours: false)

  # @param walls_ms [Array<Numeric>] of each request
  # @param parts_ms [Hash{Symbol => Numeric}] of all of them together; what is left of their time is io
  # @param blames [Hash{Array => Numeric}] [kind, name] to milliseconds
  def entry(name, walls_ms, kind: :request, blames: {}, **parts_ms)
    sums = {wall: walls_ms.sum, io: walls_ms.sum - parts_ms.except(:idle).values.sum, **parts_ms}
    Probe::Ledger::Entry.new(kind:, name:, counts: Probe::Parts::COUNTS.map { |count| (count == :all) ? walls_ms.size : 0 },
      sums: Probe::Parts::SUMS.map { |part| (sums.fetch(part, 0) * MS).round },
      histograms: [Probe::Histogram.of(walls_ms.map { |ms| (ms * MS).round })], blames: blames.transform_values { |ms| (ms * MS).round })
  end

  def ledger(*entries, pid: 100, worker_index: nil, threads_count: 5, yjit_enabled: false, why_not: nil)
    facts = {"worker_index" => worker_index, "threads_count" => threads_count, "why_not" => why_not, "server" => {"yjit_enabled" => yjit_enabled}}
    Probe::Ledger.new(pid:, facts:, began_at_ns: 0, entries: entries.to_h { |one| [[one.kind, one.name], one] }, traces: {}, cycles_count: 0,
      cost_per_cycle_ns: 0, cost_per_request_ns: 0, process_cpu_ns: 0, gc_count: 0, unobserved_threads_count: 0, unnamed_count: 0)
  end

  # @param ledgers [Hash{String => Probe::Ledger}]
  # @param cpu_ms [Numeric] of each process so far
  def reading(at_s, ledgers, cpu_ms: 0, code_bytes: 0)
    processes = ledgers.map do |path, one|
      Top::ServerProcess.new(path:, pid: one.pid, worker_index: one.facts["worker_index"], began_at_ns: 0, cpu_ns: cpu_ms * MS,
        memory: {pss_bytes: 50 * Units::MIB, rss_bytes: 60 * Units::MIB}, code_bytes:)
    end
    Top::Reading.new(at_ns: (at_s * S).round, ledgers:, totals: Top::Totals.new.call(ledgers), processes:)
  end

  # Of ten seconds, at an instant that is the same each time.
  def status(*entries, before: [], cpu_ms: 0, code_bytes: 0, **facts)
    empty, full = [before, entries].map { |some| {"a.ledger" => ledger(*some, **facts)} }
    Top::Status.of(server, reading(0, empty), reading(10, full, cpu_ms:, code_bytes:)).with(at: "2026-01-01T00:00:00Z")
  end

  def outlook(*settings, **fields)
    settings = settings.map { |text, per_s, p99_ms| outlook_setting(text, per_s, p99_ms) }
    Top::Outlook.new(settings:, requests_count: 900, window_ns: 10 * S, at: "2026-01-01T00:00:00Z", why_not: nil, detail: nil, **fields)
  end

  def recommendation(**fields)
    Probe::Recommendation.new(topology: "2x5", today: "1x5", metric: "p99", ratio: [0.43, 0.39, 0.47], requests_count: 300,
      why_not: nil, detail: nil, made_at_s: Time.now.to_f, **fields)
  end

  # @param per_s [Numeric, nil] nil: it has no steady state
  def outlook_setting(text, per_s, p99_ms)
    estimate = ->(value) { value && Stats::Estimate.new(value:, low: value * 0.9, high: value * 1.1, level_ratio: 0.95, samples_count: 5) }
    Top::OutlookSetting.new(topology: Topology.parse(text), throughput_per_s: estimate.call(per_s), p99_ns: estimate.call(p99_ms && p99_ms * MS),
      unsteady: (Statement.of(:beyond_capacity, rate_per_s: 9, capacity_per_s: 5) unless per_s))
  end
end
