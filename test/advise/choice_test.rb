# frozen_string_literal: true

require "test_helper"
require "support/builders"

class ChoiceTest < TunerTest
  include Builders

  def chosen(*forecasts, **constraints)
    Advise::Choice.new(sweep(*forecasts), Advise::Constraints.new(**constraints)).forecast.topology.to_s
  end

  test "the highest throughput wins" do
    assert_equal "2x3", chosen(forecast("1x5", 100), forecast("1x8", 150), forecast("2x3", 200))
  end

  test "the fewest slots win among cells within two percent" do
    assert_equal "1x4", chosen(forecast("1x5", 99), forecast("1x8", 100), forecast("1x4", 98), forecast("1x3", 97))
  end

  test "the lower p99 wins between settings with as many slots" do
    assert_equal "2x2", chosen(forecast("1x4", 100, p99_ms: 80), forecast("4x1", 99, p99_ms: 90), forecast("2x2", 99, p99_ms: 70))
  end

  test "a setting that breaks a constraint is not chosen" do
    cells = [forecast("1x5", 100, p99_ms: 90, memory_bytes: 10), forecast("2x5", 150, p99_ms: 95, memory_bytes: 20),
      forecast("3x5", 200, p99_ms: 110, memory_bytes: 30)]
    assert_equal "3x5", chosen(*cells)
    assert_equal "1x5", chosen(*cells, goals: [Goal.read("99% < 100ms")])
    assert_equal "1x5", chosen(*cells, max_memory_bytes: 15)
  end

  test "with a goal the cheapest that meets it is chosen: least memory, then fewest cores, then fewest slots" do
    goals = [Goal.read("99% < 100ms")]
    today = forecast("3x5", 200, p99_ms: 90, memory_bytes: 30)
    assert_equal "2x5", chosen(today, forecast("1x5", 100, p99_ms: 110, memory_bytes: 10), forecast("2x5", 150, p99_ms: 95, memory_bytes: 20), goals:)
    assert_equal "2x4", chosen(today, forecast("2x8", 180, p99_ms: 80, memory_bytes: 20), forecast("2x4", 150, p99_ms: 95, memory_bytes: 20), goals:)
    busy = forecast("2x4", 150, p99_ms: 95, memory_bytes: 20).with(cores_used: 1.7)
    assert_equal "2x8", chosen(today, forecast("2x8", 180, p99_ms: 80, memory_bytes: 20), busy, goals:)
    assert_equal "2x4", chosen(today.with(memory_bytes: nil), forecast("2x4", 150, p99_ms: 95), goals:), "fewer workers, where memory is unknown"
  end

  test "a goal that is met on average, and not by the interval's upper end, is not met" do
    assert_equal "2x5", chosen(forecast("1x5", 100, p99_ms: 99.5, memory_bytes: 10), forecast("2x5", 150, p99_ms: 95, memory_bytes: 20), goals: [Goal.read("99% < 100ms")])
  end

  test "today's settings that meet a goal are left for less memory only" do
    goals = [Goal.read("99% < 100ms")]
    assert_equal "1x5", chosen(forecast("1x5", 100, p99_ms: 90, memory_bytes: 10), forecast("1x3", 100, p99_ms: 80, memory_bytes: 10), goals:)
  end

  test "clients for nine in ten of today's slots are not too few" do
    few = ->(count, **more) { forecast("4x5", 1_000, bottleneck: "clients", arrivals: Model::Arrivals.closed(count, **more)).too_few_clients? }
    assert_equal [true, false, false], [17, 18, 20].map { |count| few[count] }
    assert few[40, think_ns: 1_000_000], "clients that think are fewer than they are"
    refute forecast("4x5", 1_000, bottleneck: "gvl", arrivals: Model::Arrivals.closed(4)).too_few_clients?
  end

  test "where clients are too few for today's slots, no fewer are chosen, as nothing is known of what they are for" do
    today = forecast("16x3", 1_000, bottleneck: "clients")
    others = [forecast("7x3", 1_000, bottleneck: "clients"), forecast("10x2", 1_100, bottleneck: "clients")]
    assert_equal "16x3", chosen(today, *others)
    assert_equal "16x5", chosen(today, *others, forecast("16x5", 1_050))
    assert_equal "7x3", chosen(today.with(bottleneck: "cores"), *others[..0])
    goals = [Goal.read("99% < 200ms")]
    assert_equal "16x3", chosen(today, *others, goals:)
  end

  test "only a limit makes them fewer then, and no more than it has to" do
    cells = [forecast("16x3", 1_000, bottleneck: "clients"), forecast("7x3", 1_000), forecast("7x5", 1_000)]
    assert_equal "7x5", chosen(*cells, db_connections_count: 40)
  end

  test "no more threads are chosen than the database takes connections" do
    cells = [forecast("1x5", 100), forecast("2x5", 150), forecast("4x2", 140)]
    assert_equal "4x2", chosen(*cells, db_connections_count: 9)
  end

  test "memory that is unknown meets no limit on it" do
    assert_nil allowed(forecast("1x5", 100), forecast("2x5", 150), max_memory_bytes: 1_000).first
    assert_equal "1x5", chosen(forecast("1x5", 100), forecast("2x5", 150), max_memory_bytes: 1_000)
  end

  test "a cluster's memory that was never recorded is taken to be as if its processes shared nothing" do
    cells = [forecast("1x5", 100, memory_bytes: 10), forecast("2x5", 150), forecast("3x5", 200)]
    assert_equal %w[1x5 2x5], allowed(*cells, max_memory_bytes: 39)
    assert_equal %w[1x5 2x5 3x5], allowed(*cells, max_memory_bytes: 40)
    assert_equal %w[1x5], allowed(*cells, max_memory_bytes: 29)
  end

  test "a single process that was never recorded takes no more than the smallest cluster" do
    cells = [forecast("2x5", 150, memory_bytes: 20), forecast("3x5", 150, memory_bytes: 30), forecast("1x5", 100)]
    assert_equal %w[2x5 1x5], allowed(*cells, max_memory_bytes: 20)
    assert_empty allowed(*cells, max_memory_bytes: 19)
  end

  test "where nothing is known of memory, a container's limit is kept by no more workers than today's" do
    cells = [forecast("2x5", 100), forecast("1x9", 90), forecast("2x9", 150), forecast("3x5", 200)]
    assert_equal %w[2x5 1x9 2x9], allowed(*cells, max_memory_bytes: 1 << 30, memory_limited_by: "container")
  end

  test "the machine's memory limits what would not fit, and is no constraint where all fits, or nobody knows" do
    kept = ->(*cells) {
      choice = Advise::Choice.new(sweep(*cells), Advise::Constraints.new(max_memory_bytes: 25, memory_limited_by: "machine"))
      [choice.constraints.max_memory_bytes, choice.forecast.topology.to_s]
    }
    cells = [forecast("1x5", 100, memory_bytes: 10), forecast("2x5", 150, memory_bytes: 20), forecast("3x5", 200, memory_bytes: 30)]
    assert_equal [25, "2x5"], kept[*cells]
    assert_equal [nil, "2x5"], kept[*cells.first(2)]
    assert_equal [nil, "3x5"], kept[*cells.map { |cell| cell.with(memory_bytes: nil) }]
    assert_equal [28, "1x5"], kept[forecast("1x5", 100, memory_bytes: 28), forecast("2x5", 90, memory_bytes: 56)], "today's fits, as it runs"
  end

  # @return [Array<String>]
  def allowed(*forecasts, **constraints)
    Advise::Choice.new(sweep(*forecasts), Advise::Constraints.new(**constraints)).allowed.map { |forecast| forecast.topology.to_s }
  end

  # Each seed a little faster or slower, in all settings alike.
  def simulated(text, throughput_per_s, p99_ms: 100, **others)
    factors = [0.99, 1.0, 1.01, 1.0, 0.995]
    forecast(text, throughput_per_s, p99_ms:, **others)
      .with(samples: {"throughput_per_s" => factors.map { |factor| throughput_per_s * factor }, "p99_ns" => factors.map { |factor| p99_ms * MS / factor }})
  end

  # @param miss_ratio [Float] by which the model misses the throughput that it was recorded with
  def chosen_after(miss_ratio, *forecasts)
    figure = Predict::CheckedFigure.new(metric: "throughput", recorded: 100.0, simulated: estimate(100.0 * (1 + miss_ratio)), error_ratio: miss_ratio, beyond_noise: true)
    check = Predict::SelfCheck.new(settings: [Predict::CheckedSetting.new(scenario: scenario("1x5"), figures: [figure], cause: PumaTuner::Statement.of(:no_part))])
    Advise::Choice.new(sweep(*forecasts).with(self_check: check), Advise::Constraints.new).forecast.topology.to_s
  end

  test "more threads are not chosen where each one's gain may be none" do
    assert_equal "1x2", chosen(simulated("1x2", 100), simulated("1x3", 104), simulated("1x4", 106), simulated("2x8", 107))
  end

  test "what is surely better than today's is not given away for fewer slots" do
    assert_equal "1x8", chosen(simulated("1x1", 50), simulated("1x2", 94), simulated("1x3", 100), simulated("1x8", 104))
    assert_equal "1x3", chosen(simulated("1x1", 50), simulated("1x2", 94), simulated("1x3", 103), simulated("1x8", 104))
  end

  test "the least memory wins between settings with as many slots" do
    assert_equal "1x4", chosen(simulated("1x1", 50, memory_bytes: 100), simulated("2x2", 104, memory_bytes: 150), simulated("1x4", 103, memory_bytes: 100), simulated("4x1", 103))
  end

  test "a difference that may be none is no reason to go to fewer slots either" do
    assert_equal "1x5", chosen(simulated("1x5", 100), simulated("1x4", 95), simulated("2x5", 104))
    assert_equal "1x4", chosen(simulated("1x5", 100), simulated("1x4", 98), simulated("2x5", 104))
  end

  test "a model that misses what it was made from promises less" do
    cells = [simulated("1x5", 100), simulated("1x1", 80), simulated("2x5", 120)]
    assert_equal "2x5", chosen(*cells)
    assert_equal "1x5", chosen_after(0.12, *cells)
  end

  test "more workers of as few threads are chosen for a shorter tail only" do
    assert_equal "1x4", chosen(simulated("1x4", 100), simulated("2x2", 101, p99_ms: 98))
    assert_equal "2x2", chosen(simulated("1x4", 100), simulated("2x2", 101, p99_ms: 60))
  end

  test "when the forecasts can't be trusted, the two best and the best with one thread are to be measured" do
    cells = [simulated("1x5", 100), simulated("1x1", 40), simulated("2x1", 80), simulated("2x3", 150), simulated("2x4", 151), simulated("2x8", 152)]
    candidates = Advise::Choice.new(sweep(*cells), Advise::Constraints.new).candidates
    assert_equal %w[2x3 2x8 2x1], candidates.map { |forecast| forecast.topology.to_s }
  end

  # @param tails_ms [Hash{String => Array(Numeric, Numeric)}] p99 at the rate, and with more of it; today's first
  def chosen_at_a_rate(tails_ms)
    cells = lambda do |index|
      tails_ms.map { |text, tails| forecast(text, 100, p99_ms: tails[index], arrivals: Model::Arrivals.open(100 + 15 * index)) }
    end
    asked = @asked = []
    with_more = ->(near) { asked << near.map { |one| one.topology.to_s } and sweep(*cells.call(1)) }
    Advise::Choice.new(sweep(*cells.call(0)), Advise::Constraints.new, with_more:).forecast.topology.to_s
  end

  test "of what is as good in an open loop, that with the fewest slots is chosen which is as good with more of the load, too" do
    tails_ms = {"1x1" => [200, 300], "2x2" => [102, 130], "2x3" => [103, 112], "2x5" => [100, 110], "2x8" => [120, 125]}
    assert_equal "2x3", chosen_at_a_rate(tails_ms)
    assert_equal [%w[2x2 2x3 2x5]], @asked
    assert_equal "2x2", chosen_at_a_rate({**tails_ms, "2x2" => [102, 114]})
  end

  test "and where nothing else is as good, or today's is left for no gain, more of the load is not asked for" do
    assert_equal "2x5", chosen_at_a_rate({"1x1" => [200, 300], "2x3" => [110, 112], "2x5" => [100, 150]})
    assert_equal "2x3", chosen_at_a_rate({"2x3" => [101, 180], "2x5" => [100, 110]})
    assert_empty @asked
  end

  def collecting(forecast, gc_ratio) = forecast.with(budget: Probe::Budget.zero.with(cpu_ns: 1 - gc_ratio, gc_ns: gc_ratio))

  test "where much garbage is collected, fewer slots are chosen of p99s that heaps make so different" do
    open = Model::Arrivals.open(100)
    cells = {"1x1" => 200, "2x3" => 40, "2x5" => 28, "2x8" => 20}.map { |text, tail_ms| forecast(text, 100, p99_ms: tail_ms, arrivals: open) }
    assert_equal %w[2x5 2x8], [0.3, 0.1].map { |gc_ratio| chosen(*cells.map { |one| collecting(one, gc_ratio) }) }
    assert_equal "2x8", chosen(*[cells.last, *cells[..2]].map { |one| collecting(one, 0.3) }), "today's is not left for that"
    assert_equal "2x5", chosen(*[cells[2], cells[0], cells[3]].map { |one| collecting(one, 0.3) })
  end

  test "today's setting stays when none meets the constraints" do
    assert_equal "1x5", chosen(forecast("1x5", 100), forecast("2x5", 150), goals: [Goal.read("99% < 1ms")])
  end
end
