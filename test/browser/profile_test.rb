# frozen_string_literal: true

require "test_helper"
require "support/profiles"
require "support/contrast"
require_relative "dev_tools"

class ProfilePageInBrowserTest < TunerTest
  include Profiles

  def setup
    skip "there is no Chromium on this machine" unless Chromium.path
  end

  STACKS = {"App#call > Store#find > Row#new" => 600_000_000, "App#call > View#render" => 300_000_000,
            "Log#write" => 100_000_000}.freeze

  def page(costs = costs(samples(STACKS)))
    PumaTuner::Report.render(costs, format: :html)
  end

  BOX = <<~JS
    const boxes = () => [...document.querySelectorAll("svg.flame > svg")];
    const named = (one, name) => one.querySelector("title").textContent.split(" · ")[0] === name;
    const box = (name) => boxes().find((one) => named(one, name));
    const percent = (name, attribute) => Math.round(parseFloat(box(name).getAttribute(attribute)));
    const click = (name) => box(name).dispatchEvent(new window.MouseEvent("click", {bubbles: true}));
    const press = (key) => {
      const event = new window.KeyboardEvent("keydown", {key, bubbles: true, cancelable: true});
      document.activeElement.dispatchEvent(event);
      return at();
    };
    const at = () => document.activeElement.querySelector("title").textContent.split(" · ")[0];
    const seen = () => boxes().filter((one) => one.style.display !== "none")
      .map((one) => `${one.getAttribute("y") / 20} ${one.querySelector("title").textContent.split(" · ")[0]}`);
    const button = document.querySelector("figure button");
  JS

  # An app between Puma and ActiveRecord.
  def page_of_layers
    gem = ->(name) { "/usr/lib/ruby/gems/3.4.0/gems/#{name}/lib/x.rb" }
    own = {"Puma#handle" => gem.call("puma-8.0.2"), "Rack#call" => gem.call("rack-3.1.8"),
           "AR#all" => gem.call("activerecord-8.0.1"), "AR#load" => gem.call("activerecord-8.0.1")}
    list = {"AR#all > AR#load" => 600_000_000, "View#render" => 400_000_000}.map do |below, ns|
      stack("Puma#handle > Rack#call > App#index > #{below}", ns, own:)
    end
    page(costs(samples(list:)))
  end

  FOLDED = ["0 everything, through 2 frames of puma and rack", "1 App#index", "2 activerecord, 2 frames",
    "2 View#render"].freeze

  test "boxes are as wide as what they took, and a click shows one alone until everything is clicked" do
    visit = DevTools.look(page, script: <<~JS)
      #{BOX}
      const first = [percent("App#call", "width"), percent("View#render", "x"), percent("View#render", "width")];
      click("View#render");
      const alone = [percent("View#render", "x"), percent("View#render", "width"),
        box("Store#find").style.display, percent("App#call", "width")];
      document.querySelector("svg.flame svg").dispatchEvent(new window.MouseEvent("click", {bubbles: true}));
      const again = [percent("App#call", "width"), percent("View#render", "x"), box("Store#find").style.display];
      return {first, alone, again};
    JS
    assert_empty visit.complaints
    assert_equal({"first" => [90, 60, 30], "alone" => [0, 100, "none", 100], "again" => [90, 60, ""]}, visit.facts)
  end

  test "a click on a fold shows its frames, and the button all of them, and none again" do
    visit = DevTools.look(page_of_layers, script: <<~JS)
      #{BOX}
      const facts = {first: seen(), height: document.querySelector("svg.flame").getAttribute("height")};
      click("activerecord, 2 frames");
      facts.one = seen();
      button.click();
      facts.all = seen();
      facts.pressed = button.getAttribute("aria-pressed");
      facts.higher = document.querySelector("svg.flame").getAttribute("height");
      button.click();
      return {...facts, again: seen(), released: button.getAttribute("aria-pressed")};
    JS
    assert_empty visit.complaints
    facts = visit.facts
    assert_equal [FOLDED, FOLDED], facts.values_at("first", "again")
    assert_equal [FOLDED[0], FOLDED[1], "2 AR#all", "3 AR#load", "2 View#render"], facts["one"]
    assert_equal [FOLDED[0], "1 Puma#handle", "2 Rack#call", "3 App#index", "4 AR#all", "5 AR#load", "4 View#render"],
      facts["all"]
    assert_equal %w[true false 60 120], facts.values_at("pressed", "released", "height", "higher")
  end

  test "without the script the folded graph is what is seen" do
    visit = DevTools.look(page_of_layers.gsub(%r{<script>.*?</script>}m, ""),
      script: "#{BOX} return {seen: seen(), hidden: button.offsetParent === null};")
    assert_equal({"seen" => FOLDED, "hidden" => true}, visit.facts)
  end

  test "keys go from box to box, unfold and zoom" do
    visit = DevTools.look(page_of_layers, script: <<~JS)
      #{BOX}
      const stops = boxes().filter((one) => one.getAttribute("tabindex") === "0").length;
      boxes()[0].focus();
      const way = ["Down", "Down", "Right", "Left"].map((side) => press("Arrow" + side));
      way.push(press("Enter"), press("ArrowDown"), press("ArrowUp"), press("ArrowRight"));
      press(" ");
      const alone = [percent("View#render", "width"), document.querySelector(".flame-said").textContent];
      press("Escape");
      return {stops, way, alone, whole: percent("View#render", "width")};
    JS
    assert_empty visit.complaints
    facts = visit.facts
    assert_equal ["App#index", "activerecord, 2 frames", "View#render", "activerecord, 2 frames", "AR#all", "AR#load",
      "AR#all", "View#render"], facts["way"]
    assert_equal [1, 100, 40], [facts["stops"], facts["alone"].first, facts["whole"]]
    assert_match(/\AView#render · .*view.rb:1 · 40.0% in all, 40.0% by itself, /, facts["alone"].last)
  end

  test "names from the app can't become markup" do
    name = "<img src=x onerror=document.title='owned'>#call"
    visit = DevTools.look(page(costs(samples({name => 1_000_000_000}))), script: <<~JS)
      const shown = document.querySelector("svg.flame").textContent.includes("onerror");
      return [document.title, document.images.length, shown];
    JS
    assert_equal [0, true], visit.facts.last(2)
    refute_includes visit.facts.first, "owned"
    assert_empty visit.complaints
  end

  SMALLER = <<~JS
    (() => {
      const text = document.querySelector(".flame-small + text");
      return [text.textContent, getComputedStyle(text).fill, getComputedStyle(text.closest("svg.flame")).backgroundColor];
    })()
  JS

  test "what is too small to draw can be read in light and dark" do
    small = (1..100).to_h { |number| ["Small#m#{number}", 400_000] }
    Dir.mktmpdir do |folder|
      File.write("#{folder}/profile.html", page(costs(samples({**STACKS, **small}))))
      DevTools.open do |tools|
        tools.visit("file://#{folder}/profile.html")
        wait_until("the page") { tools.value("document.querySelector('.flame-small + text') !== null") }
        %w[light dark].each do |scheme|
          tools.scheme(scheme)
          name, ink, paper = tools.value(SMALLER)
          assert_equal "(smaller)", name
          assert_operator Contrast.contrast(ink, paper), :>=, 4.5, scheme
        end
      end
    end
  end

  test "the table sorts by a heading" do
    visit = DevTools.look(page, script: <<~JS)
      const table = document.querySelector("table.sortable");
      table.tHead.rows[0].cells[2].click();
      return [...table.tBodies[0].rows].map((row) => row.cells[0].textContent);
    JS
    assert_equal "App#call", visit.facts.first
  end
end
