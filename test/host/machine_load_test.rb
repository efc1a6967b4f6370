# frozen_string_literal: true

require "test_helper"

class MachineLoadTest < TunerTest
  STAT = "cpu  999 9 9 9 9 9 9 9 0 0\ncpu0 10 1 5 100 7 2 3 4 0 0\ncpu1 500 0 0 0 0 0 0 50 0 0\ncpu2 20 0 0 0 0 0 0 6 0 0\nintr 1 2\n"

  def read(cores) = PumaTuner::Host::MachineLoad.read(stat: STAT, cores:).values_at(:busy_ns, :stolen_ns)

  test "only the cores that this process may use count: strangers on the others disturb nobody" do
    assert_equal [41 * 10_000_000, 10 * 10_000_000], read([0, 2])
    assert_equal [21 * 10_000_000, 4 * 10_000_000], read([0])
    assert_equal [nil, nil], read([7])
  end
end
