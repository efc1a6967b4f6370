# frozen_string_literal: true

require "test_helper"
require "report/compare_fixture"
require "report/fleet_fixture"
require "support/advice_fixture"
require "support/finding_fixture"
require "support/profiles"
require "support/tradeoffs"
require_relative "chromium"
require_relative "dev_tools"

# Every kind of page where there is little room, as on a telephone.
class NarrowReportInBrowserTest < TunerTest
  time_limit 400

  WIDTHS = [700, 400].freeze

  # The smallest that can be read, in pixels.
  LEAST_SIZE = 11

  # small: texts that are too small; spilt: texts of pictures outside of the window; touching: names of an axis that
  # touch each other; stuck: tables wider than the window that do not move in a box of their own, or whose first column
  # moves with them; squeezed: how many pictures of tables have less than half of the window's width
  FACTS = <<~JS
    (() => {
      const box = (element) => element.getBoundingClientRect();
      const texts = (elements) => [...new Set(elements.map((element) => element.textContent.trim().slice(0, 40)))];
      const said = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
      const shown = [...document.querySelectorAll("main *")].filter((element) => box(element).width && said(element));
      const scale = (matrix) => matrix ? Math.hypot(matrix.c, matrix.d) : 1;
      const size = (element) => parseFloat(window.getComputedStyle(element).fontSize) * scale(element.getScreenCTM?.());
      const drawn = [...document.querySelectorAll("main svg text")]
        .filter((text) => box(text).width && !text.closest(".wide"));
      const touching = [...document.querySelectorAll(".plots tfoot svg, .plane > svg")].flatMap((svg) => {
        const names = [...svg.querySelectorAll(".tick")].sort((one, other) => box(one).left - box(other).left);
        return names.filter((name, index) => index && box(names[index - 1]).right > box(name).left);
      });
      const stuck = [...document.querySelectorAll("table")].filter((table) => {
        if (box(table).width <= window.innerWidth) return false;
        const wide = table.closest(".wide");
        const cell = [...table.tBodies[0].rows].map((row) => row.cells[0]).find((first) => first.colSpan === 1);
        if (!wide) return true;
        wide.scrollLeft = wide.scrollWidth;
        return !wide.scrollLeft || cell.tagName === "TH" && box(cell).left < -10;
      });
      const root = document.documentElement;
      return {
        overflow: root.scrollWidth - window.innerWidth,
        small: texts(shown.filter((element) => size(element) < #{LEAST_SIZE})),
        spilt: texts(drawn.filter((text) => box(text).left < 0 || box(text).right > window.innerWidth)),
        touching: texts(touching), stuck: texts(stuck),
        squeezed: [...document.querySelectorAll("td > svg")].map((svg) => box(svg).width)
          .filter((width) => width && width < window.innerWidth * .5).length
      };
    })()
  JS

  # Nothing in it lets a line break.
  LONG_WORD = '{deployment_environment="production",kubernetes_namespace="storefront"}'

  NOTHING = {"small" => [], "spilt" => [], "touching" => [], "stuck" => [], "squeezed" => 0}.freeze

  def setup
    skip "no Chromium here: install chromium to test the report in a browser" unless Chromium.path
  end

  def pages
    settings = {"YJIT off" => [1000, 60], "YJIT on" => [740, 84], "YJIT on with 16 MiB" => [790, 71],
                "YJIT on with 32 MiB" => [750, 78], "YJIT on after 5 calls" => [735, 92],
                "YJIT on after 200 calls + two arenas" => [760, 80]}
    stacks = {"App#call > Store#find > Row#new" => 6_000_000, "App#call > View#render" => 3_000_000}
    {
      tuning: TuningFixture.tuning_without_trust, advice: AdviceFixture.with_experience, proven: AdviceFixture.proven,
      sweep: TuningFixture.sweep(workers: 1..4, threads: 1..12),
      proof: ProofFixture.gems, factorial: ProofFixture.factorial, fleet: FleetFixture.comparison,
      long_words: FleetFixture.comparison(a: FleetFixture.group("a", LONG_WORD)), log_comparison: CompareFixture.outcome,
      finding: FindingFixture.finding, profile: Profiles.costs(Profiles.samples(stacks)), diff: Profiles.two_profiles,
      tradeoff: Tradeoffs.study(settings)
    }
  end

  test "no page moves sideways, and what is in it can be read" do
    opened do |tools, name|
      WIDTHS.each do |width|
        tools.size(width, 2_000, mobile: false)
        tools.value(DevTools::FRAMES)
        facts = tools.value(FACTS)
        assert_operator facts.delete("overflow"), :<=, 0, "#{name} moves sideways at #{width}"
        assert_equal NOTHING, facts, "#{name} at #{width}"
      end
      assert_empty tools.complaints, name
    end
  end

  # @yieldparam tools [DevTools] with that page open, and all that is folded shown
  # @yieldparam name [Symbol]
  def opened
    DevTools.open do |tools|
      Dir.mktmpdir("puma_tuner-test") do |folder|
        pages.each do |name, value|
          path = File.join(folder, "#{name}.html")
          File.write(path, PumaTuner::Report.render(value, format: :html))
          tools.size(1_200, 900)
          tools.visit("file://#{path}")
          wait_until("the page") { tools.value("location.pathname === #{path.dump} && document.readyState === 'complete'") }
          tools.value("document.querySelectorAll('details').forEach((details) => { details.open = true })")
          yield tools, name
        end
      end
    end
  end

  DARK_ON_DARK = <<~JS
    (() => {
      const text = document.createElement("p");
      text.textContent = "Text";
      text.style.color = "#111";
      text.style.background = "#000";
      document.querySelector("main").prepend(text);
    })()
  JS

  test "the accessibility checker finds nothing serious in any page, at desk and telephone, in light and dark" do
    skip "no axe-core here: bin/setup --test installs it where there is npm" unless File.file?(DevTools::AXE)
    barriers = {}
    opened do |tools, name|
      [1_200, 400].product(%w[light dark]).each do |width, scheme|
        tools.size(width, 900)
        tools.scheme(scheme)
        tools.barriers(colours: scheme == "dark").then { |found| barriers["#{name} at #{width}, #{scheme}"] = found if found.any? }
        tools.picture(File.join(ENV["PICTURES"], "#{name}-#{width}-#{scheme}.png")) if ENV["PICTURES"]
      end
      next unless name == :profile
      tools.value(DARK_ON_DARK)
      assert_equal %w[color-contrast], tools.barriers(colours: true).map { |_, rule| rule }, "of colours alone, what can't be read is found"
    end
    assert_empty barriers
  end

  # The paper is white whatever the reader's colours are, and has no scroll bars.
  PRINTED = <<~JS
    (() => {
      const box = (element) => element.getBoundingClientRect();
      const shown = (elements) => [...document.querySelectorAll(elements)].filter((element) => box(element).width);
      return {
        paper: getComputedStyle(document.documentElement).backgroundColor,
        buttons: shown("button").length,
        cut: shown("main table").filter((table) => box(table).right > document.documentElement.clientWidth + 1).length
      };
    })()
  JS

  test "on paper pages are white and whole, whatever the reader's colours" do
    opened do |tools, name|
      tools.scheme("dark")
      tools.paper
      tools.picture(File.join(ENV["PICTURES"], "#{name}-paper.png")) if ENV["PICTURES"]
      assert_equal({"paper" => "rgb(255, 255, 255)", "buttons" => 0, "cut" => 0}, tools.value(PRINTED), name)
    end
  end
end
