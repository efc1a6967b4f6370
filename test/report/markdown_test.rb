# frozen_string_literal: true

require "test_helper"
require_relative "golden"
require_relative "proof_fixture"

class ReportMarkdownTest < TunerTest
  include Golden

  def markdown(value) = PumaTuner::Report.render(value, format: :markdown)

  test "the Markdown of a whole tuning" do
    assert_golden "tuning.md", markdown(TuningFixture.tuning)
  end

  test "a tuning without a proof sets the predictions side by side" do
    assert_golden "tuning_without_verdict.md", markdown(TuningFixture.tuning(verdict: nil))
  end

  test "a tuning whose model misses what it was made from says that first" do
    assert_golden "tuning_without_trust.md", markdown(TuningFixture.tuning_without_trust)
    assert_match(/\A### PumaTuner\n\n- \*\*Beware\.\*\* The model does not reproduce the recording at 1x8/, markdown(TuningFixture.sweep.with(self_check: TuningFixture.self_check)))
  end

  test "an observation without the extension says why most of it is unknown" do
    assert_golden "observation_without_extension.md", markdown(TuningFixture.observation_without_extension)
  end

  test "a snapshot of a process of jobs" do
    assert_golden "observation_of_jobs.md", markdown(TuningFixture.jobs_observation)
  end

  test "a sweep of three loads has a table for each" do
    assert_golden "sweep_of_three_loads.md", markdown(TuningFixture.wide_sweep)
  end

  test "the Markdown of a verdict" do
    assert_golden "verdict.md", markdown(TuningFixture.verdict)
  end

  test "a proof of two versions of a gem" do
    assert_golden "proof_of_gems.md", markdown(ProofFixture.gems)
  end

  test "a proof of two blocks" do
    assert_golden "proof_of_blocks.md", markdown(ProofFixture.blocks)
  end

  test "a proof of six variants has a table for each" do
    assert_equal 5, markdown(ProofFixture.factorial).scan(/^\*\*yjit=.*\*\*$/).size
  end

  test "the methodology of a proof is folded, and the comparisons are not" do
    open = markdown(ProofFixture.gems).gsub(%r{<details>.*?</details>}m, "")
    assert_includes open, "| requests/s (primary) | 1868 | 2133 | 1.142x (1.131–1.153) | 1.2% | better |"
    refute_includes open, "machine"
  end

  test "an observation, a sweep and advice on their own stand open" do
    [TuningFixture.cluster_observation, TuningFixture.sweep, TuningFixture.advice_list].each do |value|
      refute_includes markdown(value), "<details>"
      assert_operator markdown(value).lines.size, :>, 5
    end
  end

  test "a tuning ends with the command that repeats it, on one line and unescaped" do
    assert_operator markdown(TuningFixture.tuning(command: "puma_tuner tune *\n.ru")), :end_with?, "To repeat it:\n\n    puma_tuner tune * .ru\n"
    refute_includes markdown(TuningFixture.observation), "To repeat it"
  end

  test "all rows of a table have as many cells" do
    blocks = [TuningFixture.tuning, ProofFixture.gems, ProofFixture.factorial].flat_map { |value| markdown(value).split("\n\n") }
    blocks.select { |block| block.start_with?("| ") }.each do |table|
      assert_equal 1, table.lines.map { |line| line.gsub("\\|", "").count("|") }.uniq.size, table
    end
  end

  test "names become neither markup nor columns nor mentions" do
    rows = [["GET /<img src=x>|`@everyone`_*[a](b)", *TuningFixture::ENDPOINTS.first.drop(1)]]
    output = markdown(TuningFixture.observation(endpoint_rows: rows))
    assert_includes output, "GET /&lt;img src=x&gt;\\|\\`@\u200beveryone\\`\\_\\*\\[a\\](b)"
    refute_includes output, "<img"
  end

  test "nothing that a proof was given or has read becomes markup" do
    output = markdown(ProofFixture.nasty("<img src=x>|`@everyone`_*[a](b)"))
    refute_match(/<img|@everyone/, output.lines.grep_v(/\A    /).join)
    assert_equal 1, output.scan(/^    /).size, "more than the command stands as it is"
  end
end
