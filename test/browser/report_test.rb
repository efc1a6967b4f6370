# frozen_string_literal: true

require "test_helper"
require "json"
require "report/proof_fixture"
require_relative "dev_tools"

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
      dots: document.querySelectorAll("#rounds .round svg.at").length,
      diamonds: document.querySelectorAll("#ratios path.predicted").length,
      heats: [...document.querySelectorAll("#heat-map-throughput td")].map((cell) => window.getComputedStyle(cell).backgroundColor),
      overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
      images: document.images.length,
      first: [before, first()],
      kind: JSON.parse(document.getElementById("puma_tuner-document").textContent).kind
    };
  JS

  # The same of a proof on its own.
  PROOF_FACTS = <<~JS
    const size = (element) => { const box = element.getBoundingClientRect(); return [box.width, box.height]; };
    const width = (elements) => [...elements].reduce((sum, element) => sum + size(element)[0], 0);
    return {
      dom: document.documentElement.outerHTML,
      title: document.title,
      figures: Object.fromEntries([...document.querySelectorAll("figure")].map((figure) => [figure.id, size(figure)])),
      charts: [...document.querySelectorAll("figure .plots[aria-label], figure .plane > svg")].map((chart) => [chart.getAttribute("aria-label"), ...size(chart)]),
      bars: [...document.querySelectorAll("#cause .bar svg")].map((svg) => width(svg.querySelectorAll("rect")) / size(svg)[0]),
      dots: document.querySelectorAll("#rounds .round svg.at").length,
      lines: [...document.querySelectorAll("#memory, #warm-up")].map((figure) => [...figure.querySelectorAll(".plane path.curve")].filter((path) => size(path)[0] > 100).length),
      folded: [...document.querySelectorAll("details")].map((details) => [details.open, details.querySelector("summary").textContent.trim()]),
      spilt: [...document.querySelectorAll("svg text")].filter((text) => {
        const box = text.getBoundingClientRect(), figure = text.closest("figure").getBoundingClientRect();
        return box.width && (box.left < figure.left - 3 || box.right > figure.right + 3 || box.top < figure.top || box.bottom > figure.bottom);
      }).map((text) => text.textContent),
      overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
      images: document.images.length,
      kind: JSON.parse(document.getElementById("puma_tuner-document").textContent).kind
    };
  JS

  def setup
    skip "no Chromium here: install chromium to test the report in a browser" unless Chromium.path
  end

  # A page that several tests look at is opened once.
  VISITS = Hash.new { |visits, (page, options)| visits[[page, options]] = Chromium.visit(page, **options) }

  def visit(value = TuningFixture.tuning, script: FACTS, **options)
    VISITS[[PumaTuner::Report.render(value, format: :html), {script:, **options}]]
  end

  def visit_proof(value = ProofFixture.gems) = visit(value, script: PROOF_FACTS)

  # The same but for whom it asks.
  def look(value, script: FACTS) = DevTools.look(PumaTuner::Report.render(value, format: :html), script:)

  # The browser runs errands of its own, whatever it shows, now and then.
  ERRANDS = /(?:\A|\.)(?:google|googleapis|gstatic|gvt1)\.com\z/

  def hosts_asked_by(visit) = visit.hosts.grep_v(ERRANDS)

  test "a report opens without a complaint, asks nobody for anything, and shows its charts" do
    visit = visit()
    facts = visit.facts
    assert_empty visit.complaints
    assert_empty hosts_asked_by(visit)
    assert_equal "tuning", facts["kind"]
    assert_equal %w[thread-budgets endpoint-budgets latencies job-budgets gvl-holders background heat-map-throughput heat-map-p99 simulated-budgets ratios rounds],
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
    page = "<!DOCTYPE html><script>console.error('on purpose')</script><script>undefined_function()</script>"
    [Chromium.visit(page), DevTools.look(page, script: "return null;")].map(&:complaints).each do |complaints|
      assert_equal 2, complaints.grep(/on purpose|undefined_function/).size, complaints.join
    end
    assert_empty DevTools.look("<!DOCTYPE html><title>x</title>", script: "return null;").complaints, "the next page is told by itself"
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
    visit = look(TuningFixture.tuning(observation: TuningFixture.observation(endpoint_rows: rows)))
    assert_equal "Go from 1x5 to 2x3: 1.64x (1.60–1.69) requests/s, measured – PumaTuner", visit.facts["title"]
    assert_equal 0, visit.facts["images"]
    assert_includes visit.facts["dom"], "onerror"
    assert_empty visit.complaints
  end

  test "a proof on its own opens without a complaint, asks nobody for anything, and shows its charts" do
    visit = visit_proof
    facts = visit.facts
    assert_empty visit.complaints
    assert_empty hosts_asked_by(visit)
    assert_equal "verdict", facts["kind"]
    assert_equal %w[ratios rounds memory warm-up cause], facts["figures"].keys
    facts["figures"].each { |id, (width, height)| assert_operator [width, height].min, :>, 100, id }
    assert_equal 4, facts["charts"].size
    facts["charts"].each { |label, *size| assert_equal [true, true], [label.length > 20, size.min > 100] }
    assert_empty facts["spilt"], "text leaves its chart"
    assert_equal 0, facts["overflow"], "the page is wider than the window"
  end

  test "a proof has a dot for each trial, a line for each that counts, bars to one scale, and folds what is the same" do
    facts = visit_proof.facts
    assert_equal 26, facts["dots"]
    assert_equal [24, 24], facts["lines"]
    assert_in_delta 1, facts["bars"].first, 0.02
    assert_in_delta 4_640 / 5_300.0, facts["bars"].last, 0.02
    assert_equal [[true, "Part by part"], [false, "14 facts that are the same in all variants"]], facts["folded"]
  end

  test "proofs of blocks and of many variants open, too" do
    [ProofFixture.blocks, ProofFixture.factorial].each do |value|
      visit = look(value, script: PROOF_FACTS)
      assert_equal [[], [], 0], [visit.complaints, visit.facts["spilt"], visit.facts["overflow"]], value.baseline
    end
  end

  test "whatever a proof was given or has read is shown, and does nothing" do
    visit = look(ProofFixture.nasty(NASTY), script: PROOF_FACTS)
    refute_equal "owned", visit.facts["title"]
    assert_equal 0, visit.facts["images"]
    assert_includes visit.facts["dom"], "onerror"
    assert_empty visit.complaints
    assert_empty visit.facts["spilt"]
  end
end
