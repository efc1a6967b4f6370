# frozen_string_literal: true

require "fileutils"
require "shellwords"
require "puma_tuner"
require_relative "../test/browser/chromium"

# What README and the guides show of a real run: a picture of the report's top and of each of its charts, made by
# Chromium, and README's excerpt of the terminal.
class Screens
  PROJECT = File.expand_path("..", __dir__)
  IMAGES = File.join(PROJECT, "docs/images")
  README = File.join(PROJECT, "README.md")
  LAB = "labs/05-threads-against-io"

  # As bin/demo does it.
  COMMAND = ["puma_tuner", "tune", "#{LAB}/config.ru", "--requests", "#{LAB}/requests.txt", "--threads", "1..8", "--workers", "1..2"].freeze

  # Of the report, in pixels.
  TOP = [960, 900].freeze
  CHART_WIDTH = 860

  # README shows one recommendation and its proof. On a busy machine several settings are proven, and none recommended.
  MOST_LINES = 14

  # A picture of README's stays small.
  MOST_BYTES = 200 * 1024

  SIZES = <<~JS
    return Object.fromEntries([...document.querySelectorAll("figure[id]")].map((figure) => {
      const box = figure.getBoundingClientRect();
      return [figure.id, [figure.outerHTML, Math.ceil(box.height)]];
    }));
  JS

  # @param document [String] path of a tuning
  def initialize(document)
    @tuning = PumaTuner::Document.read(document, :tuning)
    @html = PumaTuner::Report.render(@tuning, format: :html).sub(/<meta http-equiv="Content-Security-Policy"[^>]*>/, "")
  end

  # Runs the demo as a new user would: what forecasts got wrong in earlier runs, on a busy machine perhaps, is not known.
  #
  # @return [String] path of the tuning
  def self.measure
    folder = File.join(PROJECT, "tmp/screens")
    FileUtils.rm_rf(folder)
    FileUtils.mkdir_p(folder)
    path = File.join(folder, "tuning.json")
    environment = {"XDG_STATE_HOME" => File.join(folder, "state")}
    Dir.chdir(PROJECT) { system(environment, "bin/exec", *COMMAND, "--output", path, out: $stderr) } || abort("the demo failed")
    path
  end

  # @param page [String] HTML
  # @return [void]
  def self.shoot(page, width, height, name, most_bytes: MOST_BYTES)
    path = File.join(IMAGES, "#{name}.png")
    Dir.mktmpdir("puma_tuner-screens") do |folder|
      File.write(File.join(folder, "page.html"), page)
      words = [Chromium.path, "--headless", "--disable-gpu", "--hide-scrollbars", "--disable-lcd-text", *("--no-sandbox" if Process.uid.zero?),
        "--user-data-dir=#{folder}/profile", "--window-size=#{width},#{height}", "--screenshot=#{path}", "file://#{folder}/page.html"]
      system(*words, out: File::NULL, err: File::NULL) || abort("Chromium makes no picture: #{words.shelljoin}")
    end
    abort "#{path} has #{File.size(path)} bytes, and #{most_bytes} are the most" if File.size(path) > most_bytes
  end

  # Of the charts it makes those that pages show.
  #
  # @return [void]
  def write
    FileUtils.mkdir_p(IMAGES)
    FileUtils.rm_f(Dir[File.join(IMAGES, "{report,chart-*}.png")])
    self.class.shoot(@html, *TOP, "report")
    shown = Dir["#{PROJECT}/docs/**/*.md"].flat_map { |path| File.read(path).scan(/images\/chart-([\w-]+)\.png/).flatten }
    Chromium.visit(@html, script: SIZES, width: CHART_WIDTH).facts.slice(*shown).each do |id, (figure, height)|
      page = @html.sub(/<body>.*<\/body>/m) { "<body style=\"margin: 0; padding: 0\"><main>#{figure}</main></body>" }
      self.class.shoot(page, CHART_WIDTH, height + 40, "chart-#{id}")
    end
    File.write(README, self.class.with_excerpt(File.read(README), excerpt))
  end

  # What a terminal shows of what was found, and of the settings that matter: forecasts, with what was measured.
  #
  # @return [String]
  def excerpt
    sections = PumaTuner::Report.render(@tuning, format: :text, verbose: false).split(/\n\n(?=\S)/)
    table = sections.find { |section| section.start_with?("Predicted") } or abort("nothing is predicted")
    rows = table[/\A.*?(?=\n  \d+ of|\n  [A-Z]|\n\n|\z)/m]
    text = "#{sections.first.lines.first.strip}\n…\n#{rows}\n"
    abort("more than #{MOST_LINES} lines; run it again on a quieter machine:\n#{text}") if text.lines.size > MOST_LINES
    text
  end

  EXCERPT = /(?<=<!-- Written by `rake docs:screens`\. -->\n```text\n).*?(?=^```$)/m

  # @param text [String] of README
  # @return [String] the same with this excerpt in it
  def self.with_excerpt(text, excerpt) = text.sub(EXCERPT) { excerpt }
end
