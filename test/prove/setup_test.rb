# frozen_string_literal: true

require "test_helper"

class SetupTest < TunerTest
  include PumaTuner

  VARIANTS = %w[1x3 2x3].map { |name| PumaTuner::Prove::Variant.new(name:, factors: {"topology" => name}) }
  TIMES = PumaTuner::Prove::TrialRunner::Times.new(warmup_window_s: 0.5, warmup_limit_s: 5, duration_s: 2.5,
    turns_count: 4, probe_s: 1, boot_limit_s: 30)

  def served(variants = VARIANTS, **rules)
    mix = Load::Mix.of_paths(["/"])
    traffic = Load::Traffic.new(mix:, generator: Load::Native.new, connections_count: 7, seed: 1)
    Prove::Setup.served(variants, preparation: ->(_) { flunk("nothing is started") }, traffic:, times: TIMES,
      looks: Prove::Looks.fixed(8), seed: 3, **rules)
  end

  def of_block(**rules)
    variants = %w[a b].map { |name| Prove::Variant.new(name:, factors: {"block" => name}) }
    Prove::Setup.block(variants, file: "/tmp/blocks.rb", commands: ->(_) { flunk("nothing is started") },
      limits: {duration_s: 0.5, warmup_limit_s: 6}, looks: Prove::Looks.fixed(6), seed: 1, **rules)
  end

  test "what is sent to a served app is in the plan" do
    load = served.plan.load
    assert_equal [7, 2_500_000_000], [load.connections_count, load.duration_ns]
    assert_equal "closed loop", load.arrivals
    refute_empty load.generator
  end

  test "variants take turns at a closed loop, and not at an open one, whose queue a pause would empty" do
    counts = [Load::Arrivals.closed, Load::Arrivals.open(100)].map do |arrivals|
      traffic = Load::Traffic.new(mix: Load::Mix.of_paths(["/"]), generator: Load::Native.new, connections_count: 7, seed: 1, arrivals:)
      Prove::TrialRunner.new(preparation: nil, traffic:, times: TIMES).turns_count
    end
    assert_equal [4, 1], counts
  end

  # @return [Integer, Boolean] turns of 2.5 s, or what else is asked, where the slowest variant takes 120 ms for a response
  def turns_of_a_slow_app(setup, asking: :turns_count)
    runner = setup.instance_variable_get(:@trial_runner).call
    runner.instance_variable_set(:@slowest_ns, 120_000_000)
    runner.public_send(asking)
  end

  test "a turn is long beside a response where speed decides, and need not be where a cost does" do
    assert_equal [1, 1, 1], %w[throughput p90 pss].map { |primary| turns_of_a_slow_app(served(primary:)) }
    costs = %w[cpu_per_request gc_per_request allocations_per_request]
    assert_equal [4, 4, 4], costs.map { |primary| turns_of_a_slow_app(served(primary:)) }
    assert_equal [false, true], %w[throughput cpu_per_request].map { |primary|
      turns_of_a_slow_app(served(primary:), asking: :short_turns?)
    }
  end

  test "where a cost decides, and something else is expected or claimed, a turn is long all the same" do
    expected = ["cpu_per_request not worse", "gc_per_request <= 1.1", "p99 not worse"].map do |text|
      turns_of_a_slow_app(served(primary: "cpu_per_request", expectations: Prove::Expectations.parse([text])))
    end
    assert_equal [4, 4, 1], expected
    traffic = Load::Traffic.new(mix: Load::Mix.of_paths(["/"]), generator: Load::Native.new, connections_count: 7, seed: 1)
    lab = Lab::Proofs.served({"a" => {}, "b" => {"env.A" => "1"}}, traffic:, folder: ".", out: ->(_) { File::NULL }, seed: 3,
      rounds_count: 8, duration_s: 2.5, warmup_limit_s: 5, **Lab::Proofs::SERVED)
    assert_equal ["cpu_per_request", 1], [lab.plan.primary, turns_of_a_slow_app(lab)]
  end

  test "to a block nothing is sent, and it is judged by what blocks have" do
    plan = of_block(primary: "cpu_per_iteration").plan
    assert_equal [nil, nil, 500_000_000], [plan.load.generator, plan.load.connections_count, plan.load.duration_ns]
    assert_equal Prove::Metric::BLOCK, plan.metrics
    assert_equal "cpu_per_iteration", plan.primary
  end

  test "rules that are not given are those of any proof" do
    assert_equal ["throughput", [], 0], [served.plan.primary, served.plan.allowed, served.plan.noise_rounds_count]
    assert_equal "p99", served(primary: "p99").plan.primary
  end

  test "percentiles that decide or are expected are told, whatever else is" do
    few = Prove::Metric::SERVED.select { |metric| %w[throughput p50 pss].include?(metric.name) }
    plan = served(metrics: few, primary: "p95", expectations: Prove::Expectations.parse(["99.9% < 1s", "p97.5 not worse"])).plan
    assert_equal %w[throughput p50 p95 p97.5 p999 pss], plan.metrics.map(&:name)
    assert_equal few, served(metrics: few).plan.metrics
  end

  test "a proof may change what was planned, and the setup stays what it is" do
    setup = served
    shorter = setup.proof(looks: Prove::Looks.fixed(2))
    assert_operator shorter.expected_s, :<, setup.proof.expected_s
    assert_equal 8, setup.plan.looks.rounds_max
  end

  test "two variants of one name, and a factor that nobody knows, are refused before anything runs" do
    assert_match(/two variants are called "1x3"/, assert_raises(UsageError) { served([VARIANTS.first] * 2) }.message)
    odd = Prove::Variant.new(name: "odd", factors: {"colour" => "red"})
    assert_match(/colour/, assert_raises(UsageError) { served([*VARIANTS, odd]) }.message)
  end
end
