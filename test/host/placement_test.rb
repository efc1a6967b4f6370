# frozen_string_literal: true

require "test_helper"
require "tmpdir"

class PlacementTest < TunerTest
  Placement = PumaTuner::Host::Placement
  COMMAND = PumaTuner::Host::Command.new(words: ["puma", "-p", "1"], directory: "/", environment: {})

  test "the generator gets the last of four cores, and servers the others" do
    placement = Placement.of(cores: [0, 2, 4, 6])
    assert_equal [6, [0, 2, 4]], placement.to_h.values
    assert_equal ["taskset", "-c", "0,2,4", "puma", "-p", "1"], placement.keep_off(COMMAND).words
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

  # BusyBox', which Alpine has, knows short options alone.
  BUSYBOX = "[ \"$1\" = -c ] || { echo \"taskset: unrecognized option: $1\" >&2; exit 1; }\nshift 2\nexec \"$@\""

  # @param script [String] of the only `taskset`
  def with_taskset(script)
    before = ENV["PATH"]
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, "taskset"), "#!/bin/sh\n#{script}\n", perm: 0o755)
      ENV["PATH"] = "#{folder}:#{before}"
      yield
    end
  ensure
    ENV["PATH"] = before
  end

  test "BusyBox' taskset binds as well, and one that may not is seen to" do
    with_taskset(BUSYBOX) do
      assert Placement.binds?(0)
      assert_equal [7], PumaTuner::Calibrate::FreshRuby.numbers("[7]", expected_s: 1, core: 0)
      words = Placement.of(cores: [0, 2, 4, 6]).keep_off(COMMAND.with(words: %w[echo served])).words
      assert_equal "served\n", IO.popen(words, &:read)
    end
    with_taskset("exit 1") { refute Placement.binds?(0) }
  end

  test "the kernel's list is read with its spans" do
    allowed = PumaTuner::Probe::Processes.allowed_cores
    assert_includes 1..4_096, allowed.size
    assert_equal allowed.uniq.sort, allowed
  end
end
