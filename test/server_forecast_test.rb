# frozen_string_literal: true

require "test_helper"
require "support/builders"

# The talk that this project began with prints, of a thread that computes for 65.1% of its time, `puma -t 1:3`.
class ServerForecastTest < TunerTest
  include Builders

  # Requests with the shares of the talk's line, each half as long to half as long again.
  def of_the_talk
    random = Random.new(1)
    demands = Array.new(60) do
      times = (0.5 + random.rand) / 5
      demand([33.1 * times, 33.1 * times], [33.7 * times], gc_ms: 1.1 * times)
    end
    workload(endpoints: [endpoint_demand(*demands)], connections_count: 20, observed_topology: topology("1x5"))
  end

  test "the talk's own example: the rule of thumb gives 2 threads, the forecast 3, as the talk prints" do
    assert_equal 2, RuleOfThumb.threads_count(0.651 + 0.011)
    sweeper = Predict::Sweeper.new(workload: of_the_talk, machine: machine(cores_count: 2), seed: 1, seeds_count: 5, requests_count: 1_000)
    sweep = sweeper.call((1..8).map { |threads_count| scenario("1x#{threads_count}", Model::Arrivals.closed(20)) })
    chosen = Advise::Choice.new(sweep, Advise::Constraints.new).forecast.topology
    assert_equal "Recommended config: puma -t 3:3", ThreadLine.recommendation(chosen.threads_count, workers_count: chosen.workers_count)
    # A third thread is worth 3%, and any more nothing.
    per_s = (2..5).map { |threads_count| sweep.at(topology("1x#{threads_count}")).throughput_per_s.value }
    assert_in_delta 1.03, per_s[1] / per_s[0], 0.015
    assert_in_delta 1.0, per_s[3] / per_s[1], 0.005
  end
end

# Requests of very many steps.
class ThinnedObservationTest < TunerTest
  include Builders

  def traces(count, steps_count) = Array.new(count) { |place| trace(*(["held", place, "io", 1] * (steps_count / 2))) }

  test "of an app whose requests have many steps fewer are taken, evenly and of each endpoint" do
    recorded = observation(endpoints: [endpoint_observation(traces: traces(300, 100)), endpoint_observation(name: "GET /rare", traces: traces(12, 10))])
    thinned = ServerForecast.thinned(recorded).endpoints.map { |endpoint| endpoint.traces.map { |trace| trace.steps[1] / MS } }
    assert_equal [150, 10], thinned.map(&:size)
    assert_equal [[0, 2, 4], 299], [thinned.first.first(3), thinned.first.last + 1]
    assert_equal thinned.last.uniq, thinned.last
    few = observation(endpoints: [endpoint_observation(traces: traces(300, 40))])
    assert_same few, ServerForecast.thinned(few)
  end

  test "as many are left as a p99 needs, however many steps they have, of all endpoints together" do
    counts = lambda do |*recorded_counts|
      endpoints = recorded_counts.map.with_index { |count, place| endpoint_observation(name: "GET /#{place}", traces: traces(count, 512)) }
      ServerForecast.thinned(observation(endpoints:)).endpoints.map { |endpoint| endpoint.traces.size }
    end
    assert_equal [100], counts.call(300)
    assert_equal [75, 25], counts.call(225, 75)
    assert_equal [60], counts.call(60)
  end
end

