# frozen_string_literal: true

require "test_helper"
require "open3"
require "tmpdir"
require "support/test_file"

class TestRunTest < TunerTest
  PASSING = "test(\"passes\") { assert true }"

  def setup = @folder = Dir.mktmpdir("puma_tuner-test")

  def teardown = FileUtils.remove_entry(@folder)

  # @param bodies [Hash{Symbol => String}] file's name => the body of its test class
  # @return [Array<String>] their paths
  def write(bodies)
    bodies.map do |name, body|
      File.join(@folder, "#{name}_test.rb").tap do |path|
        File.write(path, "require \"test_helper\"\nclass #{name.to_s.capitalize}Test < TunerTest\n  #{body}\nend\n")
      end
    end
  end

  # @return [Array<String>] words of a command that runs those files
  def command(bodies, options = "")
    libs = %w[lib probe/lib test].map { |name| "-I#{File.join(TestFile::PROJECT, name)}" }
    script = "require 'puma_tuner'; require 'support/test_run'; exit TestRun.new(ARGV.map { |path| TestFile.new(path) }, #{options}).call"
    [RbConfig.ruby, *libs, "-e", script, *write(bodies)]
  end

  # @return [Array(Array<String>, Process::Status)] what it printed, and how it ended
  def run_files(bodies, options = "processes_count: 2") = Open3.capture2e(*command(bodies, options)).then { |output, status| [output.lines(chomp: true), status] }

  # @return [Array<String>] the lines between "Failed:" and the sum
  def failed(lines) = lines.drop(lines.index("Failed:") + 1)[..-3]

  test "results of all processes become one sum" do
    lines, status = run_files({one: PASSING, two: "#{PASSING}\ntest(\"is left out\") { skip \"no thing\" }", three: "test(\"fails\") { assert_equal 1, 2 }\ntest(\"breaks\") { Class.new(StandardError).then { |own| raise own, \"why\" } }"})
    assert_equal "5 runs, 3 assertions, 2 failures, 1 errors, 0 skips", lines.last
    assert_equal 1, status.exitstatus
    assert_equal ["  ThreeTest#test_breaks", "  ThreeTest#test_fails", "  TwoTest#test_is_left_out"], failed(lines).grep(/Test#/).map { |line| line[/.*(?= at)/] }.sort
    assert_includes failed(lines).join, ": why"
    lines, status = run_files({one: PASSING, two: PASSING})
    assert_equal ["2 runs, 2 assertions, 0 failures, 0 errors, 0 skips", 0], [lines.last, status.exitstatus]
  end

  test "a process that dies or hangs, and a file that can't be loaded, are failures that name the file" do
    bodies = {dies: "test(\"dies\") { Process.kill(:KILL, Process.pid) && sleep }", ends: "test(\"ends\") { exit!(0) }", broken: "a_word_of_nobody", fine: PASSING,
              hangs: "time_limit 0.1\n  test(\"hangs\") { Thread.handle_interrupt(Exception => :never) { sleep } }"}
    lines, status = run_files(bodies, "processes_count: 5, grace_s: 3")
    assert_equal ["5 runs, 1 assertions, 3 failures, 1 errors, 0 skips", 1], [lines.last, status.exitstatus]
    told = failed(lines).join("\n")
    assert_match(/DiesTest#test_dies at .*dies_test.rb.*\n.*the process of .*dies_test.rb ended by SIGKILL/, told)
    assert_match(/EndsTest#test_ends at .*ends_test.rb.*\n.*the process of .*ends_test.rb ended by exit 0/, told)
    assert_match(/HangsTest#test_hangs at .*hangs_test.rb.*\n.*the process of .*hangs_test.rb did not end in time/, told)
    assert_match(/broken_test.rb#as it is loaded at .*broken_test.rb:3\n.*NameError: undefined local variable or method 'a_word_of_nobody'/, told)
  end

  test "files are run beside each other, but for timed ones, which come last and alone" do
    note = "test(\"notes\") { File.write(\"#{@folder}/log\", \"a\", mode: \"a\") && sleep(0.3); assert File.write(\"#{@folder}/log\", \"z\", mode: \"a\") }"
    run_files({one: "timed!\n  #{note}", two: note, three: "timed!\n  #{note}", four: note})
    assert_equal "aazzazaz", File.read("#{@folder}/log")
  end

  test "a test of servers that failed is run again, alone: where it passes it is named with what it said, where not it fails" do
    tries = "File.write(\"#{@folder}/log\", name[-1], mode: \"a\"); assert_operator File.read(\"#{@folder}/log\").count(name[-1]), :>, "
    one = "kind :integration\n  test(\"a\") { #{tries} 1 }\n#{PASSING}"
    lines, status = run_files({one:, two: "timed!\n test(\"b\") { #{tries} 0 }"}, "processes_count: 1")
    assert_equal ["aba", 0, "3 runs, 5 assertions, 0 failures, 0 errors, 0 skips"],
      [File.read("#{@folder}/log"), status.exitstatus, lines.last]
    refute_includes lines, "Failed:"
    told = lines.drop(lines.index("Passed when run again, alone; at first it said:") + 1)
    assert_match(/OneTest#test_a at .*one_test.rb/, told[0])
    assert_match(/Expected 1 to be > 1/, told[1])
    lines, status = run_files({one: "kind :integration\n  test(\"c\") { #{tries} 2 }"})
    assert_equal ["abacc", 1, "1 runs, 2 assertions, 1 failures, 0 errors, 0 skips"],
      [File.read("#{@folder}/log"), status.exitstatus, lines.last]
    refute_includes lines.join, "run again"
    assert_match(/Expected 2 to be > 2/, failed(lines).join)
    _, status = run_files({one: "test(\"d\") { #{tries} 1 }"})
    assert_equal ["abaccd", 1], [File.read("#{@folder}/log"), status.exitstatus], "a test without servers has no second try"
  end

  test "where many tests fail none is run again: no chance makes so many" do
    fails = Array.new(9) { |i| "test(\"fails #{i}\") { assert File.write(\"#{@folder}/log\", \"x\", mode: \"a\") && false }" }.join("\n")
    lines, status = run_files({one: "kind :integration\n  #{fails}"})
    assert_equal [9, 1], [File.size("#{@folder}/log"), status.exitstatus]
    assert_equal "9 runs, 9 assertions, 9 failures, 0 errors, 0 skips", lines.last
  end

  test "Ctrl-C ends all, commands that tests have started too, and what was found is told" do
    start = "test(\"waits\") { File.write(\"#{@folder}/pid\", Process.spawn(\"sleep 60\").to_s) && sleep }"
    Open3.popen2e(*command({one: PASSING, two: start}, "processes_count: 1")) do |_, out, thread|
      pid = wait_until("the command") { File.read("#{@folder}/pid").to_i.nonzero? if File.exist?("#{@folder}/pid") }
      Process.kill(:INT, thread.pid)
      assert_equal "1 runs, 1 assertions, 0 failures, 0 errors, 0 skips", out.readlines.last.chomp
      assert_equal 130, thread.value.exitstatus
      wait_until("the command's end") { !PumaTuner::Probe::Processes.alive?(pid) }
    end
  end

  test "a file's kind is its folder's, what a line of it says, or follows from what it requires" do
    {"test/labs/b/a_test.rb" => ["labs", "require \"open3\""], "test/browser/a_test.rb" => ["browser", ""], "probe/test/a_test.rb" => ["unit", ""], "test/a_test.rb" => ["integration", "require \"support/served_app\""],
     "test/b_test.rb" => ["integration", "class BTest < TunerTest\n  kind :integration"]}.each do |name, (kind, text)|
      path = File.join(@folder, name)
      FileUtils.mkdir_p(File.dirname(path))
      File.write(path, text)
      assert_equal [kind, false], TestFile.new(path).then { |file| [file.kind, file.timed?] }
    end
    assert_predicate TestFile.new(write({one: "timed!"}).first), :timed?
  end

  test "every file is of one kind" do
    assert_equal TestFile.all.size, TestFile::KINDS.sum { |kind| TestFile.all(kind).size }
    TestFile::KINDS.each { |kind| refute_empty TestFile.all(kind) }
  end
end
