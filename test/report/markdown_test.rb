# frozen_string_literal: true

require "test_helper"
require "support/tuning_fixture"
require_relative "golden"

class ReportMarkdownTest < TunerTest
  include Golden

  def markdown(value) = PumaTuner::Report.render(value, format: :markdown)

  test "a whole tuning" do
    assert_golden "tuning.md", markdown(TuningFixture.tuning)
  end

  test "a tuning without a proof sets the predictions side by side" do
    assert_golden "tuning_without_verdict.md", markdown(TuningFixture.tuning(verdict: nil))
  end

  test "an observation without the extension says why most of it is unknown" do
    assert_golden "observation_unaided.md", markdown(TuningFixture.unaided_observation)
  end

  test "a snapshot of a process of jobs" do
    assert_golden "observation_of_jobs.md", markdown(TuningFixture.jobs_observation)
  end

  test "a verdict" do
    assert_golden "verdict.md", markdown(TuningFixture.verdict)
  end

  test "an observation, a sweep and advice on their own stand open" do
    [TuningFixture.cluster_observation, TuningFixture.sweep, TuningFixture.advice_list].each do |value|
      refute_includes markdown(value), "<details>"
      assert_operator markdown(value).lines.size, :>, 5
    end
  end

  test "a tuning ends with the command that repeats it, on one line and unescaped" do
    assert_operator markdown(TuningFixture.tuning(command: "puma_tuner tune *\n.ru")), :end_with?, "To repeat it:\n\n    puma_tuner tune * .ru\n"
    refute_includes markdown(TuningFixture.verdict), "To repeat it"
  end

  test "all rows of a table have as many cells" do
    markdown(TuningFixture.tuning).split("\n\n").select { |block| block.start_with?("| ") }.each do |table|
      assert_equal 1, table.lines.map { |line| line.gsub("\\|", "").count("|") }.uniq.size, table
    end
  end

  test "names become neither markup nor columns nor mentions" do
    rows = [["GET /<img src=x>|`@everyone`_*[a](b)", *TuningFixture::ENDPOINTS.first.drop(1)]]
    output = markdown(TuningFixture.observation(endpoint_rows: rows))
    assert_includes output, "GET /&lt;img src=x&gt;\\|\\`@\u200beveryone\\`\\_\\*\\[a\\](b)"
    refute_includes output, "<img"
  end
end
