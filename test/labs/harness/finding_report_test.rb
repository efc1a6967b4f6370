# frozen_string_literal: true

require "test_helper"
require "json"
require "support/finding_fixture"

# A lab's finding, in every format.
class FindingReportTest < TunerTest
  include PumaTuner

  def render(format, verbose: nil, **fields) = Report.render(FindingFixture.finding(**fields), format:, **{verbose:}.compact)

  test "text tells the question, each claim with its outcome, the tables, and how to repeat it" do
    text = render(:text, verbose: true)
    assert_match(/\ALab falsy_cache: A lock on every cached nil$/, text)
    assert_includes text, "published  6.782 → 8.633 iterations/s (±10%: 1.15–1.40)\n  here       1.25x (1.20–1.30) (96% interval of 6 rounds): reproduced"
    assert_includes text, "contradicted: same direction, less"
    assert_includes text, "published  44,528\n  here       44,528: exact"
    assert_includes text, "published  0 expected\n  here       3: differs"
    assert_includes text, "published  about 200 ms\n  here       48.5 ms (48.0–49.0)"
    assert_includes text, "published  66 → 54 ms (±10%: 1.11–1.34)\n  here       -: not measured"
    assert_match(/Map#<get>\s+44,528\s+by \| lazy\?$/, text)
    assert_match(/repeat\s+puma_tuner lab run falsy_cache --quick$/, text)
    assert_match(/unknown\s+YJIT: the short form leaves it out$/, text)
    assert_operator text.lines.map(&:chomp).map(&:length).max, :<=, 110
  end

  test "a count that follows from a published rule stands beside it" do
    claims = [["1,748 of 1,748 fields", 2_416], ["100% fewer", 0]].map { |published, expected| Lab::Claim.of_count("calls", expected:, counted: expected, published:) }
    text = render(:text, claims:)
    assert_includes text, "published  1,748 of 1,748 fields; 2,416 expected\n  here       2,416: exact"
    assert_includes text, "published  100% fewer; 0 expected\n  here       0: exact"
  end

  test "markdown lets nothing become markup" do
    markdown = render(:markdown)
    assert_includes markdown, "| Map\\#&lt;get&gt; | 44,528 | by \\| lazy? |"
    assert_includes markdown, "| locks per query, cured | 0 expected | 3 | differs |"
    assert_match(/^    puma_tuner lab run falsy_cache --quick$/, markdown)
  end

  test "the page has the claims, both charts, the tables, and the whole finding without fingerprints of trials" do
    page = render(:html)
    assert_includes page, "<title>A lock on every cached nil – PumaTuner</title>"
    assert_includes page, '<td class="outcome-word outcome-worse">contradicted: same direction, less</td>'
    assert_equal 5, page.scan('<circle class="value"').size - 1, "a row for each ratio that was measured, and one in the legend"
    assert_equal 4, page[/<table[^>]*aria-label="Ratios as claimed.*?<\/table>/m].scan('class="predicted"').size
    assert_equal 2, page.scan(/<path class="curve curve-\d" d="M\d/).size
    assert_equal 4, page.scan("whisker\"").size
    assert_includes page, "1.1.7 &lt;b&gt;"
    embedded = JSON.parse(page[%r{<script type="application/json" id="puma_tuner-document">(.*?)</script>}m, 1])
    assert_equal "finding", embedded.fetch("kind")
    assert(embedded.fetch("verdicts").fetch("parent query").fetch("trials").all? { |trial| trial.fetch("fingerprint").empty? })
  end

  test "a finding without claims, charts, tables or verdicts is shown, too" do
    %i[text markdown html json].each { |format| refute_empty render(format, claims: [], charts: [], tables: [], verdicts: {}, conclusions: [], unknown: {}) }
  end

  test "a chart's names stay inside of it, and its axis begins at zero" do
    chart = Lab::FindingReport::FindingChart.of(FindingFixture.chart)
    assert_equal "0", chart.y_ticks.first.last
    assert_operator chart.height - chart.plot_bottom, :>, 100
    places = chart.lines.flat_map(&:signs).flat_map { |point| [point.y, point.low, point.high] }.compact
    assert places.all? { |place| place.between?(0, chart.plot_bottom) }
    assert_equal 3, chart.x_ticks.size
    refute_predicate Lab::FindingReport::FindingChart.of(FindingFixture.chart.with(series: [])), :any?
  end
end
