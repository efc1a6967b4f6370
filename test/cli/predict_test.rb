# frozen_string_literal: true

require "test_helper"
require "json"
require "support/builders"
require "support/command_line"
require "support/tuning_fixture"
require "tmpdir"

# The verb on recordings made by hand; the user's own folders are the test's.
class PredictCommandTest < TunerTest
  include Builders
  include CommandLine

  def setup
    @folder = Dir.mktmpdir("puma_tuner-test")
    record(observation(endpoints: [articles, orders], cores_count: 2))
  end

  def teardown = FileUtils.rm_rf(@folder)

  def articles = endpoint_observation(name: "GET /articles", traces: Array.new(60) { |number| trace("held", 2 + number % 3, "io", 8, "held", 1) }, requests_count: 300)

  def orders = endpoint_observation(name: "POST /orders", traces: [trace("held", 4, "io", 2, "held", 1)] * 40, requests_count: 100)

  def record(observation) = Document.write(observation, path("observation.json"))

  def path(name) = File.join(@folder, name)

  QUICK = %w[--workers 1 --threads 1,5 --seeds 3 --simulated-requests 300].freeze

  def predict(*words, verb: "predict", recorded: "observation.json")
    puma_tuner_in_fork(verb, recorded, *QUICK, *words, folder: @folder, environment: {"PUMA_TUNER_CACHE" => path("cache/puma_tuner"), "XDG_STATE_HOME" => path("state")})
  end

  def sweep_of(*words)
    result = predict(*words)
    assert_equal 0, result.code, result.err
    Document.read(path("tmp/puma_tuner/sweep.json"), :sweep)
  end

  test "a grid of topologies, time slices and loads" do
    sweep = sweep_of("--rate", "20,40", "--timeslice", "100,10", "--html", "sweep.html")
    assert_equal 8, sweep.forecasts.size
    assert_equal [20.0, 40.0], sweep.forecasts.map { |forecast| forecast.scenario.arrivals.rate_per_s }.uniq
    assert_equal [3, 300], [sweep.seeds_count, sweep.requests_count]
    assert_match(/\A<!DOCTYPE html>/i, File.read(path("sweep.html")))
  end

  test "workers that are bound to cores are scenarios of their own; in a sweep of before there were any none is bound" do
    assert_equal [true], sweep_of("--affinity").forecasts.map { |forecast| forecast.scenario.affinity }.uniq
    assert_match(/bound to cores/, sweep_of("--affinity").forecasts.first.scenario.to_s)
    document = JSON.parse(File.read(path("tmp/puma_tuner/sweep.json")))
    document["forecasts"].each { |forecast| forecast["scenario"].delete("affinity") }
    assert_equal [false], Document.parse(JSON.generate(document), "old", [:sweep]).forecasts.map { |forecast| forecast.scenario.affinity }.uniq
  end

  test "recordings of the app at other settings may be named besides; of another app they are refused" do
    one_thread = observation(endpoints: [articles, orders], topology: topology("1x1"))
    Document.write(one_thread, path("one_thread.json"))
    assert_equal 2, sweep_of("one_thread.json").forecasts.size
    assert_equal 0, predict("one_thread.json", verb: "advise").code
    Document.write(one_thread.with(command: "rails server"), path("one_thread.json"))
    %w[predict advise].each { |verb| assert_mistake(/recordings are of two commands/, predict("one_thread.json", verb:)) }
    assert_mistake(/cannot read none.json/, predict("none.json"))
  end

  test "of what `tune` has written the recording in it is taken, alone or beside another" do
    one_thread = observation(endpoints: [articles, orders], topology: topology("1x1"))
    {"observation.json" => "tuning.json", "one_thread.json" => "one_thread_tuning.json"}.zip([Document.read(path("observation.json"), :observation), one_thread]) do |names, recorded|
      Document.write(recorded, path(names.first))
      Document.write(TuningFixture.tuning(observation: recorded), path(names.last))
    end
    forecasts = sweep_of("one_thread.json").forecasts
    result = predict("one_thread_tuning.json", recorded: "tuning.json")
    assert_equal 0, result.code, result.err
    assert_equal forecasts, Document.read(path("tmp/puma_tuner/sweep.json"), :sweep).forecasts
    assert_equal 0, predict(verb: "advise", recorded: "tuning.json").code
    assert_equal 0, puma_tuner("model", "tuning.json", folder: @folder).code
    assert_mistake(/its kind is "sweep", where observation or tuning is needed/, predict(recorded: "tmp/puma_tuner/sweep.json"))
  end

  # @return [Array<Integer>]
  def workers_by_default(observation, *words)
    record(observation)
    result = puma_tuner("predict", "observation.json", "--threads", "1", "--seeds", "2", "--simulated-requests", "100", *words, folder: @folder)
    assert_equal 0, result.code, result.err
    Document.read(path("tmp/puma_tuner/sweep.json"), :sweep).forecasts.map { |forecast| forecast.topology.workers_count }.uniq
  end

  test "as many workers are predicted as the recorded server has cores, or its quota pays for" do
    recorded = {endpoints: [articles], topology: topology("1x1")}
    assert_equal [1, 2, 3], workers_by_default(observation(cores_count: 3, **recorded))
    assert_equal [1, 2], workers_by_default(observation(cores_count: 64, cpu_quota_cores: 1.5, **recorded))
    assert_equal [1], workers_by_default(observation(cores_count: 64, cpu_quota_cores: 0.2, **recorded))
    assert_equal [1, 2], workers_by_default(observation(cores_count: 64, **recorded), "--what-if", "cores=2")
  end

  # @return [Array(Advise::AdviceList, String)] with the text
  def advice_in_container(*words)
    record(observation(endpoints: [endpoint_observation(traces: [trace("held", 8, "io", 1, "held", 1)] * 60)], topology: topology("1x1"), cores_count: 4, memory_limit_bytes: 512 << 20,
      processes: [process_observation(pss_bytes: 140 << 20)]))
    result = puma_tuner("advise", "observation.json", "--threads", "1", "--seeds", "3", "--simulated-requests", "300", *words, folder: @folder)
    assert_equal 0, result.code, result.err
    [Document.read(path("tmp/puma_tuner/advice.json"), :advice_list), result.unwrapped]
  end

  test "advice keeps to the recorded container's memory limit, unless it is told another" do
    list, text = advice_in_container
    assert_equal [512 << 20, "container"], list.constraints.to_h.values_at(:max_memory_bytes, :memory_limited_by)
    assert_equal topology("2x1"), list.recommendation.topology
    assert_includes text, "Kept to: the container's memory limit of 512 MiB, 67 MiB of it left free; 2 of 4 topologies meet it, with processes"
    list, text = advice_in_container("--memory", "2000MiB")
    assert_equal [2_000 << 20, "option"], list.constraints.to_h.values_at(:max_memory_bytes, :memory_limited_by)
    assert_operator list.recommendation.topology.workers_count, :>, 2
    assert_includes text, "Asked for: memory of at most"
  end

  test "without a calibration the limits say so" do
    assert_includes sweep_of.limits, Unknown.of(:machine, :not_calibrated)
  end

  test "the calibration of the recorded machine is used, and of this one with a remark" do
    calibrate(machine_facts(2, nil), handoff_ns: 7_000)
    refute_includes sweep_of.limits, Unknown.of(:machine, :not_calibrated)
    FileUtils.rm_rf(path("cache"))
    calibrate(Probe::MachineFacts.read, handoff_ns: 7_000)
    assert_match(/calibrated on this machine/, sweep_of.remarks.first)
  end

  def calibrate(facts, **figures)
    calibrated = Model::Calibrated.new(calibrated_at: "2026-01-01T00:00:00Z", machine_key: Calibrate.key_of(facts, "3.4.5", "8.0.2"), ruby_version: "3.4.5",
      puma_version: "8.0.2", round_trip_ns: 100_000)
    Calibrate::Store.new(path("cache/puma_tuner")).write(machine(cores_count: facts.cores_count, **figures).with(calibrated:))
  end

  test "earlier forecasts of the app tell how unsure these are" do
    key = Predict::TrackRecord.app_key(observation, ["GET /articles", "POST /orders"])
    check = Predict::Check.of(scenario("1x5"), "throughput", estimate(100.0), estimate(120.0))
    Predict::TrackRecord.new(path("state/puma_tuner/forecasts.json")).add(key, [check])
    assert_in_delta Math.log(1.2), sweep_of.past_error.fetch("throughput"), 1e-9
  end

  test "what is assumed changes the forecast, and is written down" do
    before = sweep_of.at(topology("1x1")).throughput_per_s.value
    after = sweep_of("--what-if", "cpu*0.5", "--what-if=io-4ms")
    assert_equal ["cpu*0.5", "io-4ms"], after.what_if
    assert_operator after.at(topology("1x1")).throughput_per_s.value, :>, before * 1.3
    more = sweep_of("--what-if", "traffic*3", "--what-if", "cores=4")
    assert_equal 30, more.arrivals.connections_count
    assert(more.remarks.any? { |remark| remark.start_with?("cores=4") })
  end

  test "a station is a queue of its own" do
    assert_operator sweep_of("--station", "io=1").at(topology("1x5")).throughput_per_s.value, :<, 1_000.0 / 6.4
  end

  test "there is a station for each kind of wait that was recorded" do
    kinds = Predict::Station::KINDS
    recorded = workload(endpoints: [endpoint_demand(demand([1] * (kinds.size + 1), [1] * kinds.size, wait_kinds: kinds))])
    stations = CLI::Options::Forecast.from(station: kinds.map { |kind| "#{kind}=20" }).stations(recorded)
    assert_equal kinds, stations.map(&:kind)
    assert_equal [20], stations.map(&:servers_count).uniq
  end

  # It would change nothing, and look like one that is no bottleneck.
  test "a station that only IO visits which came back at once is a mistake, as that queues for no server" do
    traces = [trace("held", 1, "file", 0.02, "held", 1, "io", 8, "held", 1)] * 40
    record(observation(endpoints: [endpoint_observation(traces:)], cores_count: 2))
    assert_mistake(/--station file=1: no recorded request has a wait of that kind of 50\S* \S+ or more, and .* no server; there is io/,
      predict("--station", "file=1"))
    assert_equal 0, predict("--station", "io=1").code
  end

  test "the capacity for a latency goal, and how many machines a load is" do
    result = predict("--capacity", "--slo", "99% < 200ms", "--at", "1000/s")
    assert_equal 0, result.code, result.err
    assert_match(%r{Capacity: the most load with 99% < 200 ms\n +holds with +p50 ms +p99 ms +machines for 1000/s}, result.out)
    sweep = Document.read(path("tmp/puma_tuner/sweep.json"), :sweep)
    assert_match(%r{^ +1x1 +[\d.]+/s .* (99% would take|no steady state)}, result.out)
    capacity = sweep.capacities.first
    assert_operator capacity.scenario.arrivals.rate_per_s, :<, capacity.failed_scenario.arrivals.rate_per_s
    assert_equal [(1_000 / capacity.rate_per_s).ceil, 1_000.0], [capacity.machines_count, capacity.asked_per_s]
    assert_operator sweep.at(topology("1x5")).p99_ns.high, :<=, 200 * MS
    closed = predict("--capacity", "--connections", "5", "--slo", "50% < 100ms")
    assert_match(/1x1 +\d+ connections/, closed.out, closed.err)
  end

  test "a search keeps to the memory and to the database's connections, which several machines share" do
    settings = ->(*words) {
      result = predict("--capacity", "--slo", "99% < 200ms", *words)
      assert_equal 0, result.code, result.err
      [Document.read(path("tmp/puma_tuner/sweep.json"), :sweep).capacities.map(&:setting), result.err]
    }
    assert_equal %w[1x1 1x5], settings.call("--db-connections", "5").first
    kept, told = settings.call("--db-connections", "4")
    assert_equal %w[1x1], kept
    assert_match(/left out, as not known to keep to at most 4 database connections: 1x5$/, told)
    assert_equal %w[1x1], settings.call("--db-connections", "20", "--at", "1000/s").first, "five machines of 1x5 would take more"
    assert_mistake(/nothing is known to keep to memory of at most 1 MiB/, predict("--capacity", "--slo", "99% < 200ms", "--memory", "1MiB"))
  end

  test "any percentile is a goal, several must all hold, and each has its column" do
    result = predict("--capacity", "--slo", "95% < 60ms", "--slo=50% < 40ms")
    assert_equal 0, result.code, result.err
    assert_match(/Capacity: the most load with 95% < 60 ms and 50% < 40 ms\n +holds with +p50 ms +p95 ms +p99 ms +fails with +as$/, result.out)
    sweep = Document.read(path("tmp/puma_tuner/sweep.json"), :sweep)
    five = sweep.at(topology("1x5"))
    assert_operator five.quantile("p95").high, :<=, 60 * MS
    assert_operator five.p50_ns.value, :<=, five.quantile("p95").value
    assert_operator five.quantile("p95").value, :<=, five.p99_ns.value
  end

  # What it saw is what the model says of it, so that forecasts are trusted, and their intervals are no wider.
  def record_as_simulated
    load = load_summary.with(throughput_per_s: 230.0, p50_ns: 42 * MS, p99_ns: 70 * MS)
    record(observation(endpoints: [articles, orders], cores_count: 2, load:))
  end

  test "a goal may be of one endpoint: its requests' latency counts, and nobody else's" do
    record_as_simulated
    of_all, of_orders, of_articles = ["50% < 20ms", "POST /orders: 50% < 20ms", "GET /articles: 50% < 20ms"].map do |goal|
      result = predict("--capacity", "--slo", goal)
      assert_equal 0, result.code, result.err
      Document.read(path("tmp/puma_tuner/sweep.json"), :sweep).at(topology("1x5"))
    end
    # An order takes 7 ms alone, an article 11 to 13.
    rates = [of_orders, of_all, of_articles].map { |forecast| forecast.scenario.arrivals.rate_per_s }
    assert_equal rates.sort.reverse, rates
    assert_operator rates.first, :>, rates.last
    assert_equal ["POST /orders"], of_orders.endpoint_latencies.map(&:endpoint)
    assert_operator of_orders.endpoint_latencies.first.latency_ns.high, :<, 20 * MS
    assert_mistake(%r{no endpoint "GET /nowhere"; there is "GET /articles", "POST /orders"}, predict("--capacity", "--slo", "GET /nowhere: 50% < 15ms"))
    assert_mistake(/POST \/orders: 98% < 1 s: one request in 50 takes longer than that, and 40 were recorded/, predict("--capacity", "--slo", "POST /orders: 98% < 1s"))
  end

  test "any percentile is told, with its interval" do
    five = sweep_of("--percentiles", "50,95,97.5").at(topology("1x5"))
    assert_equal %w[p50 p95 p97.5], five.quantiles.keys
    assert_equal five.p50_ns, five.quantile("p50")
    assert_operator five.quantile("p95").low, :<, five.quantile("p95").value
    assert_nil five.quantile("p80")
  end

  # 100 requests were recorded step by step.
  test "a percentile that too few requests stand behind is refused, with what it takes" do
    assert_mistake(/p99\.9: one request in 1000 takes longer than that, and 100 were recorded step by step, too few to tell\. Record 1000/, predict("--percentiles", "99.9"))
    assert_mistake(/p99\.5: one request in 200 /, predict("--capacity", "--slo", "99.5% < 200ms"))
    assert_mistake(/p98: one request in 50 takes longer than that, and each simulation counts 200; give --simulated-requests 250/, predict("--percentiles", "98", "--simulated-requests", "200"))
    assert_equal 0, predict("--percentiles", "98", "--simulated-requests", "250").code
  end

  test "settings that can't be are mistakes with what to do" do
    {
      %w[--percentiles 100] => /"100" is not a percentile/, %w[--percentiles 0] => /"0" is not a percentile/, %w[--percentiles often] => /"often" is not a percentile/, ["--capacity", "--slo", "95% < soon"] => /--slo "95% < soon": that is no goal; write PERCENT% < TIME/,
      ["--slo", "95% < 60ms"] => /--slo "95% < 60 ms": that is for a search; add --capacity/, %w[--capacity --slo] => /--slo needs a value/,
      %w[--at 10/s] => /--at: that is for a search; add --capacity/,
      %w[--memory 1GiB] => /--memory: that is for a search/,
      %w[--db-connections 9] => /--db-connections: that is for a search/,
      %w[--capacity --at often] => /--at often: write requests per second/,
      %w[--rate 0] => /--rate 0: write requests per second/, %w[--threads 0] => /--threads 0: write a range/, %w[--arrivals often] => /--arrivals often: write poisson/,
      %w[--what-if cpu(/nope)*2] => %r{there is no endpoint /nope; there is GET /articles, POST /orders}, %w[--what-if disk=1] => /there is no disk/,
      %w[--what-if rate=5 --rate 7] => /the load is set twice, by --what-if and by --rate/, %w[--station disk=5] => /--station disk=5: write a kind of wait \(db, redis, http, file, io, lock, sleep, pool\)/,
      %w[--station db=5] => /--station db=5: no recorded request has a wait of that kind; there is io/,
      ["--what-if", "without thread cron"] => /--what-if without thread cron: there is no thread cron/,
      %w[--station io=0] => /--station io=0/, %w[--station pool=5] => /no recorded request has a wait of that kind; there is io/,
      %w[--seeds 1] => /--seeds 1: write a whole number from 2/, %w[--simulated-requests some] => /--simulated-requests some/, %w[--capacity --connections 5] => /give a goal/,
      ["--slo", "99% < 0ms", "--capacity"] => /that is no goal/, %w[--output /nowhere/at/all.json] => %r{cannot write /nowhere}
    }.each { |words, pattern| assert_mistake(pattern, predict(*words)) }
    refute_path_exists path("tmp/puma_tuner/sweep.json")
  end

  test "goals of a search, and how long it simulates, are not passed over" do
    assert_mistake(/--simulated-requests many: write a whole number/, predict("--capacity", "--slo", "99% < 200ms", "--simulated-requests", "many"))
    assert_mistake(/--requests means something else now; write --simulated-requests/, predict("--requests", "300"))
  end

  test "settings of newer versions than the recording's are mistakes" do
    recorded = observation(cores_count: 2)
    record(recorded.with(server: recorded.server.with(puma_version: "7.2.0", ruby_version: "3.3.8")))
    assert_mistake(/--io-threads needs Puma 8\.0/, predict("--io-threads", "2"))
    assert_mistake(/--timeslice needs Ruby 3\.4/, predict("--timeslice", "10"))
    assert_equal 0, predict("--io-threads", "2", "--what-if", "puma=8.0").code
  end

  test "recordings that no model can be made of are mistakes with what to do" do
    record(observation(endpoints: [endpoint_observation(traces: [trace("held", 1)] * 10, requests_count: 100)]))
    assert_failed(/only 10 requests.*at least 200 requests more/, predict)
    record(observation(endpoints: [endpoint_observation.with(unaccounted_count: 30)]))
    assert_failed(/75\.0% of the requests the breakdown is off.*Measure again/, predict)
    text = Document.dump(observation)
    File.write(path("observation.json"), text[0, text.size / 2])
    assert_mistake(/cut short/, predict)
    File.write(path("observation.json"), text.sub('"schema_version":1', '"schema_version":99'))
    assert_mistake(/its schema version is 99/, predict)
    assert_mistake(/cannot read nowhere\.json/, puma_tuner("predict", "nowhere.json", folder: @folder))
  end

  test "a recording that somebody has changed is refused by its name, also where its simulation finds out" do
    record(observation.with(server: server_facts(100).with(ruby_version: "x y")))
    %w[predict advise].each do |verb|
      assert_mistake(/observation\.json is not a document .* does not fit together \(.*Malformed version number string x y/, predict(verb:))
    end
  end

  test "some requests that don't add up are remarked on" do
    record(observation(endpoints: [endpoint_observation.with(unaccounted_count: 4)]))
    assert_includes sweep_of.limits, Unknown.of(:budget, :unaccounted, ratio: 0.1)
  end

  def advice_for(*words)
    record_as_simulated
    result = predict(*words, verb: "advise")
    assert_equal 0, result.code, result.err
    [Document.read(path("tmp/puma_tuner/advice.json"), :advice_list), result.unwrapped]
  end

  test "advice with a goal: the cheapest setting that meets it at a load, what it bears, and what safety costs" do
    list, text = advice_for("--slo", "90% < 60ms", "--at", "60/s", "--cores", "4", "--workers", "1,2,3", "--db-connections", "12")
    sizing = list.sizing
    assert_equal [60.0, 1, topology("1x5")], [sizing.arrivals.rate_per_s, sizing.machines_count, sizing.forecast.topology]
    assert_operator sizing.capacity.rate_per_s, :>, 60
    assert_operator sizing.breaking.rate_per_s, :>, sizing.capacity.rate_per_s
    assert_operator sizing.spare.topology.workers_count, :>, 1
    assert_match(%r{What the goal takes goal 90% < 60 ms, with 60\.0/s cheapest 1x5: .* machines 1 bears \S+/s with that margin}, text)
    assert_match(/Assumed, and not measured: cores=4\./, text)
  end

  test "a goal that takes several machines, and one that none meets" do
    list, text = advice_for("--slo", "90% < 60ms", "--at", "1000/s", "--workers", "1,2")
    assert_operator list.sizing.machines_count, :>, 1
    assert_match(%r{machines \d+, each with \S+/s}, text)
    list, text = advice_for("--slo", "50% < 5ms", "--at", "50/s")
    assert_nil list.sizing.forecast
    assert_match(/nothing meets it The nearest is 1x\d: with \S+\/s, 50% would take 1\d\.\d ms .* so it is their own time/, text)
  end

  test "advice rests on the same options" do
    result = predict("--what-if", "cpu*0.5", verb: "advise")
    assert_equal 0, result.code, result.err
    assert_path_exists path("tmp/puma_tuner/advice.json")
    assert_mistake(/there is no disk/, predict("--what-if", "disk=1", verb: "advise"))
  end
end
