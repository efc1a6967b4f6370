# frozen_string_literal: true

require "test_helper"
require "fileutils"
require "tmpdir"

class ControlGroupTest < TunerTest
  # @param files [Hash{String => String}]
  def group(lines, files)
    Dir.mktmpdir do |system|
      files.each do |path, text|
        FileUtils.mkdir_p(File.dirname(File.join(system, path)))
        File.write(File.join(system, path), text)
      end
      group = PumaTuner::Probe::ControlGroup.new(lines, system:)
      return [group.cpu_quota_cores, group.memory_limit_bytes, group.throttled_count]
    end
  end

  test "version 2: the lowest limit from the root down to the process's own group" do
    files = {"cpu.stat" => "usage_usec 5\n", "pods/cpu.max" => "150000 100000\n", "pods/memory.max" => "1073741824\n",
             "pods/one/cpu.max" => "max 100000\n", "pods/one/memory.max" => "max\n", "pods/one/cpu.stat" => "nr_periods 9\nnr_throttled 4\n"}
    assert_equal [1.5, 1 << 30, 4], group("0::/pods/one\n", files)
    assert_equal [1.5, 1 << 30, nil], group("0::/pods\n", files)
    assert_equal [nil, nil, nil], group("0::/\n", files)
  end

  test "version 1: by the controller, also where a container sees the host's path and its own group's files" do
    files = {"cpu/cpu.cfs_quota_us" => "50000\n", "cpu/cpu.cfs_period_us" => "100000\n", "memory/memory.limit_in_bytes" => "536870912\n",
             "cpu/cpu.stat" => "nr_throttled 2\n"}
    lines = "12:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n1:name=systemd:/docker/abc\n0::/docker/abc\n"
    assert_equal [0.5, 512 << 20, 2], group(lines, files)
    unlimited = files.merge("cpu/cpu.cfs_quota_us" => "-1\n", "memory/memory.limit_in_bytes" => "9223372036854771712\n")
    assert_equal [nil, nil, 2], group(lines, unlimited)
  end

  test "without control groups there is no limit" do
    assert_equal [nil, nil, nil], group("", {})
  end
end
