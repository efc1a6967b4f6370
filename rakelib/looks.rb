# frozen_string_literal: true

require "fileutils"
require "puma_tuner"
require_relative "screens"
require_relative "../test/browser/dev_tools"

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

  # Of one page. views_count: that it was looked at in; barriers: those that are serious or critical, by view; overflowing: views that move sideways
  Seen = Data.define(:name, :views_count, :barriers, :overflowing) do
    def fine? = barriers.empty? && overflowing.empty?

    def to_s
      return "fine   #{name}: #{views_count} views" if fine?
      found = barriers.map { |view, all| "#{view}: #{all.map { |impact, rule, places| "#{rule} (#{impact}), #{places.size}x" }.join(", ")}" }
      "WRONG  #{name}: #{[*found, *overflowing.map { |view| "#{view}: moves sideways" }].join("; ")}"
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
    return ["Solidus is not set up: labs/real_apps/solidus/setup does it"] unless File.directory?(SOLIDUS)
    run("solidus", "puma_tuner", "tune", "--directory", SOLIDUS, "--requests", File.join(PROJECT, "labs/real_apps/solidus/requests.txt"), "--time", "4m", "--", "bundle", "exec", "puma")
    []
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

  # A report tells of a busy machine by its exit code; the page is there all the same.
  def run(name, *words, html: true)
    state = {"XDG_STATE_HOME" => File.join(@place, "state")}
    page = File.join(@place, "#{name}.html")
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
    barriers, overflowing, count = {}, [], 0
    views(tools) do |view|
      count += 1
      found = tools.barriers
      barriers[view] = found if found.any?
      overflowing << view if tools.value("document.documentElement.scrollWidth - document.documentElement.clientWidth").positive?
      tools.picture(path.sub(/\.html\z/, "-#{view.tr(" ", "-")}.png"))
    end
    Seen.new(name: File.basename(path, ".html"), views_count: count, barriers:, overflowing:)
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
