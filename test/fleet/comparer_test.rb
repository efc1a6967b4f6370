# frozen_string_literal: true

require "test_helper"

class FleetComparerTest < TunerTest
  include PumaTuner::Fleet

  computes!

  BOUNDS = [0.01, 0.1, 1.0, Float::INFINITY].freeze

  def histogram(*counts) = MergedHistogram.new(bounds_s: BOUNDS, counts: counts.map(&:to_f))

  def span(counts: [500, 400, 100, 0], cpu_s: 10.0, memory_bytes: 1e9, coverage_ratio: 1.0, endpoints: {}, workers_count: 4.0, parts_s: {"gvl_wait" => 1.0, "queue" => 2.0}, **others)
    nothing = Span.members.to_h { |name| [name, nil] }
    Span.new(**nothing, seconds: 3_600, coverage_ratio:, histogram: counts && histogram(*counts), endpoints:, parts_s:, cpu_s:, memory_bytes:, workers_count:, **others)
  end

  def rows(a, b, blocks: a.each_index.map { |index| index / 4 }, days: true, random: Random.new(1)) = Comparer.new(a, b, blocks, days:, random:).rows.to_h { |row| [row.name, row] }

  # CPU per request grows with the traffic.
  def busy(random, factor:, dearer: 1.0)
    Array.new(32) { traffic = factor * (1 + random.rand); span(counts: [1_000 * traffic, 0, 0, 0], cpu_s: 10 * traffic**1.5 * dearer) } # standard:disable Style/Semicolon
  end

  test "what traffic explains is told apart from what differs" do
    random = Random.new(2)
    # As it does in both groups alike; b has half as much traffic again, and is a tenth dearer.
    row = rows(busy(random, factor: 1), busy(random, factor: 1.5, dearer: 1.1))["cpu_per_request"]
    assert_operator row.ratio.low, :>, 1.2
    assert_in_delta 1.1, row.adjusted.value, 0.01
    assert_equal [:worse, nil], [row.outcome, row.reason]
  end

  # By night a hundredth of the day's requests. b needs a tenth less for each, and three times as much beside them.
  test "at the same traffic nothing is taken off the ratio, though nights by themselves say the contrary" do
    random = Random.new(3)
    traffic = Array.new(168) { |hour| 2_000 * 100**((1 - Math.cos(2 * Math::PI * hour / 24)) / 2) }
    a, b = [[0.02, 20], [0.018, 60]].map do |each, beside|
      traffic.map { |requests| (requests * (0.99 + 0.02 * random.rand)).then { |count| span(counts: [count, 0, 0, 0], cpu_s: each * count + beside) } }
    end
    row = rows(a, b, blocks: traffic.each_index.map { |hour| hour / 24 })["cpu_per_request"]
    assert_equal :better, row.outcome
    assert_operator row.ratio.high, :<, 0.95
    assert_in_delta row.ratio.value, row.adjusted.value, 0.003
  end

  # A power of the traffic explains exactly what is taken off; a part that does not grow with it only nearly.
  test "intervals at equal traffic hold what they promise, where the traffic has a swing and a scatter of its own" do
    random = Random.new(12)
    week = ->(factor) do
      own, slow = Array.new(2) { lasting(random, 168, 3_600) }
      Array.new(168) do |hour|
        requests = 3_000 * factor * 3**(-Math.cos(2 * Math::PI * hour / 24) / 2) * own[hour]**2
        span(counts: [requests, 0, 0, 0], cpu_s: 0.01 * requests * (requests / 3_000)**0.3 * slow[hour])
      end
    end
    metrics = Measured::ALL.select { |metric| metric.name == "cpu_per_request" }
    estimates = Array.new(20) { Comparer.new(week.call(1), week.call(1.3), (0...168).map { |hour| hour / 24 }, days: true, random:, metrics:).rows.first.adjusted }
    assert_operator estimates.count { |one| !one.covers?(1) }, :<=, 3
    assert_in_delta 1, estimates.sum(&:value) / estimates.size, 0.01
  end

  test "where the groups never had the same traffic, nothing is said of what traffic changes" do
    random = Random.new(2)
    quiet, loud = busy(random, factor: 1), busy(random, factor: 3).map { |one| one.with(memory_bytes: 1.3e9) }
    all = rows(quiet, loud)
    row = all["cpu_per_request"]
    assert_operator row.ratio.low, :>, 1.5, "which is all the traffic's"
    assert_equal [nil, :not_shown, :traffic_apart], [row.adjusted, row.outcome, row.reason]
    assert_equal [:worse, nil], [all["memory"].outcome, all["memory"].reason]
    assert_equal [nil, nil], [all["throughput"].outcome, all["throughput"].reason]
  end

  # What a request costs grows with the traffic in both alike.
  def seldom(random, factor:)
    Array.new(32) { requests = 50 * factor * (1 + random.rand); span(counts: [requests, 0, 0, 0], cpu_s: 0.01 * requests**1.5, memory_bytes: 1e9 * factor**0.1) } # standard:disable Style/Semicolon
  end

  test "where spans have too few requests to take out what traffic explains, different traffic shows nothing of what it changes" do
    random = Random.new(2)
    quiet = seldom(random, factor: 1)
    all = rows(quiet, seldom(random, factor: 1.6))
    row = all["cpu_per_request"]
    assert_operator row.ratio.low, :>, 1.15, "which is all the traffic's"
    assert_equal [nil, :not_shown, :few_requests], [row.adjusted, row.outcome, row.reason]
    assert_equal [:worse, nil], [all["memory"].outcome, all["memory"].reason]
    alike = rows(quiet, quiet.map { |one| one.with(cpu_s: one.cpu_s * 1.5) })["cpu_per_request"]
    assert_equal [nil, :worse, nil], [alike.adjusted, alike.outcome, alike.reason]
    unknown = rows(*Array.new(2) { Array.new(32) { span(workers_count: nil) } })["cpu_per_request"]
    assert_equal [:not_shown, :unknown_traffic], [unknown.outcome, unknown.reason], "nobody knows the traffic of a worker"
  end

  test "blocks that are no days show nothing, however far apart the groups are, and neither do three of them" do
    a, b = [1e9, 2e9].map { |memory_bytes| Array.new(32) { |index| span(memory_bytes: memory_bytes * (1 + (index % 3) / 100.0)) } }
    short, few, whole = rows(a, b, days: false)["memory"], rows(a.first(12), b.first(12))["memory"], rows(a, b)["memory"]
    assert_equal [[:not_shown, :short_blocks], [:not_shown, :few_blocks], [:worse, nil]], [short, few, whole].map { |row| [row.outcome, row.reason] }
    assert_in_delta 2, short.ratio.value
    assert_nil few.ratio
  end

  # What disturbs a server does so for a while: an hour later four fifths of it are left, five hours later a third.
  LEFT_AFTER_AN_HOUR = 0.8

  def lasting(random, count, seconds)
    left = LEFT_AFTER_AN_HOUR**(seconds / 3_600.0)
    level = 0.0
    Array.new(count) { Math.exp(0.05 * (level = left * level + Math.sqrt(1 - left**2) * Math.sqrt(-2 * Math.log(1 - random.rand)) * Math.cos(2 * Math::PI * random.rand))) }
  end

  # Of a group that differs from another in nothing.
  def spans(random, count, seconds)
    traffic, slow, cpu, memory, gvl_wait, queue = Array.new(6) { lasting(random, count, seconds) }
    Array.new(count) do |index|
      requests = 1_000 * (1 + 0.5 * Math.sin(2 * Math::PI * index * seconds / 86_400)) * traffic[index]
      span(counts: [requests * (1 - 0.1 * slow[index] - 0.05), requests * 0.1 * slow[index], requests * 0.05, 0], cpu_s: requests * 0.01 * cpu[index], memory_bytes: 1e9 * memory[index],
        parts_s: {"gvl_wait" => requests * 0.01 * gvl_wait[index], "queue" => requests * 0.02 * queue[index]})
    end
  end

  # @return [Integer] of so many windows
  def false_alarms(windows_count, window, days: window.days?)
    random = Random.new(11)
    Array.new(windows_count) { rows(*Array.new(2) { spans(random, window.times.size, window.step_s) }, blocks: window.blocks, days:, random:) }
      .count { |rows| rows.values.any? { |row| %i[better worse].include?(row.outcome) } }
  end

  test "equal groups whose noise lasts for hours are called different one time in twenty at most" do
    week, hours = [7 * 86_400, 6 * 3_600].map { |seconds| Window.of(1_795_000_000, seconds) }
    assert_operator false_alarms(20, week), :<=, 1
    assert_equal 0, false_alarms(1, hours)
    assert_operator false_alarms(4, hours, days: true), :>=, 2, "as it would be if hours were taken for days"
  end

  test "groups that are alike are not called different" do
    random = Random.new(3)
    spans = Array.new(2) { Array.new(28) { traffic = 1 + random.rand; span(counts: [1_000 * traffic, 500, 50 + random.rand(20), 0], cpu_s: 10 * traffic * (1 + random.rand * 0.1)) } } # standard:disable Style/Semicolon
    outcomes = rows(*spans).values.filter_map(&:outcome)
    assert_equal [:not_shown], outcomes.uniq
  end

  test "only spans that both have are compared" do
    a = Array.new(20) { span }
    b = Array.new(20) { |index| (index < 4) ? span(coverage_ratio: 0.5, memory_bytes: 9e9) : span }
    assert_equal 1e9, rows(a, b)["memory"].b
    assert_raises(PumaTuner::InvalidMeasurement) { rows([span], [span(counts: nil)]) }
  end

  test "a figure that one span does not know is not made up from the others" do
    b = Array.new(20) { |index| span(memory_bytes: index.zero? ? nil : 1e9) }
    row = rows(Array.new(20) { span }, b)["memory"]
    assert_nil row.b
    assert_nil row.ratio
  end

  test "a percentile above all bounds is unknown" do
    assert_nil rows(Array.new(8) { span(counts: [10, 0, 0, 500]) }, Array.new(8) { span })["p99"].a
  end

  test "different bounds are refused" do
    other = span.with(histogram: MergedHistogram.new(bounds_s: [0.02, 0.1, 1.0, Float::INFINITY], counts: [1.0] * 4))
    assert_match(/different bounds/, assert_raises(PumaTuner::InvalidMeasurement) { rows([span, span], [span, other]) }.message)
  end

  # --- the mix of endpoints

  def mixed(shares) = span(counts: [1_000 * shares[0], 0, 1_000 * shares[1], 0], endpoints: {"GET /fast" => histogram(1_000 * shares[0], 0, 0, 0), "GET /slow" => histogram(0, 0, 1_000 * shares[1], 0)})

  def mix(a, b, days: true) = MixComparer.new(Comparer.new(a, b, a.each_index.map { |index| index / 4 }, days:, random: Random.new(1)).pairs, days:, random: Random.new(1)).call

  test "a shift of the mix is found, named, and taken out" do
    random = Random.new(4)
    wobble = -> { random.rand * 0.002 }
    shift = mix(Array.new(28) { mixed([0.995 - wobble.call, 0.005]) }, Array.new(28) { mixed([0.9 - wobble.call, 0.1]) })
    assert_equal true, shift.shifted
    assert_in_delta 0.095, shift.distance_ratio, 0.003
    assert_in_delta 2.0 / 128, shift.p_value, 1e-9
    assert_equal %w[GET\ /fast GET\ /slow], shift.movers.map(&:endpoint).sort
    assert_in_delta 1.0, shift.p99_at_a_mix.value, 0.02
  end

  test "a shift is told from chance by six days and more" do
    a, b = [0.005, 0.1].map { |slow| Array.new(28) { mixed([1 - slow, slow]) } }
    few, enough, short = mix(a.first(20), b.first(20)), mix(a.first(24), b.first(24)), mix(a, b, days: false)
    assert_equal [[false, nil], [true, 2.0 / 64], [false, nil]], [few, enough, short].map { |shift| [shift.shifted, shift.p_value] }
    assert_in_delta 0.095, few.distance_ratio
  end

  test "chance is no shift, and neither is what does not matter" do
    random = Random.new(5)
    same = Array.new(2) { Array.new(28) { mixed([0.9, 0.1 + random.rand * 0.05]) } }
    assert_equal false, mix(*same).shifted
    assert_equal false, mix(Array.new(28) { mixed([0.90, 0.1]) }, Array.new(28) { mixed([0.905, 0.1]) }).shifted
  end

  test "without endpoints nothing is said of their mix" do
    assert_nil mix([span] * 8, [span] * 8)
  end
end
