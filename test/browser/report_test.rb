# frozen_string_literal: true

require "test_helper"
require "support/tuning_fixture"
require_relative "chromium"

# The HTML report in a real browser.
class ReportInBrowserTest < TunerTest
  time_limit 180

  NASTY = %(GET /"><script>document.title = "owned"</script><img src=x onerror="document.title = 'owned'">)

  # Sizes of what must be seen, what was asked of the network, and whether a click sorts.
  FACTS = <<~JS
    const size = (element) => { const box = element.getBoundingClientRect(); return [box.width, box.height]; };
    const table = document.querySelector("#forecasts table.sortable");
    const first = () => table.tBodies[0].rows[0].cells[0].textContent.trim();
    const before = first();
    table.tHead.rows[0].cells[1].click();
    return {
      dom: document.documentElement.outerHTML,
      title: document.title,
      background: window.getComputedStyle(document.documentElement).backgroundColor,
      figures: Object.fromEntries([...document.querySelectorAll("figure")].map((figure) => [figure.id, size(figure)])),
      bars: [...document.querySelectorAll("#endpoint-budgets .bar svg")].map((svg) => [size(svg)[0], [...svg.querySelectorAll("rect")].reduce((sum, rect) => sum + size(rect)[0], 0)]),
      dots: document.querySelectorAll("#rounds .round g[transform]").length,
      diamonds: document.querySelectorAll("#ratios path.predicted").length,
      heats: [...document.querySelectorAll("#heat-map-throughput td")].map((cell) => window.getComputedStyle(cell).backgroundColor),
      overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
      images: document.images.length,
      first: [before, first()],
      kind: JSON.parse(document.getElementById("puma_tuner-document").textContent).kind
    };
  JS

  def setup
    skip "no Chromium here: install chromium to test the report in a browser" unless Chromium.path
  end

  def visit(value = TuningFixture.tuning, **)
    Chromium.visit(PumaTuner::Report.render(value, format: :html), script: FACTS, **)
  end

  # The browser runs errands of its own, whatever it shows: an empty page tells which.
  def hosts_asked_by(visit) = visit.hosts - Chromium.visit("<!DOCTYPE html><title>empty</title>").hosts

  test "a report opens without a complaint, asks nobody for anything, and shows its charts" do
    visit = visit()
    facts = visit.facts
    assert_empty visit.complaints
    assert_empty hosts_asked_by(visit)
    assert_equal "tuning", facts["kind"]
    assert_equal %w[endpoint-budgets latencies job-budgets gvl-holders thread-budgets background heat-map-throughput heat-map-p99 ratios rounds],
      facts["figures"].keys
    facts["figures"].each { |id, (width, height)| assert_operator [width, height].min, :>, 100, id }
    assert_equal 0, facts["overflow"], "the page is wider than the window"
    assert_operator facts["dom"].scan(/<svg[^>]*role="img"/).size, :>=, 12
  end

  test "a page that asks is caught, at our own address and elsewhere" do
    page = '<!DOCTYPE html><title>x</title><img src="http://127.0.0.1:PORT/a.png"><img src="https://example.test/b.png">'
    assert_equal %w[127.0.0.1 example.test], hosts_asked_by(Chromium.visit(page)).sort
  end

  test "a page that complains is caught" do
    complaints = Chromium.visit("<!DOCTYPE html><script>console.error('on purpose')</script><script>undefined_function()</script>").complaints
    assert_equal 2, complaints.grep(/on purpose|undefined_function/).size, complaints.join
  end

  test "the report's own policy stops what might slip in" do
    page = PumaTuner::Report.render(TuningFixture.sweep, format: :html)
    slipped = page.sub("</main>", %(<img src="http://127.0.0.1:PORT/x.png"><script>document.title = "owned"</script></main>))
    visit = Chromium.visit(slipped, script: "return document.title;")
    refute_equal "owned", visit.facts
    assert_empty hosts_asked_by(visit)
    assert_equal 2, visit.complaints.size
  end

  test "bars fill their width, dots and diamonds are as many as trials and forecasts, and heat has degrees" do
    facts = visit.facts
    assert_equal 5, facts["bars"].size
    facts["bars"].each { |width, filled| assert_in_delta width, filled, 8 }
    assert_equal 14, facts["dots"]
    # Three in the chart and one in its legend.
    assert_equal 4, facts["diamonds"]
    assert_operator facts["heats"].uniq.size, :>, 8
  end

  test "in a narrow window it is no wider than that" do
    assert_equal [0, 0], [700, 420].map { |width| visit(width:).facts["overflow"] }
  end

  test "a click on a heading sorts its table" do
    assert_equal ["1x1", "2x8"], visit.facts["first"]
  end

  test "it follows the reader's dark colours" do
    light = visit.facts["background"]
    dark = visit(options: ["--blink-settings=preferredColorScheme=0"])
    assert_equal "rgb(255, 255, 255)", light
    refute_equal light, dark.facts["background"]
    assert_empty dark.complaints
  end

  test "a hostile endpoint's name is shown, and does nothing" do
    rows = [[NASTY, *TuningFixture::ENDPOINTS.first.drop(1)]]
    visit = visit(TuningFixture.tuning(observation: TuningFixture.observation(endpoint_rows: rows)))
    assert_equal "Go from 1x5 to 2x3: +67 % requests/s – PumaTuner", visit.facts["title"]
    assert_equal 0, visit.facts["images"]
    assert_includes visit.facts["dom"], "onerror"
    assert_empty visit.complaints
  end
end
