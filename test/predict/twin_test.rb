# frozen_string_literal: true

require "test_helper"
require "support/random_plans"
require "oracles/simulation"

# The core in C and its twin in Ruby take the same steps at the same times, whatever they are given; and each request's
# time is the sum of its parts, to the nanosecond.
class TwinTest < TunerTest
  include RandomPlans

  time_limit 60

  Predict = PumaTuner::Predict

  PARTS = PumaTuner::Probe::Parts::WALL

  def setup
    # The twin takes half the time; this process has these tests alone.
    RubyVM::YJIT.enable if defined?(RubyVM::YJIT.enable)
    assert_nil Predict::Engine.why_not
  end

  test "the core has the numbers of steps that traces have" do
    parts = PumaTuner::Probe::Parts
    assert_equal parts::CODES.slice(*parts::STEPS), Predict::Engine.codes[:step].transform_keys(&:name)
  end

  test "the core takes the same waits as the model for system calls that came back at once" do
    source = File.read(File.expand_path("../../ext/puma_tuner_sim/waits.c", __dir__))
    assert_equal PumaTuner::Model::Demand::SLEPT_NS, Integer(source[/^#define SLEPT_NS (\d+)$/, 1])
  end

  test "a core falls asleep in the core after as long a time as in the model" do
    source = File.read(File.expand_path("../../ext/puma_tuner_sim/cores.c", __dir__))
    assert_equal PumaTuner::Model::DemandFit::COLD_AFTER_NS, Integer(source[/^#define HALT_NS (\d+)$/, 1])
  end

  test "the same steps, the same outcome" do
    ends = 400.times.map do |seed|
      plan = random_plan(seed)
      expected = SimulationTwin::Simulation.new(plan).call
      assert_equal expected.except(:latencies), Predict::Core.run(plan).except(:latencies), "seed #{seed}"
      assert_equal expected[:latencies].unpack("q*"), Predict::Core.run(plan)[:latencies].unpack("q*"), "seed #{seed}"
      assert_equal expected[:totals][:wall], expected[:totals].values_at(*PARTS).sum, "seed #{seed}"
      assert_operator expected[:lock_waits].unpack("q*").each_slice(2).sum(&:last), :<=, expected[:totals][:lock], "seed #{seed}"
      [expected[:deadlock].any?, expected[:lock_waits].unpack("q*").sum.positive?]
    end
    # They met all of it.
    assert_operator ends.count(&:first), :>=, 5
    assert_operator ends.count(&:last), :>, 50
  end
end
