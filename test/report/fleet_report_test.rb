# frozen_string_literal: true

require "test_helper"
require_relative "fleet_fixture"
require_relative "golden"

class FleetReportTest < TunerTest
  include Golden

  def render(format, **others) = PumaTuner::Report.render(FleetFixture.comparison(**others), format:)

  test "the text has the table, the mix and the services" do
    assert_golden "fleet.txt", render(:text)
  end

  test "the Markdown escapes names" do
    assert_golden "fleet.md", render(:markdown)
  end

  test "figures are shown without intervals, mix and warnings" do
    text = render(:text, mix: nil, warnings: [], blocks_count: 1, block_s: 15, rows: FleetFixture.rows.map { |row| row.with(ratio: nil, adjusted: nil, outcome: nil) })
    assert_match(/^  p99 +549 ms +445 ms +-19% +- +-$/, text)
    assert_match(/with no interval/, text)
    refute_match(/Endpoint mix|The data/, text)
    assert_match(/1 block of 15\.0 s/, text)
  end

  test "each reason for which a row is not shown has its words" do
    PumaTuner::Fleet::Comparer::REASONS.each do |reason|
      text = render(:text, rows: FleetFixture.rows.map { |row| row.with(outcome: :not_shown, reason: (reason if row.name == "p99")) })
      assert_match(/^ *p99: not shown, .*\w/, text, reason)
    end
  end

  test "the page has a chart, everything escaped, and the document inside" do
    page = render(:html)
    assert_includes page, "<title>Fleet: {yjit=&quot;off&quot;} against {yjit=&quot;on&quot;} – PumaTuner</title>"
    assert_includes page, "POST /&lt;b&gt;carts&lt;/b&gt;"
    refute_includes page, "<b>carts"
    assert_equal 5, page.scan('<circle class="value" cx=').size - 1
    assert_match(/0\.81x \(0\.78–0\.84\)/, page)
    json = page[%r{<script type="application/json" id="puma_tuner-document">(.*?)</script>}m, 1]
    assert_equal FleetFixture.comparison, PumaTuner::Document.parse(json, "page", [:fleet])
  end
end
