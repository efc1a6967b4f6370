# frozen_string_literal: true

require "test_helper"
require "support/tuning_fixture"
require_relative "../../rakelib/looks"
require_relative "../../benchmark/support/bench"

# `rake docs:looks`, of pages that are there.
class LooksInBrowserTest < TunerTest
  time_limit 180

  def setup
    skip "no Chromium here: install chromium to test the report in a browser" unless Chromium.path
    skip "no axe-core here: bin/setup --test installs it where there is npm" unless File.file?(DevTools::AXE)
    @folder = File.realpath(Dir.mktmpdir("puma_tuner-test"))
  end

  def teardown = @folder && FileUtils.rm_rf(@folder)

  test "each page is looked at in five views, with a picture of each, and what is wrong is told by view" do
    File.write(File.join(@folder, "machine.html"), PumaTuner::Report.render(TuningFixture.machine, format: :html))
    File.write(File.join(@folder, "wrong.html"), <<~HTML)
      <!DOCTYPE html><html lang="en"><head><title>Wrong</title><meta name="viewport" content="width=device-width">
      <style>.wide { width: 900px } @media (prefers-color-scheme: dark) { p { color: #111; background: #000 } }</style></head>
      <body><main><h1>A</h1><p>Text</p><div class="wide">B</div><ul><li>c</li></ul><a href="#d">d</a><button>e</button></main></body></html>
    HTML
    told = []
    fine, wrong = Looks.new(@folder).look { |seen| told << seen.to_s }
    assert_equal "fine   machine: 5 views", told.first
    assert_predicate fine, :fine?
    assert_equal [0, 0], fine.rules_counts.first(2)
    assert_operator wrong.rules_counts[1], :>=, 1
    assert_equal ["1200 dark", "400 dark"], wrong.barriers.keys
    assert_includes wrong.overflowing, "400 light"
    assert_match(/\AWRONG  wrong: 1200 dark: color-contrast \(serious\), 1x; .*400 light: moves sideways/, told.last)
    views = Looks::WIDTHS.product(%w[light dark]).map { |both| both.join("-") } << "print"
    assert_equal %w[machine wrong].product(views).map { |name, view| "#{name}-#{view}.png" }.sort, Dir.children(@folder).grep(/png/).sort
  end

  test "where there is no page, it says so" do
    assert_match(/there is no page in/, assert_raises(RuntimeError) { Looks.new(@folder).look }.message)
  end

  test "pages of a run before are taken where all of it are there, and Solidus is left out where it was" do
    looks = Looks.new(@folder)
    make = ->(*names) { names.each { |name| File.write(File.join(@folder, "#{name}.html"), "") } }
    make.call("demo", "solidus")
    assert_match(/there is no page of lab, fleet in/, assert_raises(RuntimeError) { looks.again }.message)
    make.call("lab", "fleet")
    assert_empty looks.again
    File.unlink(File.join(@folder, "solidus.html"))
    assert_equal [Looks::NO_SOLIDUS], looks.again
  end

  test "what was seen is a section of the page of reliability: by severity, with what was left out, beside the others' sections" do
    found = [["critical", "label", %w[a b]], ["moderate", "region", %w[c]], ["moderate", "heading-order", %w[d]]]
    seen = [Looks::Seen.new(name: "demo", found: {"1200 light" => [], "print" => []}, overflowing: []),
      Looks::Seen.new(name: "lab", found: {"1200 light" => found, "400 dark" => found.first(2)}, overflowing: ["400 dark"])]
    section = Looks.section(seen, [Looks::NO_SOLIDUS], "Made with x.")
    assert_match(/\A## Looks: .*\n\n.*WRITE=1`\.\n\nReports .* 1200 pixels wide .* 400 .*\n\nMade with x\.\n\n\*\*1 of 2 pages are fine\.\*\*\n\n\| page/, section)
    assert_match(/^\| demo \| +0 \| +0 \| +0 \| +0 \| +0 \| +fine \|\n\| lab  \| +1 \| +0 \| +2 \| +0 \| +1 \| \*\*wrong\*\* \|\n\nSolidus is left out: .*\.\n\z/, section)
    page = "# Reliability\n\nsoak\n\n## Documentation: pages\n\nmany\n"
    both = Bench::Page.joined(page, section)
    assert_equal [page, section], both.split(/\n(?=## Looks)/)
    assert_equal both, Bench::Page.joined(both, section)
    assert_equal both.sub("soak", "soak again"), Bench::Page.joined(both, "# Reliability\n\nsoak again\n")
  end
end
