# frozen_string_literal: true

require "test_helper"
require "support/advising"

# Of servers that are said to bear so many requests per second each, at a rate that none of them bears.
class MostBorneTest < TunerTest
  include Advising

  BORNE_PER_S = {"1x1" => 100.0, "1x5" => 150.0, "2x1" => 200.0, "2x3" => 296.0, "2x5" => 300.0, "2x16" => 290.0}.freeze
  RATE = Model::Arrivals.open(700)

  def unsteady(text)
    forecast(text, 1, arrivals: RATE).then do |cell|
      cell.with(unsteady: PumaTuner::Statement.of(:beyond_capacity, rate_per_s: RATE.rate_per_s, capacity_per_s: 1.0), throughput_per_s: nil, p50_ns: nil, p90_ns: nil, p99_ns: nil, samples: nil,
        closed_forms: cell.closed_forms.with(bound_per_s: 1.2 * BORNE_PER_S.fetch(text)))
    end
  end

  # @return [Advise::Advice] the first
  def advised(today, borne_per_s: BORNE_PER_S, spread_ratio: 0.01, **constraints)
    asked = @asked = []
    forecaster = Forecasting.new(lambda { |_, settings|
      asked << settings
      per_s = borne_per_s.fetch(settings[:topology].to_s)
      samples_per_s = (0..9).map { |seed| per_s * (1 + spread_ratio * ((settings[:topology].slots_count * 7 + seed * 3) % 10 - 4.5) / 4.5) }
      forecast(settings[:topology].to_s, per_s, arrivals: settings[:arrivals]).then { |cell| cell.with(samples: cell.samples.to_h.merge("throughput_per_s" => samples_per_s)) }
    })
    cells = BORNE_PER_S.keys.map { |text| unsteady(text) }
    situation = Advise::Situation.new(workload, sweep(unsteady(today), *cells.reject { |cell| cell.topology.to_s == today }), constraints: Advise::Constraints.new(**constraints), sweeper: forecaster)
    Advise::Rules::Topology.new(situation).call.first
  end

  test "where nothing bears the load, what bears the most is advised, with how many such machines it takes" do
    advice = advised("1x1")
    assert_equal topology("2x3"), advice.topology
    assert_match(/\AGo from 1x1 to 2x3, which bears the most, 296 requests.s .*: nothing that was predicted bears 700\/s, which takes 3 such machines\z/, told(advice).title)
    assert_in_epsilon 2.96, advice.throughput_ratio.value, 0.01
    assert_equal [nil, nil], [advice.p50_ratio, advice.p99_ratio]
    assert_equal({"topology" => "2x3"}, advice.factors)
  end

  test "all are asked about the same load, which leaves no thread of the largest without work" do
    advised("1x1")
    assert_equal [Model::Arrivals.closed(64)], @asked.map { |settings| settings[:arrivals] }.uniq
  end

  test "what can't be the best by the bound is not forecast" do
    advised("1x1")
    refute_includes @asked.map { |settings| settings[:topology].to_s }, "2x1"
  end

  test "today's stays where it bears as much as any, and where nobody can promise more" do
    [advised("2x3"), advised("1x5", borne_per_s: BORNE_PER_S.transform_values { |per_s| 150.0 + per_s / 100 }, spread_ratio: 0.5)].each do |advice|
      assert_equal [nil, :no_topology], [advice.topology, advice.title.kind]
    end
  end

  test "limits are kept to, and with goals it is told what comes nearest to them" do
    assert_equal :no_topology, advised("1x1", goals: [Goal.read("99% < 50ms")]).title.kind
    assert_equal :no_topology, advised("1x1", max_memory_bytes: 1).title.kind
  end
end
