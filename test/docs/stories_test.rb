# frozen_string_literal: true

require "test_helper"

# docs/stories.md: each row has a state, and each figure of ours the command that repeats it.
class StoriesPageTest < TunerTest
  TEXT = File.read(File.expand_path("../../docs/stories.md", __dir__), encoding: "UTF-8")
  STATES = /\A(done|better|left out, because)\b/
  NO_FIGURE = ["–", "not measured"].freeze

  # @return [Array<Array<String>>] cells of the stories' rows: number, the story, published, here, state
  def rows = TEXT.scan(/^\| (\d\.\d+ \|.+) \|$/).map { |(row)| row.split(" | ", -1) }

  # @return [Array<String>] what stands in brackets for a command
  def commands = TEXT[/^\| in brackets .+?\n\n/m].scan(/^\| (\w+) \| `/).flatten

  test "each row has five cells and a state" do
    assert_operator rows.size, :>, 100
    rows.each do |row|
      assert_equal 5, row.size, row.first
      assert_match STATES, row.last, row.first
    end
    (1..5).each { |story| assert_equal (1..rows.count { |row| row.first.start_with?("#{story}.") }).to_a, rows.filter_map { |row| row.first.split(".").last.to_i if row.first.start_with?("#{story}.") } }
  end

  test "each figure of ours names its command" do
    assert_equal 12, commands.size
    rows.each do |number, _, _, here|
      next if NO_FIGURE.include?(here)
      named = here[/\((\w+)\)\z/, 1]
      assert named ? commands.include?(named) : !here.match?(/\d/), "#{number}: #{here}"
    end
  end
end
