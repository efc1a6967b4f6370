# frozen_string_literal: true

require "test_helper"
require "open3"

# The types of the public API are true: tests run while each call is held against them.
class SignaturesTest < TunerTest
  ROOT = File.expand_path("..", __dir__)

  # Those whose values are made as the program makes them.
  TESTS = %w[topology load/request_file model/fit predict/sweeper predict/what_if prove/finding prove/looks prove/setup profile/diff
    stats/estimate tradeoff/judge].map { |name| "./test/#{name}_test" }

  time_limit 120

  # @return [Array(String, Boolean)] what it printed, and whether all fitted
  def checked(*words)
    printed, status = Open3.capture2e(RbConfig.ruby, "-rbundler/setup", "-Ilib", "-Iprobe/lib", "-Itest", "-I.", "-r./test/support/checked_signatures", *words, chdir: ROOT)
    [printed, status.success?]
  end

  test "calls, fields and results of the public API fit their signatures" do
    printed, fitted = checked(*TESTS.map { |path| "-r#{path}" }, "-e", "nil")
    assert fitted, printed.lines.grep(/times\)$|Error|Failure/).join
    assert_operator printed[/^(\d+) runs/, 1].to_i, :>, 80
  end

  test "an argument, a field or a result of another type is told, with what it should be" do
    script = 'PumaTuner::Topology.new(workers_count: "2", threads_count: 3).workers_count; PumaTuner::Topology.parse(:"2x3") rescue nil'
    printed, fitted = checked("-e", script)
    refute fitted
    assert_equal ["PumaTuner::Topology initialize: a keyword is ::Integer, and was String (1 times)",
      "PumaTuner::Topology parse: text is ::String, and was Symbol (1 times)",
      "PumaTuner::Topology workers_count: returns ::Integer, and was String (1 times)"], printed.lines(chomp: true).grep(/times\)$/).sort
  end
end
