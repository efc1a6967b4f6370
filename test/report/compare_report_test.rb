# frozen_string_literal: true

require "test_helper"
require_relative "compare_fixture"
require_relative "golden"

class CompareReportTest < TunerTest
  include Golden

  def render(format, verbose: nil, **others) = PumaTuner::Report.render(CompareFixture.outcome(**others), format:, **{verbose:}.compact)

  test "the text tells all requests, each endpoint, the mix, and what is not compared" do
    assert_golden "compare.txt", render(:text, verbose: true)
  end

  test "what decides nothing says why, and what to do" do
    {other_hours: /the same hours of a day before/, few_blocks: /Take longer logs/, short_blocks: /best of four days and more/}.each do |reason, pattern|
      assert_match pattern, render(:text, reason:, pairing: :order).gsub(/\s+/, " ")
    end
  end

  test "figures are shown without intervals, mix and remarks" do
    bare = CompareFixture.rows.map { |row| row.with(ratio: nil, adjusted: nil, outcome: nil) }
    text = render(:text, rows: bare, mix: nil, mix_rows: {}, remarks: [], endpoints: [], correlation_s: nil, blocks_count: 1, block_s: 5)
    assert_match(/^  mean +64\.5 ms +94\.0 ms +\+46% +- +-$/, text)
    assert_match(/with no interval/, text)
    refute_match(/Endpoint mix|not compared$/, text)
  end

  test "the page has a chart of all and of each endpoint, everything escaped, and the document inside" do
    page = render(:html)
    assert_includes page, "<title>before.log against after.log – PumaTuner</title>"
    assert_includes page, "POST /&lt;b&gt;orders&lt;/b&gt;"
    refute_includes page, "<b>orders"
    assert_equal 7, page.scan('<circle class="value" cx=').size - 1, "four of all, three of endpoints, and the legend's"
    json = page[%r{<script type="application/json" id="puma_tuner-document">(.*?)</script>}m, 1]
    assert_equal CompareFixture.outcome, PumaTuner::Document.parse(json, "page", [:log_comparison])
  end
end
