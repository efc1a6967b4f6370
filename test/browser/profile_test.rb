# frozen_string_literal: true

require "test_helper"
require "support/profiles"
require_relative "chromium"

class ProfilePageInBrowserTest < TunerTest
  include Profiles

  def setup
    skip "there is no Chromium on this machine" unless Chromium.path
  end

  def page(costs = costs(samples({"App#call > Store#find > Row#new" => 600_000_000, "App#call > View#render" => 300_000_000, "Log#write" => 100_000_000})))
    PumaTuner::Report.render(costs, format: :html)
  end

  BOX = <<~JS
    const box = (name) => [...document.querySelectorAll("svg.flame svg")].find((one) => one.querySelector("title").textContent.startsWith(name + " "));
    const percent = (name, attribute) => Math.round(parseFloat(box(name).getAttribute(attribute)));
    const click = (name) => box(name).dispatchEvent(new window.MouseEvent("click", {bubbles: true}));
  JS

  test "boxes are as wide as what they took, and a click shows one alone until everything is clicked" do
    visit = Chromium.visit(page, script: <<~JS)
      #{BOX}
      const first = [percent("App#call", "width"), percent("View#render", "x"), percent("View#render", "width")];
      click("View#render");
      const alone = [percent("View#render", "x"), percent("View#render", "width"), box("Store#find").style.display, percent("App#call", "width")];
      document.querySelector("svg.flame svg").dispatchEvent(new window.MouseEvent("click", {bubbles: true}));
      return {first, alone, again: [percent("App#call", "width"), percent("View#render", "x"), box("Store#find").style.display]};
    JS
    assert_empty visit.complaints
    assert_equal({"first" => [90, 60, 30], "alone" => [0, 100, "none", 100], "again" => [90, 60, ""]}, visit.facts)
  end

  test "names from the app can't become markup" do
    name = "<img src=x onerror=document.title='owned'>#call"
    visit = Chromium.visit(page(costs(samples({name => 1_000_000_000}))), script: "return [document.title, document.images.length, document.querySelector('svg.flame').textContent.includes('onerror')];")
    assert_equal [0, true], visit.facts.last(2)
    refute_includes visit.facts.first, "owned"
    assert_empty visit.complaints
  end

  test "the table sorts by a heading" do
    visit = Chromium.visit(page, script: <<~JS)
      const table = document.querySelector("table.sortable");
      table.tHead.rows[0].cells[2].click();
      return [...table.tBodies[0].rows].map((row) => row.cells[0].textContent);
    JS
    assert_equal "App#call", visit.facts.first
  end
end
