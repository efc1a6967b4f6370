# frozen_string_literal: true

require "fileutils"
require "puma_tuner"
require_relative "screens"
require_relative "../test/browser/dev_tools"
require_relative "../benchmark/support/markdown"

# Real reports, as people get them: of the demo, a lab, a fleet, and Solidus where it is set up. Each is opened in Chromium, wide and narrow, light and dark, and as
# it is printed; the accessibility checker looks at it, and pictures are kept for somebody to judge by eye.
class Looks
  PROJECT = Screens::PROJECT
  PLACE = File.join(PROJECT, "tmp/looks")

  WIDTHS = [1_200, 400].freeze
  HEIGHT = 900
  PAPER_WIDTH = 794 # A4 at 96 pixels to the inch

  LAB = "falsy_cache"
  SOLIDUS = File.join(ENV.fetch("PUMA_TUNER_CACHE", File.expand_path("~/.cache/puma_tuner")), "apps/solidus")

  WAIT_S = 30

  # Pages of a whole run; the last one where its app is set up.
  REPORTS = %w[demo lab fleet solidus].freeze
  NO_SOLIDUS = "Solidus is left out: labs/real_apps/solidus/setup sets it up"

  # Of one page. found: {view => what the checker finds in it}, see DevTools#violations; overflowing: views that move
  #   sideways
  Seen = Data.define(:name, :found, :overflowing) do
    # @return [Hash{String => Array}] those that are serious or critical, by view, where there are any
    def barriers = found.transform_values { |all| DevTools.barriers(all) }.reject { |_, all| all.empty? }

    def fine? = barriers.empty? && overflowing.empty?

    # @return [Array<Integer>] rules that it breaks, in whichever views, by DevTools::IMPACTS
    def rules_counts
      rules = found.values.flatten(1).map { |impact, rule, _| [impact, rule] }.uniq
      DevTools::IMPACTS.map { |impact| rules.count { |one, _| one == impact } }
    end

    def to_s
      return "fine   #{name}: #{found.size} views" if fine?
      told = barriers.map { |view, all| "#{view}: #{all.map { |impact, rule, places| "#{rule} (#{impact}), #{places.size}x" }.join(", ")}" }
      "WRONG  #{name}: #{[*told, *overflowing.map { |view| "#{view}: moves sideways" }].join("; ")}"
    end
  end

  class << self
    # @param seen [Array<Seen>]
    # @return [String]
    def closing(seen) = "#{seen.count(&:fine?)} of #{seen.size} pages are fine"

    # @param seen [Array<Seen>]
    # @param left_out [Array<String>]
    # @param made [String] with what
    # @return [String] a section of docs/measured/reliability.md
    def section(seen, left_out, made)
      rows = seen.map do |one|
        [one.name, *[*one.rules_counts, one.overflowing.size].map(&:to_s), one.fine? ? "fine" : "**wrong**"]
      end
      ["## Looks: real reports in a browser",
        "Written by `rake docs:looks`; not to be edited. To repeat it: `bin/exec rake docs:looks WRITE=1`.",
        "Reports of the demo, of the lab #{LAB}, of a fleet that never was and of Solidus, where that is set up, " \
        "were opened in Chromium with all shown that is folded: " \
        "#{WIDTHS.join(" pixels wide as in a desktop's window, and ")} as on a telephone, each light and dark, and " \
        "as they are printed. In none of these views may a page move sideways, or axe-core find anything critical or " \
        "serious. Of what it finds, rules are counted, each once for a page.",
        made, "**#{closing(seen)}.**",
        Bench::Markdown.table(["page", *DevTools::IMPACTS, "views that move sideways", "outcome"], rows),
        *left_out.map { |one| "#{one}." }].join("\n\n").concat("\n")
    end
  end

  # @param place [String] a folder for the pages and their pictures
  def initialize(place = PLACE)
    @place = place
    FileUtils.mkdir_p(place)
  end

  # Makes the pages anew.
  #
  # @return [Array<String>] what can't be made here, and why
  def make
    FileUtils.rm_f(Dir[File.join(@place, "*.{html,png}")])
    run("demo", *Screens::COMMAND, "--time", "4m")
    run("lab", "puma_tuner", "lab", "setup", LAB, "--quick", html: false)
    run("lab", "puma_tuner", "lab", "run", LAB, "--quick")
    fleet
    return [NO_SOLIDUS] unless File.directory?(SOLIDUS)
    run("solidus", "puma_tuner", "tune", "--directory", SOLIDUS, "--requests", File.join(PROJECT, "labs/real_apps/solidus/requests.txt"), "--time", "4m", "--", "bundle", "exec", "puma")
    []
  end

  # Takes those of a whole run before, in the place of new ones.
  #
  # @return [Array<String>] what that run has left out
  # @raise [RuntimeError] where a page is missing that each run makes
  def again
    missing = REPORTS.reject { |name| File.file?(page_of(name)) }
    needed = missing - [REPORTS.last]
    raise "there is no page of #{needed.join(", ")} in #{@place}: leave AGAIN=1 out" if needed.any?
    missing.map { NO_SOLIDUS }
  end

  # Looks at all pages that stand in the folder.
  #
  # @yieldparam seen [Seen]
  # @return [Array<Seen>]
  # @raise [RuntimeError] where there is no page, no Chromium, or no checker
  def look
    raise "there is no Chromium here: bin/setup --test installs it" unless Chromium.path
    raise "no axe-core here: bin/setup --test installs it where there is npm" unless File.file?(DevTools::AXE)
    paths = Dir[File.join(@place, "*.html")].sort
    raise "there is no page in #{@place}" if paths.empty?
    DevTools.open { |tools| paths.map { |path| seen(tools, path).tap { |one| yield one if block_given? } } }
  end

  private

  def page_of(name) = File.join(@place, "#{name}.html")

  # A report tells of a busy machine by its exit code; the page is there all the same.
  def run(name, *words, html: true)
    state = {"XDG_STATE_HOME" => File.join(@place, "state")}
    page = page_of(name)
    files = html ? ["--output", File.join(@place, "#{name}.json"), "--html", page] : []
    at = words.index("--") || words.size
    Dir.chdir(PROJECT) { system(state, "bin/exec", *words[0...at], *files, *words[at..], out: $stderr) }
    raise "#{words.join(" ")} made no page" if html && !File.file?(page)
  end

  # One that never was, as the tests have it.
  def fleet
    $LOAD_PATH.unshift(File.join(PROJECT, "test"))
    require_relative "../test/fleet/simulated_answers"
    FakePrometheus.open(SimulatedAnswers.call) { |fake| run("fleet", "puma_tuner", "fleet", "--url", fake.url, "--a", '{yjit="off"}', "--b", '{yjit="on"}', "--window", "2h") }
  end

  def seen(tools, path)
    open_page(tools, path)
    found, overflowing = {}, []
    views(tools) do |view|
      found[view] = tools.violations
      overflowing << view if tools.value("document.documentElement.scrollWidth - document.documentElement.clientWidth").positive?
      tools.picture(path.sub(/\.html\z/, "-#{view.tr(" ", "-")}.png"))
    end
    Seen.new(name: File.basename(path, ".html"), found:, overflowing:)
  end

  # With all that is folded shown.
  def open_page(tools, path)
    tools.size(WIDTHS.first, HEIGHT)
    tools.visit("file://#{path}")
    deadline_s = PumaTuner::Clock.now_s + WAIT_S
    until tools.value("location.pathname === #{path.dump} && document.readyState === 'complete'")
      raise "#{path} is not there after #{WAIT_S} s" if PumaTuner::Clock.now_s > deadline_s
      sleep 0.05
    end
    tools.value("document.querySelectorAll('details').forEach((details) => { details.open = true })")
  end

  def views(tools)
    WIDTHS.product(%w[light dark]) do |width, scheme|
      tools.size(width, HEIGHT)
      tools.scheme(scheme)
      yield "#{width} #{scheme}"
    end
    tools.size(PAPER_WIDTH, HEIGHT)
    tools.paper
    yield "print"
  ensure
    tools.scheme("light")
  end
end
