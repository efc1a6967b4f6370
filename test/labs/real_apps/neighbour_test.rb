# frozen_string_literal: true

require "test_helper"
require "open3"
require "rbconfig"

class NeighbourTest < TunerTest
  time_limit 60

  COMMAND = [RbConfig.ruby, "--disable-gems", File.expand_path("../../../labs/real_apps/neighbour", __dir__)].freeze

  def neighbour(*options) = Open3.capture3(*COMMAND, *options)

  def children_of(pid) = Dir["/proc/#{pid}/task/*/children"].flat_map { |path| File.read(path).split.map(&:to_i) }

  test "it computes for the time that it was given, and says which share it got" do
    out, err, status = neighbour("--share", "0.3", "--seconds", "2", "--burst", "0.02", "--cores", "2")
    assert_predicate status, :success?, err
    share, cores, seconds = out.match(/\Atook (\d+\.\d)% of (\d+) cores for (\d+) s \(asked for 30\.0%; seed 1\)\Z/).captures
    assert_operator share.to_f, :>, 0
    assert_operator cores.to_i, :<=, 2
    assert_operator seconds.to_i, :>=, 2
  end

  test "told to stop, it ends with all its processes, and still says which share it got" do
    out, write = IO.pipe
    pid = Process.spawn(*COMMAND, "--seconds", "3600", "--cores", "2", out: write)
    write.close
    sleep 0.05 until (spinners = children_of(pid)).any?
    Process.kill("TERM", pid)
    assert_match(/\Atook .* of \d+ cores/, out.read)
    assert_predicate Process.wait2(pid).last, :success?
    assert_empty(spinners.select { |spinner| File.exist?("/proc/#{spinner}") })
  ensure
    out&.close
  end

  test "what it cannot do is said, with status 2" do
    {["--share", "1"] => /--share is 0.001 to 0.95/, ["--seconds", "1e9"] => /--seconds is/, ["--cores", "0"] => /--cores is at least 1/,
     ["--share", "much"] => /invalid argument: --share much/, ["now"] => /what is now\?/}.each do |options, message|
      _, err, status = neighbour(*options)
      assert_equal [2, true], [status.exitstatus, err.match?(message)], err
    end
  end
end
