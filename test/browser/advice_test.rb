# frozen_string_literal: true

require "test_helper"
require "support/advice_fixture"
require_relative "dev_tools"

# Advice in a real browser, in a wide window and in one as narrow as a telephone's.
class AdviceInBrowserTest < TunerTest
  time_limit 180

  WIDTHS = [1200, 390].freeze

  # articles: title, style, colour of the line beside it, labels from top to bottom, and whether each label stands beside its text
  # split: options of commands that a line breaks inside of; cut: commands and lines to set that the window cuts off
  # typed: what copying takes of the first lines to set; checks: cells of the table of measured advice, which is not squeezed
  FACTS = <<~JS
    const box = (element) => element.getBoundingClientRect();
    const text = (element) => element.textContent.trim();
    const facts = () => ({
      title: text(document.querySelector("h1")), wide: document.documentElement.scrollWidth - window.innerWidth,
      articles: [...document.querySelectorAll("#advice article")].map((article) => ({
        title: text(article.querySelector("h3")), style: article.className, line: window.getComputedStyle(article).borderLeftColor,
        labels: [...article.querySelectorAll("dt")].map(text),
        beside: [...article.querySelectorAll("dl > div")].map((row) => box(row.children[1]).top < box(row.children[0]).bottom)
          .filter((beside, index, all) => all.indexOf(beside) === index)
      })),
      split: [...document.querySelectorAll("code .together")].filter((option) => option.getClientRects().length > 1).map(text),
      options: document.querySelectorAll("code .together").length,
      cut: [...document.querySelectorAll("#advice code, #advice pre, #proof li code")].filter((element) => {
        const {left, right} = box(element);
        return left < 0 || right > window.innerWidth + 1;
      }).map(text),
      typed: document.querySelector("#advice pre").innerText,
      backquotes: (document.querySelector("main").innerText.match(/`/g) || []).length,
      checks: [...document.querySelectorAll("#advice-checks + .wide tbody tr")].map((row) => [...row.cells].map(text)),
      tallest: Math.max(0, ...[...document.querySelectorAll("#advice-checks + .wide tbody tr")].map((row) => box(row).height)),
      outcomes: Object.fromEntries([...document.querySelectorAll("#advice-checks + .wide .outcome-word")]
        .map((cell) => [text(cell), window.getComputedStyle(cell).color]))
    });
    return #{WIDTHS}.map((width) => { window.frameElement.width = width; return facts(); });
  JS

  def setup
    skip "no Chromium here: install chromium to test the report in a browser" unless Chromium.path
  end

  # @return [Array<Hash>] facts by width
  def facts(value)
    visit = DevTools.look(PumaTuner::Report.render(value, format: :html), script: FACTS)
    assert_empty visit.complaints
    visit.facts.zip(WIDTHS).each do |facts, width|
      assert_operator facts["wide"], :<=, 0, "moves sideways at #{width}"
      assert_equal [[], []], facts.values_at("split", "cut"), "at #{width}"
    end
    visit.facts
  end

  test "each advice is told with its parts, beside or above each other; remarks look different, and commands can be copied" do
    wide, narrow = facts(AdviceFixture.with_experience)
    assert_equal "Predicted: Go from 1x5 to 2x3: +67% requests/s", wide["title"]
    assert_equal %w[advice advice remark remark], wide["articles"].map { |article| article["style"] }
    assert_equal 2, wide["articles"].map { |article| article["line"] }.uniq.size
    assert_equal %w[predicted before change cost undo prove because rule], wide["articles"][1]["labels"]
    assert_equal [[true], [false]], [wide, narrow].map { |facts| facts["articles"].flat_map { |article| article["beside"] }.uniq }
    assert_equal "RUBY_THREAD_TIMESLICE=10\n", wide["typed"]
    assert_operator narrow["options"], :>, 3
    assert_equal 0, wide["backquotes"]
  end

  test "advice that was measured stands in a table with an outcome in a colour, in rows of one or two lines" do
    facts(AdviceFixture.proven).each do |facts|
      assert_equal "Go from 1x5 to 2x3: 1.64x (1.60–1.69) requests/s, measured", facts["title"]
      assert_equal ["malloc", "requests/s", "1.20x (1.14–1.26)", "0.90x (0.86–0.94)", "worse", "no"], facts["checks"][3]
      assert_operator facts["tallest"], :<, 70
      colours = facts["outcomes"]
      assert_equal [["better", "failed", "not shown", "worse"], colours["worse"]], [colours.keys.sort, colours["failed"]]
      assert_equal 3, colours.values.uniq.size
    end
  end

  test "the longest title of a recommendation fits, and what is to be done instead of one can be read" do
    %i[go_cheapest no_topology measure_first].each do |kind|
      list = PumaTuner::Advise::AdviceList.new(advice: [AdviceFixture.titles.fetch(kind).with(lines: {"config/puma.rb" => "threads 3, 3"}, topology: nil)],
        today: PumaTuner::Topology.parse("1x5"))
      wide, narrow = facts(list)
      assert_equal wide["articles"].map { |article| article["title"] }, narrow["articles"].map { |article| article["title"] }
      assert_equal 1, narrow["articles"].size, kind
    end
  end
end
