# frozen_string_literal: true

require "test_helper"
require "fileutils"
require "timeout"
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

  test "lines and files that are none of the kernel's are no limit" do
    files = {"pods/cpu.max" => "150000\n", "cpu.max" => "max 1 2\n", "pods/memory.max" => "\xFF\n", "pods/memory.current" => "many\n", "pods/memory.stat" => "inactive_file 1\n"}
    assert_equal [nil, nil, nil], group("\n0\nno groups here\n0::/pods\n", files)
    assert_nil working_set_bytes("0::/pods\n", files)
    assert_equal [nil, nil, nil], group("", files)
  end

  def working_set_bytes(lines, files)
    Dir.mktmpdir do |system|
      files.each do |path, text|
        FileUtils.mkdir_p(File.dirname(File.join(system, path)))
        File.write(File.join(system, path), text)
      end
      return PumaTuner::Probe::ControlGroup.new(lines, system:).working_set_bytes
    end
  end

  test "of a path that is longer than any file's, the limits of its first groups hold" do
    lines = "0::/pods#{"/a/b" * 25_000}\n"
    assert_equal [1.5, nil, nil], Timeout.timeout(20) { group(lines, {"pods/cpu.max" => "150000 100000\n"}) }
  end

  test "version 2: the working set is the nearest group's memory without idle file pages" do
    files = {"pods/memory.current" => "900\n", "pods/memory.stat" => "anon 1\ninactive_file 300\n",
             "pods/one/memory.current" => "500\n", "pods/one/memory.stat" => "anon 1\ninactive_file 120\nactive_file 9\n"}
    assert_equal 380, working_set_bytes("0::/pods/one\n", files)
    assert_equal 600, working_set_bytes("0::/pods\n", files)
    assert_nil working_set_bytes("0::/\n", files), "the root group has no memory.current"
    assert_equal 0, working_set_bytes("0::/pods\n", files.merge("pods/memory.stat" => "inactive_file 901\n"))
    assert_nil working_set_bytes("0::/pods\n", files.merge("pods/memory.stat" => "anon 7\n"))
  end

  test "version 1: descendants are counted, and the root group is the whole machine, not the server's" do
    files = {"memory/memory.usage_in_bytes" => "900\n", "memory/memory.stat" => "inactive_file 1\ntotal_inactive_file 300\n"}
    lines = "12:memory:/docker/abc\n0::/\n"
    assert_equal 600, working_set_bytes(lines, files), "a container that sees its own group's files at the top"
    assert_nil working_set_bytes(lines, files.merge("memory/release_agent" => ""))
    below = files.merge("memory/release_agent" => "", "memory/docker/abc/memory.usage_in_bytes" => "80\n",
      "memory/docker/abc/memory.stat" => "total_inactive_file 30\n")
    assert_equal 50, working_set_bytes(lines, below)
    assert_nil working_set_bytes("", {})
  end

  test "the working set of a process here grows with what it takes, where it has a group" do
    skip "the tests run in no control group of their own" unless PumaTuner::Probe::ControlGroup.own.working_set_bytes
    before = PumaTuner::Probe::ControlGroup.own.working_set_bytes
    taken = "x" * (256 << 20)
    assert_operator PumaTuner::Probe::ControlGroup.own.working_set_bytes - before, :>, 100 << 20
    assert_equal 256 << 20, taken.bytesize
  end

  test "without control groups there is no limit" do
    assert_equal [nil, nil, nil], group("", {})
  end
end
