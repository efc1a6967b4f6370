# frozen_string_literal: true

require "test_helper"

class FleetComparerTest < TunerTest
  include PumaTuner::Fleet

  BOUNDS = [0.01, 0.1, 1.0, Float::INFINITY].freeze

  def histogram(*counts) = MergedHistogram.new(bounds_s: BOUNDS, counts: counts.map(&:to_f))

  def span(counts: [500, 400, 100, 0], cpu_s: 10.0, memory_bytes: 1e9, coverage_ratio: 1.0, endpoints: {}, workers_count: 4.0, **others)
    nothing = Span.members.to_h { |name| [name, nil] }
    Span.new(**nothing, seconds: 3_600, coverage_ratio:, histogram: counts && histogram(*counts), endpoints:, parts_s: {"gvl_wait" => 1.0, "queue" => 2.0}, cpu_s:, memory_bytes:, workers_count:, **others)
  end

  def rows(a, b, blocks: a.each_index.map { |index| index / 4 }) = Comparer.new(a, b, blocks, random: Random.new(1)).rows.to_h { |row| [row.name, row] }

  test "what traffic explains is told apart from what differs" do
    random = Random.new(2)
    # CPU per request grows with the traffic in both groups alike; b has twice the traffic and is a tenth dearer.
    of = ->(factor, dearer) { traffic = factor * (1 + random.rand); span(counts: [1_000 * traffic, 0, 0, 0], cpu_s: 10 * traffic**1.5 * dearer) } # standard:disable Style/Semicolon
    a, b = [[1, 1.0], [2, 1.1]].map { |factor, dearer| Array.new(32) { of.call(factor, dearer) } }
    row = rows(a, b)["cpu_per_request"]
    assert_operator row.ratio.low, :>, 1.3
    assert_in_delta 1.1, row.adjusted.value, 0.01
    assert_equal "worse", row.outcome
  end

  test "groups that are alike are not called different" do
    random = Random.new(3)
    spans = Array.new(2) { Array.new(28) { traffic = 1 + random.rand; span(counts: [1_000 * traffic, 500, 50 + random.rand(20), 0], cpu_s: 10 * traffic * (1 + random.rand * 0.1)) } } # standard:disable Style/Semicolon
    outcomes = rows(*spans).values.filter_map(&:outcome)
    assert_equal ["not shown"], outcomes.uniq
  end

  test "only spans that both have are compared" do
    a = Array.new(20) { span }
    b = Array.new(20) { |index| (index < 4) ? span(coverage_ratio: 0.5, memory_bytes: 9e9) : span }
    assert_equal 1e9, rows(a, b)["memory"].b
    assert_raises(PumaTuner::VoidMeasurement) { rows([span], [span(counts: nil)]) }
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
    assert_match(/different bounds/, assert_raises(PumaTuner::VoidMeasurement) { rows([span, span], [span, other]) }.message)
  end

  # --- the mix of endpoints

  def mixed(shares) = span(counts: [1_000 * shares[0], 0, 1_000 * shares[1], 0], endpoints: {"GET /fast" => histogram(1_000 * shares[0], 0, 0, 0), "GET /slow" => histogram(0, 0, 1_000 * shares[1], 0)})

  def mix(a, b) = MixComparer.new(Comparer.new(a, b, a.each_index.map { |index| index / 4 }, random: Random.new(1)).pairs, random: Random.new(1)).call

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
