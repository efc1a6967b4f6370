# frozen_string_literal: true

require "test_helper"
require "support/builders"

class SweeperTest < TunerTest
  include Builders

  def sweep_over(*texts, of: workload, requests_count: 200, seeds_count: 3, &)
    Predict::Sweeper.new(workload: of, machine: machine(cores_count: 2.0), seed: 7, seeds_count:, requests_count:)
      .call(texts.map { |text| topology(text) }, &)
  end

  test "today's topology is always there, once, and the cells are in order" do
    assert_equal %w[1x2 1x5 2x1], sweep_over("2x1", "1x2").forecasts.map { |forecast| forecast.topology.to_s }
    assert_equal %w[1x5], sweep_over("1x5").forecasts.map { |forecast| forecast.topology.to_s }
  end

  test "progress is told after each simulation" do
    seen = []
    sweep_over("1x2") { |done_count, total_count| seen << [done_count, total_count] }
    assert_equal (1..6).map { |done_count| [done_count, 6] }, seen
  end

  test "the same seed gives the same sweep" do
    assert_equal sweep_over("2x2", "1x1"), sweep_over("2x2", "1x1")
  end

  test "an estimate is the middle and the range over the seeds" do
    forecast = sweep_over("2x3").at(topology("2x3"))
    samples = [7, 8, 9].map do |seed|
      Predict::Simulation.new(workload:, machine: machine(cores_count: 2.0), topology: topology("2x3"), seed:, requests_count: 200).call
    end
    assert_equal samples.map(&:throughput_per_s).minmax, [forecast.throughput_per_s.low, forecast.throughput_per_s.high]
    assert_equal samples.map { |outcome| outcome.quantile_ns(0.99) }.sort[1], forecast.p99_ns.value
    assert_equal 3, forecast.mean_ns.samples_count
    assert_in_delta samples.sum(&:cores_used) / 3, forecast.cores_used, 1e-9
  end

  test "the sweep says under what it was made" do
    sweep = sweep_over("1x1", of: workload(connections_count: 12))
    assert_equal [topology("1x5"), 12, 7, 3, 200], [sweep.today, sweep.connections_count, sweep.seed, sweep.seeds_count, sweep.requests_count]
    assert_equal 4, sweep.rule_of_thumb_threads_count # 6 of 21 ms are CPU
  end

  test "memory of a cluster is what is shared, and every worker's own" do
    memory = Model::MemoryDemand.new(shared_bytes: 50, per_worker_bytes: 100, single_bytes: nil)
    sweep = sweep_over("1x2", "2x2", "3x2", of: workload(memory:))
    assert_equal [nil, 250, 350], %w[1x2 2x2 3x2].map { |text| sweep.at(topology(text)).memory_bytes }
  end

  test "from a single process the memory of a cluster is unknown" do
    memory = Model::MemoryDemand.new(shared_bytes: nil, per_worker_bytes: nil, single_bytes: 100)
    sweep = sweep_over("1x2", "2x2", of: workload(memory:))
    assert_equal [100, nil], %w[1x2 2x2].map { |text| sweep.at(topology(text)).memory_bytes }
  end

  test "a sweep outlives its file" do
    sweep = sweep_over("2x2")
    assert_equal sweep, Document.parse(Document.dump(sweep), "sweep.json", [:sweep])
  end
end
