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

  # The signatures, of Ruby and of this project, take seconds to load. So one process has them for both tests: a fork of it makes calls that
  # do not fit.
  SCRIPT = <<~RUBY
    wrong = fork do
      PumaTuner::Topology.new(workers_count: "2", threads_count: 3).workers_count
      PumaTuner::Topology.parse(:"2x3") rescue nil
    end
    Process.wait(wrong)
    $stderr.puts("the fork ended with \#{$?.exitstatus}")
    #{TESTS}.each { |path| require path }
  RUBY

  # @return [Array(String, String, String, Boolean)] what the fork printed, and its exit code; what the tests printed, and whether all fitted
  def self.told
    @told ||= begin
      words = ["-rbundler/setup", "-Ilib", "-Iprobe/lib", "-Itest", "-I.", "-r./test/support/checked_signatures", "-e", SCRIPT]
      yjit = "--yjit" if defined?(RubyVM::YJIT.enable) # it compares types for most of a minute
      printed, status = Open3.capture2e(RbConfig.ruby, *yjit, *words, chdir: ROOT)
      wrong, code, tests = printed.split(/^the fork ended with (\d+)\n/)
      [wrong, code, tests.to_s, status.success?]
    end
  end

  test "calls, fields and results of the public API fit their signatures" do
    _, _, printed, fitted = self.class.told
    assert fitted, printed.lines.grep(/times\)$|Error|Failure/).join
    assert_operator printed[/^(\d+) runs/, 1].to_i, :>, 80
  end

  test "an argument, a field or a result of another type is told, with what it should be" do
    printed, code, = self.class.told
    assert_equal "1", code, printed
    assert_equal ["PumaTuner::Topology initialize: a keyword is ::Integer, and was String (1 times)",
      "PumaTuner::Topology parse: text is ::String, and was Symbol (1 times)",
      "PumaTuner::Topology workers_count: returns ::Integer, and was String (1 times)"], printed.lines(chomp: true).grep(/times\)$/).sort
  end
end
