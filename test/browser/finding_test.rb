# frozen_string_literal: true

require "test_helper"
require "support/finding_fixture"
require_relative "dev_tools"

# A lab's page in a real browser.
class FindingInBrowserTest < TunerTest
  time_limit 120

  FACTS = <<~JS
    const size = (element) => { const box = element.getBoundingClientRect(); return [box.width, box.height]; };
    return {
      title: document.title,
      figures: Object.fromEntries([...document.querySelectorAll("figure > .plots, figure > .plane > svg")].map((chart) => [chart.closest("figure").id, size(chart)])),
      spilt: [...document.querySelectorAll("svg text")].filter((text) => {
        const box = text.getBoundingClientRect(), figure = text.closest("figure").getBoundingClientRect();
        return box.left < figure.left - 4 || box.right > figure.right + 4 || box.top < figure.top || box.bottom > figure.bottom;
      }).map((text) => text.textContent),
      overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
      images: document.images.length
    };
  JS

  NASTY = %(<img src=x onerror="document.title = 'owned'">)

  def setup
    skip "no Chromium here: install chromium to test the report in a browser" unless Chromium.path
  end

  def visit(**fields) = DevTools.look(PumaTuner::Report.render(FindingFixture.finding(**fields), format: :html), script: FACTS)

  test "it opens without a complaint, with nothing outside of its charts" do
    visit = visit()
    assert_empty visit.complaints
    assert_equal %w[claim-ratios line], visit.facts["figures"].keys
    visit.facts["figures"].each_value { |size| assert_operator size.min, :>, 100 }
    assert_empty visit.facts["spilt"]
    assert_equal 0, visit.facts["overflow"]
  end

  test "names are escaped, and never become markup" do
    table = PumaTuner::Lab::Table.new(title: NASTY, headings: [NASTY, "2"], rows: [[NASTY, NASTY]], notes: [NASTY])
    visit = visit(title: NASTY, question: NASTY, conclusions: [NASTY], tables: [table], unknown: {NASTY => NASTY}, command: NASTY,
      claims: [PumaTuner::Lab::Claim.of_ratio(NASTY, FindingFixture.ratio(1.2, 0.1), published: NASTY, published_ratio: 1.3, note: NASTY)])
    assert_equal 0, visit.facts["images"]
    refute_equal "owned", visit.facts["title"]
  end
end