# What proofs on this machine showed of the app, as a server's lines know it.
class ServerForecastMemoryTest < TunerTest
  include Builders

  ENDPOINTS = ["GET /articles/:id", "GET /articles"].freeze

  def setup
    @folder = Dir.mktmpdir("puma_tuner-test")
    @before = ENV.to_h.slice("XDG_STATE_HOME", "PUMA_TUNER_CACHE")
    ENV.update("XDG_STATE_HOME" => @folder, "PUMA_TUNER_CACHE" => File.join(@folder, "cache"))
  end

  def teardown
    %w[XDG_STATE_HOME PUMA_TUNER_CACHE].each { |name| ENV[name] = @before[name] }
    FileUtils.rm_rf(@folder)
  end

  def state = File.join(@folder, "puma_tuner")

  # Requests that wait, served by one thread: as many threads as there are forecasts of are better for sure.
  def recorded(counts = {ENDPOINTS[0] => 300, ENDPOINTS[1] => 150}, pool_ms: 0)
    endpoints = counts.map { |name, requests_count| endpoint_observation(name:, traces: [trace("held", 1, "io", 20, "held", 1)] * 60, requests_count:) }
    budget = Probe::Budget.zero.with(wall_ns: 22 * MS, lock_ns: pool_ms * MS, pool_ns: pool_ms * MS)
    load = load_summary.with(throughput_per_s: 45.0, mean_ns: 221 * MS, p50_ns: 221 * MS, p99_ns: 224 * MS)
    observation(endpoints:, topology: topology("1x1"), cores_count: 1, load:).with(command: nil, budget:)
  end

  def recommendation(*, **)
    PumaTuner::ServerForecast.new(leader_pid: Process.pid, leader: "", directory: @folder).recommendation { recorded(*, **) }
  end

  def remember(worse: "1x8", today: "1x1", endpoint_names: ENDPOINTS, command: "bundle exec puma config.ru")
    ratio = Stats::Estimate.new(value: 0.8, low: 0.7, high: 0.9, level_ratio: 0.95, samples_count: 12)
    measured = Advise::Measured.new(rule: "topology", lines: {"config/puma.rb" => "threads 8, 8"}, topology: topology(worse), today: topology(today),
      metric: "throughput", ratio:, predicted: nil, outcome: :worse, measured_at: "2026-01-02T03:04:05Z")
    Advise::ProofRecord.new.add(Predict::TrackRecord.app_key(observation.with(command:), endpoint_names), [measured], endpoint_names:)
  end

  test "what a proof showed to be worse is recommended no more, and told" do
    assert_equal ["1x8", []], recommendation.then { |found| [found.topology, found.withheld] }
    remember
    found = recommendation
    assert_equal ["1x7", %w[1x8]], [found.topology, found.withheld]
    assert_match(/; proven to be worse: 1x8\z/, ThreadLine.forecast(found))
  end

  test "a proof of another app, or from another setting, says nothing here" do
    remember(today: "1x2")
    remember(endpoint_names: ENDPOINTS + ["GET /search"])
    remember(endpoint_names: ENDPOINTS.first(1))
    assert_equal "1x8", recommendation.topology
    # A tenth of the requests may go elsewhere: nobody's load test asks for everything.
    assert_equal "1x7", recommendation({ENDPOINTS[0] => 450, "GET /favicon.ico" => 40}).topology
    assert_equal "1x8", recommendation({ENDPOINTS[0] => 450, "GET /orders" => 60}).topology
  end

  test "what waits for a pool of connections is told as that, and not as a forecast that reproduces nothing" do
    found = recommendation(pool_ms: 10)
    assert_equal [nil, "pool"], [found.topology, found.why_not]
  end

  # @param order [Array<Integer>] two locks
  def taking(*order)
    one, other = order.map { |id| id * 1e-6 }
    trace("held", 1, "acquire", one, "io", 5, "acquire", other, "io", 5, "release", other, "release", one, "held", 1)
  end

  test "a simulation of what was recorded that ends in a deadlock is no failure, and recommends nothing" do
    locks = [1, 2].map do |id|
      Probe::LockObservation.new(id:, kind: "mutex", class_name: "Thread::Mutex", place: "app.rb:#{id}", size: 1, threads_count: 5,
        holds_count: 100, hold_ns: 800 * MS, waits_count: 3, wait_ns: 3 * MS)
    end
    served = observation(endpoints: [endpoint_observation(traces: [taking(1, 2), taking(2, 1)] * 60)]).with(command: nil, locks:)
    found = PumaTuner::ServerForecast.new(leader_pid: Process.pid, leader: "", directory: @folder).recommendation { served }
    assert_equal [nil, "not_reproduced"], [found.topology, found.why_not]
  end

  test "forecasts that missed before have wider intervals" do
    spread = -> { recommendation.ratio.then { |_, low, high| high / low } }
    before = spread.call
    check = Predict::Check.of(scenario("1x8"), "throughput", estimate(100.0), estimate(60.0))
    Predict::TrackRecord.new.add("any", [check] * 3, endpoint_names: ENDPOINTS)
    assert_operator spread.call, :>, before * 1.5
  end

  test "nothing is written, whatever stands there, and a forecast is made all the same" do
    contents = ["", "{", "[]", '{"schema_version":9,"apps":{}}', '{"schema_version":1,"apps":{},"endpoints":[]}', '{"schema_version":1,"apps":{},"endpoints":{"a":5}}']
    FileUtils.mkdir_p(state)
    contents.each do |content|
      %w[proofs.json forecasts.json].each { |name| File.write(File.join(state, name), content) }
      assert_equal "1x8", recommendation.topology, content
      assert_equal [%w[forecasts.json proofs.json], [content] * 2], [Dir.children(state).sort, Dir["#{state}/*"].map { |path| File.read(path) }]
    end
  end

  test "where nothing was proven no file is begun" do
    recommendation
    refute_path_exists state
  end
end
