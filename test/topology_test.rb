# frozen_string_literal: true

require "test_helper"

class TopologyTest < TunerTest
  Topology = PumaTuner::Topology

  test "it is read as workers x threads" do
    assert_equal Topology.new(workers_count: 2, threads_count: 3), Topology.parse("2x3")
    assert_equal "2x3", Topology.parse("2x3").to_s
  end

  test "no worker and one worker are the same single process" do
    assert_equal Topology.from(0, 5), Topology.from(1, 5)
    assert_equal "-w 0 -t 5:5", Topology.from(1, 5).to_puma_options
    assert_equal "-w 2 -t 5:5", Topology.from(2, 5).to_puma_options
  end

  test "nonsense is the user's mistake" do
    ["3", "x", "2x", "2x0", "-1x2", "1x10000", "99999999x1"].each { |text| assert_raises(PumaTuner::UsageError, text) { Topology.parse(text) } }
  end
end
