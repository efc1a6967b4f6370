# frozen_string_literal: true

require "test_helper"
require "open3"
require "tmpdir"

class LastLinesTest < TunerTest
  TESTS = <<~RUBY
    require "test_helper"
    class SomeTest < TunerTest
      test "a slow test" do
        sleep 0.2
        assert true
      end
      test "that starts a program" do
        assert system("ruby -e 'nil until Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) > 1'")
      end
      test "a failing test" do
        flunk "1\\n2\\n3\\n4\\n5\\n6"
      end
      test "a test with an error" do
        [1].fetch(2)
      end
      25.times { |number| test("nothing \#{number}") { assert true } }
    end
    class MistakesTest < TunerTest
      test "a test that may be skipped" do
        skip "no Ruby older than 3.3"
      end
    end
  RUBY

  # @return [Array<String>] standard output of a run of those tests
  def lines_of(tests)
    Dir.mktmpdir do |folder|
      path = File.join(folder, "some_test.rb")
      File.write(path, tests)
      libs = %w[lib probe/lib test].map { |name| "-I#{File.expand_path("../#{name}", __dir__)}" }
      output, _ = Open3.capture2e(RbConfig.ruby, *libs, path)
      return output.gsub(/(?:\S*\/)?some_test\.rb/, "some_test.rb").lines(chomp: true)
    end
  end

  test "a run ends with the twenty slowest tests, then the failed ones in a few lines, then the sum" do
    lines = lines_of(TESTS)
    assert_equal "30 runs, 28 assertions, 1 failures, 1 errors, 1 skips", lines.last
    assert_includes 1.0..10.0, lines.join[/CPU, with all that was started: ([\d.]+) s\./, 1].to_f
    _, slowest, failed = lines.join("\n").split(/^(?=Slowest:|Failed:)/)
    assert_equal 20, slowest.scan(/ s  \w+#test_/).size
    assert_match(/\A {4}0\.\d s  SomeTest#test_a_slow_test\z/, slowest.lines(chomp: true)[2])
    failed = failed.lines(chomp: true)[1..-3]
    assert_equal [
      ["  SomeTest#test_a_failing_test at some_test.rb:11", "    1", "    2", "    3", "    4", "    5"],
      ["  SomeTest#test_a_test_with_an_error at some_test.rb:14", "    IndexError: index 2 outside of array bounds: -1...1"]
    ], failed.slice_before(/\A  \S/).sort
  end

  test "where nothing failed, no failures are listed" do
    lines = lines_of("require \"test_helper\"\nclass FineTest < TunerTest\n  test(\"fine\") { assert true }\nend\n")
    refute_includes lines, "Failed:"
    assert_equal "1 runs, 1 assertions, 0 failures, 0 errors, 0 skips", lines.last
  end
end
