# frozen_string_literal: true

require "test_helper"
require "support/builders"

class DisturbanceTest < TunerTest
  include Builders

  Disturbance = PumaTuner::Calibrate::Disturbance
  S = 1_000_000_000
  NOTHING = {busy_ns: 0, stolen_ns: 0, time_ns: 0, own_ns: 0, cores_count: 4}.freeze

  # @param after [Hash] of ten seconds on four cores
  def disturbance(facts: machine_facts(4, nil), **after) = Disturbance.of(facts, NOTHING, {**NOTHING, time_ns: 10 * S, **after})

  test "CPU time of ours and of our children is no disturbance" do
    quiet = disturbance(busy_ns: 20 * S, own_ns: 20 * S)
    assert_equal [0.0, 0.0], [quiet.foreign_ratio, quiet.stolen_ratio]
    assert_empty quiet.remarks
  end

  test "CPU time that others used is a disturbance" do
    assert_in_delta 0.25, disturbance(busy_ns: 30 * S, own_ns: 20 * S).foreign_ratio, 1e-9
    assert_equal ["Something else used 25.0% of the machine's CPU meanwhile."], disturbance(busy_ns: 30 * S, own_ns: 20 * S).remarks
    assert_equal ["The hypervisor took 10.0% of the machine's CPU meanwhile."], disturbance(stolen_ns: 4 * S).remarks
    assert_in_delta 0.35, disturbance(busy_ns: 30 * S, own_ns: 20 * S, stolen_ns: 4 * S).taken_ratio, 1e-9
    assert_nil disturbance(busy_ns: nil, stolen_ns: nil).taken_ratio
  end

  test "the kernel counts in hundredths of a second, and ours can come out as more than all" do
    assert_equal 0.0, disturbance(busy_ns: 10 * S, own_ns: 11 * S).foreign_ratio
  end

  test "a kernel that does not tell what is used is asked how busy it was before" do
    busy = machine_facts(4, nil).with(load_average: 3.0, cpu_pressure_ratio: 0.2)
    assert_equal ["The load average was 3.0 before it began.", "Somebody waited for a core 20.0% of the time before it began."],
      disturbance(facts: busy, busy_ns: nil).remarks
    assert_empty disturbance(facts: busy).remarks, "that may have been our own last run"
  end

  test "a kernel that tells nothing gives no reason to remark" do
    silent = disturbance(facts: machine_facts(4, nil).with(load_average: nil, cpu_pressure_ratio: nil), busy_ns: nil, stolen_ns: nil)
    assert_nil silent.foreign_ratio
    assert_empty silent.remarks
  end

  test "CPU of our own, and of children that were waited for, does not count as another's" do
    disturbance, value = Disturbance.during do
      system(RbConfig.ruby, "--disable-gems", "-e", "t = Process.clock_gettime(1); nil while Process.clock_gettime(1) - t < 0.5")
      :done
    end
    assert_equal :done, value
    # Whatever else runs here: the child's part is not in it. (Nothing here asserts that the machine is quiet.)
    assert_operator disturbance.foreign_ratio, :<=, 1.0
  end
end
