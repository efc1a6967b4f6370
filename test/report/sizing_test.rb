# frozen_string_literal: true

require "test_helper"
require "json"
require "support/builders"

# What a goal takes, as people read it.
class SizingReportTest < TunerTest
  include Builders

  GOALS = [Goal.read("90% < 300ms"), Goal.read("GET /slow: 99% < 1s")].freeze

  def cell(text, per_s, memory_mib: nil, p90_ms: 200, slow_ms: 700)
    slow = Predict::EndpointLatency.new(endpoint: "GET /slow", percentile: "p99", latency_ns: estimate(slow_ms * MS))
    forecast(text, per_s, p99_ms: 400, memory_bytes: memory_mib && memory_mib << 20, arrivals: Model::Arrivals.open(per_s))
      .with(quantiles: {"p90" => estimate(p90_ms * MS)}, endpoint_latencies: [slow], cores_used: 1.42)
  end

  def capacity(per_s, failed_per_s, judged_by)
    Predict::Capacity.new(goals: GOALS, judged_by:, forecast: cell("2x3", per_s), failed_forecast: failed_per_s && cell("2x3", failed_per_s, p90_ms: 340),
      asked_per_s: nil, tolerance_ratio: 0.02, forecasts_count: 12)
  end

  def sizing(**fields)
    Advise::Sizing.new(goals: GOALS, arrivals: Model::Arrivals.open(120), machines_count: 1, forecast: cell("2x3", 120, memory_mib: 310),
      capacity: capacity(165.0, 168.0, :high), breaking: capacity(205.0, 209.0, :value), **fields)
  end

  # @return [String] of the section, blanks as one
  def text(sizing)
    list = Advise::AdviceList.new(advice: [], constraints: Advise::Constraints.new(goals: GOALS), sizing:)
    Report.render(list, format: :text, verbose: true)[/What the goal takes.*/m].gsub(/\s+/, " ").strip
  end

  test "the cheapest setting stands with its cost, its margin, what it bears and from where on it breaks" do
    assert_equal "What the goal takes goal 90% < 300 ms and GET /slow: 99% < 1 s, with 120/s " \
      "cheapest 2x3: 310 MiB of memory, 1.42 cores busy " \
      "meets it 90% would take 200 ms (198–202). 99% of GET /slow would take 700 ms (693–707). " \
      "The margin is the interval's: its upper end meets the goal. machines 1 " \
      "bears 165/s with that margin. From 209/s on, 90% would take 340 ms (337–343). " \
      "one worker less No setting within the limits meets it with one worker less: only another machine is safe against the loss of one.", text(sizing)
  end

  test "safety against a worker's loss has its price, which may be nothing" do
    spare = ->(text, memory_mib) { Advise::Spare.new(topology: topology(text), memory_bytes: memory_mib && memory_mib << 20, degraded: cell("2x3", 120)) }
    assert_match(/one worker less 3x3 meets it with one worker less, too: 120 MiB more\.\z/, text(sizing(spare: spare.call("3x3", 430))))
    assert_match(/one worker less 3x3 meets it with one worker less, too: 1 worker more\.\z/, text(sizing(spare: spare.call("3x3", nil))))
    assert_match(/one worker less 2x3 meets it with one worker less, too: that costs nothing more\.\z/, text(sizing(spare: spare.call("2x3", 310))))
  end

  test "several machines each have their share of the load" do
    assert_match(%r{machines 3, each with 120/s bears 165/s with that margin, on each machine\.}, text(sizing(machines_count: 3)))
  end

  test "what nothing meets is told with the nearest and why" do
    nearest = cell("2x3", 120, p90_ms: 340)
    unmet = {machines_count: nil, forecast: nil, capacity: nil, breaking: nil, nearest:}
    assert_match(%r{nothing meets it The nearest is 2x3: with 120/s, 90% would take 340 ms \(337–343\); they hardly wait for each other, so it is their own time\.\z},
      text(sizing(**unmet, miss: nearest.miss(GOALS))))
    assert_match(/nothing meets it No setting predicted keeps to the limits; the one that takes least is 2x3, with memory unknown\.\z/, text(sizing(**unmet)))
    stuck = nearest.with(unsteady: Statement.of(:deadlock, locks: %w[a b]))
    assert_match(/there is no steady state: requests that hold locks wait for each other's forever/, text(sizing(**unmet, nearest: stuck, miss: stuck.miss(GOALS))))
  end

  test "a report's first sentences have it" do
    in_short = ->(one) { Report::GoalWords.in_short(one) }
    asked = "90% < 300 ms and GET /slow: 99% < 1 s, with 120/s"
    assert_equal "#{asked}: 2x3 meets it, and bears 165/s", in_short.call(sizing)
    assert_equal "#{asked}: 3 machines of 2x3 meet it, and each bears 165/s", in_short.call(sizing(machines_count: 3))
    assert_equal "#{asked}: no setting predicted meets it", in_short.call(sizing(machines_count: nil, forecast: nil, capacity: nil, breaking: nil))
    list = Advise::AdviceList.new(advice: [], constraints: Advise::Constraints.new(goals: GOALS), sizing:)
    assert_match(/^ +Goal +90% < 300 ms/, Report.render(list, format: :text))
  end

  test "it stands in every format" do
    list = Advise::AdviceList.new(advice: [], constraints: Advise::Constraints.new(goals: GOALS), sizing: sizing)
    assert_includes Report.render(list, format: :markdown), "What the goal takes"
    assert_includes Report.render(list, format: :html), 'id="sizing"'
    assert_equal 165.0, JSON.parse(Report.render(list, format: :json)).dig("sizing", "capacity", "forecast", "scenario", "arrivals", "rate_per_s")
  end
end
