# frozen_string_literal: true

require "test_helper"
require "open3"

class MemoryTest < TunerTest
  time_limit 300

  test "Valgrind finds no wrong access to memory" do
    skip "valgrind is not installed; bin/setup --test installs it" unless system("valgrind --version", out: File::NULL, err: File::NULL)
    # Ruby's conservative collector reads uninitialized stack on purpose; all else must be clean.
    out, report, status = Open3.capture3({"RUBYOPT" => nil, "RUBYLIB" => nil}, "valgrind", "--error-limit=no", "--undef-value-errors=no",
      "--max-threads=3000", "--num-callers=12", RbConfig.ruby, File.join(__dir__, "exercise.rb"))
    assert_equal "unobserved threads: true\n", out, report
    assert status.success?, report
    assert_match(/ERROR SUMMARY: 0 errors/, report)
  end
end
