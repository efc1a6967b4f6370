# frozen_string_literal: true

require "test_helper"
require "open3"
require_relative "../../benchmark/support/bench"

# What all benchmarks share.
class BenchTest < TunerTest
  include Bench

  OPTIONS = Bench::Options.define("nothing", page: "docs/nothing.md", needs: "whole rounds", rounds: "so often", quick: "less", names: %w[a b c]) do |parser, given|
    parser.on("--names A,B", Array) { |some| given[:names] = known(some, %w[a b c]) }
  end

  # @return [Array(String, String, Integer)] what it printed, what it said beside, its status
  def benchmark(name, *words)
    out, err, status = Open3.capture3(RbConfig.ruby, "-I", Bench::LIBRARY_FOLDER, File.join(Bench::PROJECT, "benchmark/#{name}.rb"), *words)
    [out, err, status.exitstatus]
  end

  test "a program prints what it found, and ends with 2 for words that it does not know" do
    out, err, status = benchmark("false_alarms", "--repeats", "2")
    assert_equal ["", 0], [err, status]
    assert_includes out, "2 repeats of each"
    assert_equal ["", "false_alarms: invalid option: --nothing\n", 2], benchmark("false_alarms", "--nothing")
    assert_equal ["", "false_alarms: invalid argument: --write needs 3000 repeats or more\n", 2], benchmark("false_alarms", "--write", "--repeats", "2")
  end

  test "each benchmark tells its options" do
    Dir[File.join(Bench::PROJECT, "benchmark/*.rb")].each do |path|
      out, err, status = benchmark(File.basename(path, ".rb"), "--help")
      assert_equal ["", 0], [err, status], path
      assert_match(/\AUsage: .*#{File.basename(path)}/, out)
    end
  end

  test "options that all have mean the same, and a page is not written of less than a whole run" do
    assert_equal [nil, false, %w[a b c], false], OPTIONS.parse([]).to_h.values
    assert_equal [3, true, %w[a c], false], OPTIONS.parse(%w[--rounds 3 --quick --names c,a]).to_h.values
    assert OPTIONS.parse(%w[--write]).write
    [%w[--write --quick], %w[--rounds 0], %w[--names d], %w[more]].each { |words| assert_raises(OptionParser::ParseError, words.join(" ")) { OPTIONS.parse(words) } }
  end

  test "ends well only when all targets are met" do
    assert_equal [0, 3, 1, 1], [%i[met met], %i[met not_shown], %i[missed met], %i[missed not_shown]].map { |all| Bench.status(all) }
  end

  test "gives each variant each place, and not always the same neighbour" do
    orders = (0...8).map { |round| Bench.order(%i[a b c d], round) }
    assert_equal [%i[a a b b c c d d]] * 4, orders.transpose.map(&:sort)
    assert_operator orders.flat_map { |order| order.each_cons(2).to_a }.uniq.size, :>, 4
  end

  test "takes the middle of the Walsh averages and the exact signed-rank interval" do
    # The averages of 0, 1 and 5 are 0, 0.5, 1, 2.5, 3, 5.
    assert_in_delta 1.75, Difference.of([0, 1, 5]).value
    assert_nil Difference.of([0, 1, 5]).level_ratio
    six = Difference.of([3, 1, 2, 6, 5, 4])
    assert_equal [1.0, 6.0], [six.low, six.high]
    assert_in_delta 0.96875, six.level_ratio
    assert_nil Difference.of([])
  end

  test "tells how a child failed in one line, without folders of this machine" do
    aborted, killed = ["abort %q(\n/some/where/app.rb:2: boom\nmore)", "Process.kill(:KILL, Process.pid)"].map do |program|
      Failure.of_child(*PumaTuner::Host::Child.output_of([RbConfig.ruby, "-e", program], limit_s: 30)).reason
    end
    assert_equal ["status 1, app.rb:2: boom", "killed by SIGKILL"], [aborted, killed]
  end

  test "aligns its columns and never shows a negative zero" do
    lines = Markdown.table(%w[a bb], [%w[long 1], %w[x|y 22]]).lines.map(&:chomp)
    assert_equal ["| a    | bb |", "| ---- | -: |", "| long |  1 |", "| x\\|y | 22 |"], lines
    assert_equal ["+0.00", "-0.01", "+12", "-"], [-0.001, -0.006, 12.3, nil].map { |percent| Markdown.signed(percent) }
  end
end
