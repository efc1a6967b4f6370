# frozen_string_literal: true

require "test_helper"

class PlacementTest < TunerTest
  Placement = PumaTuner::Host::Placement
  COMMAND = PumaTuner::Host::Command.new(words: ["puma", "-p", "1"], directory: "/", environment: {})

  test "the generator gets the last of four cores, and servers the others" do
    placement = Placement.of(cores: [0, 2, 4, 6])
    assert_equal [6, [0, 2, 4]], placement.to_h.values
    assert_equal ["taskset", "--cpu-list", "0,2,4", "puma", "-p", "1"], placement.keep_off(COMMAND).words
  end

  test "nothing is bound on fewer than four cores, unless asked for" do
    placement = Placement.of(cores: [0, 1, 2])
    assert_nil placement.generator_core
    assert_equal COMMAND, placement.keep_off(COMMAND)
    assert_equal [0, [1]], Placement.of(0, cores: [0, 1]).to_h.values
  end

  test "a core that is not to be had, or the only one, is a mistake" do
    assert_match(/may use 0, 1/, assert_raises(PumaTuner::UsageError) { Placement.of(5, cores: [0, 1]) }.message)
    assert_match(/only one/, assert_raises(PumaTuner::UsageError) { Placement.of(0, cores: [0]) }.message)
  end

  test "the kernel's list is read with its spans" do
    allowed = PumaTuner::Probe::Processes.allowed_cores
    assert_includes 1..4_096, allowed.size
    assert_equal allowed.uniq.sort, allowed
  end
end
