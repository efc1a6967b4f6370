# frozen_string_literal: true

require "test_helper"

# A line that is wider than two files side by side is not read to its end.
class LinesTest < TunerTest
  ROOT = File.expand_path("..", __dir__)
  COLUMNS_MAX = 120

  test "no line of what is shipped, or of the labs' harness, is wider than 120 columns" do
    files = Dir["#{ROOT}/{{lib,probe/lib,labs/harness}/**/*.rb,exe/*,labs/harness.rb}"]
    assert_operator files.size, :>, 300
    wide = files.to_h { |path| [path.delete_prefix("#{ROOT}/"), wide_lines_count(path)] }
    assert_empty wide.reject { |_, count| count.zero? }
  end

  private

  def wide_lines_count(path) = File.foreach(path).count { |line| line.chomp.length > COLUMNS_MAX }
end
