# frozen_string_literal: true

require "test_helper"
require "support/lane_fixture"
require_relative "dev_tools"

# Threads over time in a real browser.
class LanesInBrowserTest < TunerTest
  include LaneFixture

  def setup
    skip "there is no Chromium on this machine" unless Chromium.path
  end

  # 1,000 ms: a short wait of the second thread, and a long one of the first, while it had the GVL.
  def long_process
    process_lanes([
      ["puma srv tp 001", "held", 100, "gvl_wait", 20, "held", 380, "io", 100, "gvl_wait", 80, "held", 320, {works: [0, 0, 400, 0, 450, 500]}],
      ["puma srv tp 002", "io", 100, "held", 20, "io", 480, "held", 80, "idle", 320, {works: [1, 50, 640]}]
    ]).with(duration_ns: 1_000 * MS)
  end

  def page(value = lane_comparison(lane_recording([long_process]), lane_recording(topology: "1x3"))) = PumaTuner::Report.render(value, format: :html)

  HELP = <<~JS
    const roots = [...document.querySelectorAll(".lanes")];
    const rows = roots.map((root) => root.querySelector(".lane-rows"));
    const said = () => roots[0].querySelector(".lane-said").textContent;
    const press = (key, place = 0) => rows[place].dispatchEvent(new window.KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
    const width = (place = 0) => rows[place].querySelector(".lane svg").viewBox.baseVal.width;
    // Share of the picture that a colour has in a lane.
    const share = (kind, lane = 0, place = 0) => {
      const path = rows[place].querySelectorAll(".lane")[lane].querySelector(`path.lane-${kind}`);
      if (!path) return 0;
      const parts = [...path.getAttribute("d").matchAll(/h(\\d+)v([\\d.]+)/g)].map(([, w, h]) => w * h);
      return Math.round(parts.reduce((sum, one) => sum + one, 0) / 24 / width(place) * 100);
    };
    const ticks = (place = 0) => [...rows[place].querySelectorAll(".lane-axis .at")].map((one) => parseFloat(one.textContent));
  JS

  test "at first the longest wait is seen in red, with who had the GVL, whose hold is framed" do
    visit = DevTools.look(page, script: <<~JS)
      #{HELP}
      return {said: said(), red: share("gvl_wait"), holder: rows[0].querySelectorAll(".lane")[1].querySelectorAll(".lane-holder").length,
        own: rows[0].querySelectorAll(".lane-wait").length, colour: window.getComputedStyle(rows[0].querySelector("path.lane-gvl_wait")).fill};
    JS
    assert_empty visit.complaints
    facts = visit.facts
    assert_equal "puma srv tp 001 (GET /a) could run and did nothing for 80 ms, from 600 ms on. " \
      "Meanwhile the GVL was held by puma srv tp 002 (GET /<b>) for 80 ms.", facts["said"]
    assert_equal [40, 1, 1, "rgb(213, 94, 0)"], facts.values_at("red", "holder", "own", "colour")
  end

  test "keys zoom, move, show everything, and go from wait to wait" do
    visit = DevTools.look(page, script: <<~JS)
      #{HELP}
      const facts = {};
      press("Home");
      facts.whole = [share("gvl_wait"), share("held"), share("io"), share("held", 1)];
      facts.ticks = ticks();
      press("n");
      facts.second = said();
      press("n");
      facts.again = said();
      press("+"); press("+"); press("+"); press("+");
      facts.near = share("gvl_wait");
      for (let i = 0; i < 5; i++) press("ArrowRight");
      facts.later = share("gvl_wait");
      press("ArrowDown");
      facts.down = said();
      return facts;
    JS
    assert_empty visit.complaints
    facts = visit.facts
    assert_equal [10, 80, 10, 10], facts["whole"]
    assert_equal [0.0, 1000.0], facts["ticks"].minmax
    assert_match(/001 \(GET \/a\) could run and did nothing for 20 ms, from 100 ms on/, facts["second"])
    assert_match(/for 80 ms/, facts["again"])
    assert_equal 52, facts["near"]
    assert_equal 0, facts["later"]
    assert_match(/\Apuma srv tp 002: .*no request/, facts["down"])
  end

  test "all pictures keep one scale, each at its own place" do
    visit = DevTools.look(page, script: <<~JS)
      #{HELP}
      press("Home", 1);
      const whole = ticks(1);
      press("+", 1);
      const apart = (place) => { const [a, b] = ticks(place); return b - a; };
      press("ArrowRight", 0);
      return {apart: [apart(0), apart(1)], whole, places: [ticks(0)[0], ticks(1)[0]]};
    JS
    assert_empty visit.complaints
    facts = visit.facts
    assert_equal 1, facts["apart"].uniq.size
    assert_equal [0.0, 100.0], facts["whole"].minmax
    refute_equal(*facts["places"])
  end

  test "a pointer tells of what it is at, and buttons do what keys do" do
    visit = DevTools.look(page, script: <<~JS)
      #{HELP}
      press("Home");
      const svg = rows[0].querySelectorAll(".lane svg")[1], box = svg.getBoundingClientRect();
      svg.dispatchEvent(new window.PointerEvent("pointermove", {bubbles: true, clientX: box.left + box.width * 0.64, clientY: box.top + 5}));
      const told = said();
      const before = share("gvl_wait");
      roots[0].querySelector("[data-key='+']").click();
      return {told, before, after: share("gvl_wait"), labels: [...roots[0].querySelectorAll("button")].map((one) => one.getAttribute("aria-label") ?? one.textContent)};
    JS
    assert_empty visit.complaints
    facts = visit.facts
    assert_equal "puma srv tp 002 (GET /<b>): has the GVL, and computes if it has a core, 80 ms from 600 ms on.", facts["told"]
    assert_equal [10, 13], facts.values_at("before", "after")
    assert_equal ["zoom out", "zoom in", "earlier", "later", "everything", "next longest wait"], facts["labels"]
  end

  test "without the script the picture and the figures are there" do
    visit = DevTools.look(page.gsub(%r{<script>.*?</script>}m, ""), script: <<~JS)
      #{HELP}
      return {red: share("gvl_wait"), hidden: roots[0].querySelector(".lane-keys").offsetParent === null, tables: document.querySelectorAll("table").length};
    JS
    assert_equal({"red" => 40, "hidden" => true, "tables" => 2}, visit.facts)
  end

  test "a phone has all of it in its width, names above their lanes" do
    visit = DevTools.look(page, width: 390, script: <<~JS)
      #{HELP}
      const lane = rows[0].querySelector(".lane"), [name, svg] = [lane.querySelector(".lane-name"), lane.querySelector("svg")].map((one) => one.getBoundingClientRect());
      return {above: name.bottom <= svg.top + 1, wide: svg.width, over: document.documentElement.scrollWidth, red: share("gvl_wait"),
        ends: Math.max(...[...rows[0].querySelectorAll(".at")].map((one) => one.getBoundingClientRect().right))};
    JS
    assert_empty visit.complaints
    facts = visit.facts
    assert facts["above"]
    assert_operator facts["wide"], :>, 300
    assert_operator facts["over"], :<=, 390
    assert_operator facts["ends"], :<=, 390
    assert_in_delta 40, facts["red"], 1
  end

  test "twenty thousand steps are drawn at once" do
    lanes = Array.new(5) { |index| ["puma srv tp 00#{index}", *["held", 0.1, "gvl_wait", 0.4] * 4_000, {}] }
    process = process_lanes(lanes).with(duration_ns: 2_000 * MS)
    visit = DevTools.look(page(lane_comparison(lane_recording([process]))), script: <<~JS)
      #{HELP}
      const began = window.performance.now();
      press("Home");
      return {ms: window.performance.now() - began, red: share("gvl_wait"), boxes: rows[0].querySelectorAll("path").length};
    JS
    assert_empty visit.complaints
    assert_in_delta 80, visit.facts["red"], 1
    assert_operator visit.facts["boxes"], :<, 200
  end

  test "the accessibility checker finds nothing serious in the report's lanes" do
    skip "no axe-core here: bin/setup --test installs it where there is npm" unless File.file?(DevTools::AXE)
    Dir.mktmpdir do |folder|
      File.write("#{folder}/lanes.html", page)
      DevTools.open do |tools|
        tools.visit("file://#{folder}/lanes.html")
        wait_until("the pictures") { tools.value("document.querySelectorAll('.lane-rows[tabindex]').length") == 2 }
        [[390, "light"], [1_200, "light"], [1_200, "dark"]].each do |width, scheme|
          tools.size(width, 900)
          tools.scheme(scheme)
          assert_empty tools.barriers(colours: scheme == "dark"), "#{width} #{scheme}"
        end
        assert_empty tools.complaints
      end
    end
  end
end
