# frozen_string_literal: true

require "test_helper"
require "support/tuning_fixture"
require_relative "../../rakelib/looks"

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
    assert_equal ["1200 dark", "400 dark"], wrong.barriers.keys
    assert_includes wrong.overflowing, "400 light"
    assert_match(/\AWRONG  wrong: 1200 dark: color-contrast \(serious\), 1x; .*400 light: moves sideways/, told.last)
    views = Looks::WIDTHS.product(%w[light dark]).map { |both| both.join("-") } << "print"
    assert_equal %w[machine wrong].product(views).map { |name, view| "#{name}-#{view}.png" }.sort, Dir.children(@folder).grep(/png/).sort
  end

  test "where there is no page, it says so" do
    assert_match(/there is no page in/, assert_raises(RuntimeError) { Looks.new(@folder).look }.message)
  end
end
