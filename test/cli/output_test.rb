# frozen_string_literal: true

require "test_helper"
require "support/tradeoffs"
require "support/tuning_fixture"
require "stringio"
require "tmpdir"

# What a command made, where it belongs.
class OutputTest < TunerTest
  include PumaTuner

  Output = CLI::Output

  def setup
    @folder = Dir.mktmpdir("puma_tuner-test")
    @out, @err = StringIO.new, StringIO.new
  end

  def teardown = FileUtils.rm_rf(@folder)

  def place(*parts) = File.join(@folder, *parts)

  def value = TuningFixture.observation

  def write(**) = Output.write(value, out: @out, err: @err, path: place("o.json"), html: place("o.html"), **)

  # @return [Integer] of the longest line in a window of so many columns
  def widest(columns)
    terminal = StringIO.new
    terminal.define_singleton_method(:tty?) { true }
    terminal.define_singleton_method(:winsize) { [24, columns] }
    Output.write(Tradeoffs.study({"off" => [1_000, 100], "on" => [600, 130]}), out: terminal, err: @err)
    Report::Paint.strip(terminal.string).lines(chomp: true).map(&:length).max
  end

  test "the text is no wider than the window, nor than can be read" do
    assert_operator widest(80), :<=, 80
    [120, 0].each { |columns| assert_includes 81..100, widest(columns) }
  end

  test "the text is printed, and the files are named after it" do
    write
    assert_includes @out.string, "puma srv"
    assert_equal "observation: #{place("o.json")}\nreport: #{place("o.html")}\n", @err.string
    assert_equal value, Document.read(place("o.json"), :observation)
  end

  test "the files are there though nobody reads the text any more" do
    def @out.puts(*) = raise(CLI::NobodyReads)
    assert_raises(CLI::NobodyReads) { write }
    assert_equal %w[o.html o.json], Dir.children(@folder).sort
  end

  test "the text is printed though a file has no place" do
    Dir.mkdir(place("o.html"))
    assert_match(/cannot write .*o\.html: /, assert_raises(UsageError) { write }.message)
    assert_includes @out.string, "puma srv"
    assert_equal "observation: #{place("o.json")}\n", @err.string
  end

  test "the value itself takes the place of the text where it is asked for" do
    write(path: "-", html: nil)
    assert_equal value, Document.parse(@out.string, "-", [:observation])
    assert_empty Dir.children(@folder)
  end

  test "two results have two places" do
    same = place("results", "..", "o.json")
    assert_equal "#{place("o.json")} is named for two results. Give each a place of its own.",
      assert_raises(UsageError) { Output.check_writable(place("o.json"), nil, "-", same) }.message
    Output.check_writable(place("o.json"), place("o.html"), File::NULL, File::NULL, "-", "-", nil)
  end
end
