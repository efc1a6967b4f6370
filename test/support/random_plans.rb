# frozen_string_literal: true

require_relative "builders"

# Simulations of anything that a plan may hold, by chance.
module RandomPlans
  include Builders

  WAITS = %w[io lock sleep pool compute db redis http file].freeze
  PUMAS = %w[6.6.1 7.0.0 8.0.2 8.1.0].freeze
  RUBIES = %w[3.2.8 3.4.5 4.1.0].freeze

  def random_demand(random, locks_count)
    waits = Array.new(random.rand(0..4)) { [WAITS.sample(random:), random_wait_ms(random)] }
    random.rand(0..3).times { waits = locked(waits, random.rand(locks_count), random) } if locks_count.positive?
    bursts_ms = Array.new(waits.size + 1) { (random.rand < 0.15) ? 0 : 10**random.rand(-1.5..1.7) }
    demand(bursts_ms, waits.map(&:last), wait_kinds: waits.map(&:first), gc_ms: random.rand * bursts_ms.sum)
  end

  # One in ten is none, or a system call that comes back at once, of up to 10 µs.
  def random_wait_ms(random)
    chance = random.rand
    return 10**random.rand(-1.0..1.5) if chance >= 0.1
    (chance < 0.03) ? 0 : chance.round(3) / 10
  end

  # Some of it with the lock; at times the recording begins too late, or ends too early.
  def locked(waits, lock, random)
    from = random.rand(0..waits.size)
    held = waits[from, random.rand(0..waits.size)]
    [*waits[0...from], *([["acquire", lock]] if random.rand < 0.9), *held, *([["release", lock]] if random.rand < 0.9), *waits[from + held.size..]]
  end

  def random_workload(random)
    kinds_of_locks = Array.new([0, random.rand(1..3)].sample(random:)) { ["mutex", "monitor", random.rand(1..3), ["unfair_pool", random.rand(1..3)]].sample(random:) }
    endpoints = Array.new(random.rand(1..3)) { |index| endpoint_demand(*Array.new(random.rand(1..5)) { random_demand(random, kinds_of_locks.size) }, name: "GET /#{index}", weight_ratio: random.rand).with(gc_debt_ns: [0, random.rand(5 * MS)].sample(random:)) }
    background = Array.new([0, random.rand(1..2)].sample(random:)) { |index| Model::BackgroundDemand.new(name: "thread #{index}", burst_ns: random.rand(0..20 * MS), gap_ns: random.rand(MS..300 * MS)) }
    workload(endpoints:, kinds_of_locks:, background:, ruby_version: RUBIES.sample(random:), switch_cpu_ns: [nil, random.rand(0..90_000)].sample(random:))
      .with(puma_version: PUMAS.sample(random:), tail_cpu_ns: random.rand(0..50_000), long_gcs_ns: Array.new([0, 3].sample(random:)) { random.rand(1..60 * MS) })
  end

  def random_machine(random)
    cores_count = random.rand(1..3)
    quota = (random.rand < 0.25) ? {quota_ns: random.rand(20..90) * MS, period_ns: 100 * MS} : {}
    machine(cores_count:, effective_cores: Array.new(cores_count + 1) { |index| [index + 1, cores_count].min * random.rand(0.8..1.0) }, handoff_ns: random.rand(0..20_000), handoff_busy_ns: random.rand(0..9_000),
      client_cpu_ns: [0, random.rand(2..60_000)].sample(random:), wakeup_idle_ns: Array.new(5) { random.rand(0..90_000) }, wakeup_loaded_ns: Array.new(5) { random.rand(0..900_000) },
      switch_idle_cpu_ns: random.rand(0..60_000), switch_busy_cpu_ns: random.rand(0..30_000), gvl_rule: [nil, nil, "fifo", "barging", "hot"].sample(random:),
      acceptor_cpu_ns: random.rand(0..40_000), reactor_wakeup_cpu_ns: random.rand(0..30_000), reactor_register_cpu_ns: random.rand(0..20_000), **quota)
  end

  def random_arrivals(random)
    reuse_count = [nil, nil, random.rand(1..20)].sample(random:)
    rate_per_s = random.rand(20..300)
    case random.rand(5)
    when 0 then Model::Arrivals.open(rate_per_s, reuse_count:, connections_count: random.rand(1..50))
    when 1 then Model::Arrivals.open(rate_per_s, kind: "even", connections_count: random.rand(1..50))
    when 2 then Model::Arrivals.open(rate_per_s, kind: "bursty", burst_count: random.rand(1.0..8.0))
    when 3 then Model::Arrivals.replayed(Array.new(20) { random.rand(2_000) * MS }.uniq.sort, reuse_count:)
    else Model::Arrivals.closed(random.rand(1..40), think_ns: [0, random.rand(1..30) * MS].sample(random:), reuse_count:)
    end
  end

  # @return [Hash] for Core.run
  def random_plan(seed)
    random = Random.new(seed)
    threads_count = random.rand(1..6)
    settings = scenario("#{random.rand(1..3)}x#{threads_count}", random_arrivals(random), min_threads_count: random.rand(1..threads_count), io_threads_count: [0, 0, random.rand(1..3)].sample(random:),
      timeslice_ms: [nil, 10, 50].sample(random:), affinity: random.rand < 0.2, queue_requests: random.rand < 0.8)
    stations = (WAITS - ["compute"]).sample(random.rand(0..2), random:).map { |kind| Predict::Station.new(kind:, servers_count: random.rand(1..4)) }
    Predict::Plan.new(workload: random_workload(random), machine: random_machine(random), scenario: settings, seed:, requests_count: 60, stations:).to_h
      .merge(cold_cpu_ns: random.rand(0..500_000), release_cpu_ns: random.rand(0..20_000))
  end
end
