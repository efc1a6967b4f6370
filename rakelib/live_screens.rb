# frozen_string_literal: true

require "cgi/escape"
require "io/console"
require "pty"
require "net/http"
require_relative "screens"

# Two pictures of the demo app while it serves, which README and the guides show: `top` in a terminal, as it is drawn
# there, and its threads over time with five threads beside three.
class LiveScreens
  PROJECT = Screens::PROJECT
  APP = File.join(PROJECT, Screens::LAB)

  MOST_BYTES = 100 * 1024

  # As many as it has threads: a queue would tell of nothing but itself.
  CONNECTIONS = 5

  # Of the terminal.
  ROWS, COLUMNS = 17, 80

  LIMIT_S = 180
  BEGIN_S = 5

  # Between two lines of the server's own.
  FORECASTS_S = 10
  LANES_WIDTH = 780

  # The five threads of the demo's pool and the three, without what a page says around them.
  LANES_ONLY = "header, nav, #again, details, h2, main > section > p, .lane-keys, main .note:not(.lane-said) { display: none } " \
    "main { padding: .5rem 1rem !important } main section { margin: 0; border: 0 } figure { margin: 0 } h3 { margin: .3rem 0 } " \
    "figure ~ figure .legend, #lanes-1x5 .lane:nth-of-type(n+6), #lanes-1x3 .lane:nth-of-type(n+4) { display: none } .lane-said { min-height: 0 !important }"

  SGR = {"1" => "font-weight: 700", "2" => "color: #9aa4ae", "4" => "text-decoration: underline"}.freeze

  # @return [void]
  def write
    FileUtils.mkdir_p(Screens::IMAGES)
    top(serving { |pid| screen(pid) })
    lanes(recorded)
  end

  private

  # @yieldparam pid [Integer] of the demo, under load
  def serving
    config = File.join(PROJECT, "tmp/screens/puma.rb")
    FileUtils.mkdir_p(File.dirname(config))
    File.write(config, <<~RUBY)
      threads 5, 5
      bind "tcp://127.0.0.1:0"
      require "puma_tuner/probe"
      PumaTuner.run(interval_s: #{FORECASTS_S})
    RUBY
    environment = {"RACK_ENV" => "production"}
    server = IO.popen([environment, "#{PROJECT}/bin/exec", "puma", "-C", config, "config.ru"], chdir: APP, err: %i[child out], pgroup: true)
    url = "http://127.0.0.1:#{server.each_line.find { |line| line.include?("Listening on") }[/:(\d+)$/, 1]}"
    reader = Thread.new { nil while server.gets } # nobody else reads its lines
    load = Process.spawn("#{PROJECT}/bin/exec", "puma_tuner", "load", url, "--requests", "#{APP}/requests.txt", "--connections", CONNECTIONS.to_s, "--duration", LIMIT_S.to_s,
      out: File::NULL, err: File::NULL, pgroup: true)
    sleep(BEGIN_S)
    yield PumaTuner::Top::Servers.new.find(server.pid.to_s).pid
  ensure
    [load, server&.pid].compact.each { |pid| Process.kill(:TERM, -pid) }
    Process.wait(load) if load
    reader&.join
    server&.close
  end

  # @return [String] what the terminal shows once there are its forecasts and the server's own, with its colours
  def screen(pid)
    master, slave = PTY.open
    slave.winsize = [ROWS, COLUMNS]
    top = Process.spawn({"TERM" => "xterm-256color", "NO_COLOR" => nil}, "#{PROJECT}/bin/exec", "puma_tuner", "top", pid.to_s, in: slave, out: slave, err: File::NULL)
    text, deadline_s = +"", PumaTuner::Clock.now_s + LIMIT_S
    until (frame = text.scan(/\e\[H(.*?)\e\[J/m).flatten.last)&.match?(/what if .* now.*recommended: /m)
      abort("no forecast within #{LIMIT_S} s:\n#{frame}") if PumaTuner::Clock.now_s > deadline_s
      text << master.readpartial(65_536).force_encoding("UTF-8") if master.wait_readable(1)
    end
    frame.gsub("\e[2K", "").gsub(/\r+\n/, "\n")
  ensure
    master&.write("q")
    Process.wait(top) if top
    [master, slave].each { |io| io&.close }
  end

  def top(frame)
    lines = ["$ puma_tuner top", *frame.lines(chomp: true)].map { |line| markup(line) }
    page = "<!DOCTYPE html><meta charset=\"utf-8\"><body style=\"margin: 0; background: #1c2127\"><pre style=\"margin: 0; padding: 14px 18px; color: #e4e7ea; " \
      "font: 14px/1.45 'DejaVu Sans Mono', 'Liberation Mono', monospace; display: inline-block\">#{lines.join("\n")}</pre>"
    width, height = Chromium.visit(page, width: 2_000, script: <<~JS).facts
      const box = document.querySelector("pre").getBoundingClientRect();
      return [Math.ceil(box.width), Math.ceil(box.height)];
    JS
    Screens.shoot(page, width, height, "top", most_bytes: MOST_BYTES)
  end

  # @param line [String] with a terminal's codes
  def markup(line)
    line.split(/(\e\[[\d;]*m)/).map { |part|
      codes = part[/\A\e\[([\d;]*)m\z/, 1]
      next CGI.escapeHTML(part) unless codes
      (codes == "0") ? "</span>" : "<span style=\"#{style(codes)}\">"
    }.join
  end

  def style(codes)
    colors = codes.match(/\A38;5;(\d+);48;5;(\d+)\z/) or return SGR.fetch(codes)
    "color: #{color(colors[1].to_i)}; background: #{color(colors[2].to_i)}"
  end

  # Of the 256 that xterm has, from 16 on.
  def color(number)
    return format("rgb(%<level>d, %<level>d, %<level>d)", level: 8 + (number - 232) * 10) if number >= 232
    "rgb(#{(number - 16).digits(6).values_at(2, 1, 0).map { |digit| digit.to_i.zero? ? 0 : 55 + digit * 40 }.join(", ")})"
  end

  # @return [String] path of an observation with lanes
  def recorded
    path = File.join(PROJECT, "tmp/screens/lanes.json")
    FileUtils.mkdir_p(File.dirname(path))
    words = ["measure", "#{Screens::LAB}/config.ru", "--load", "--requests", "#{Screens::LAB}/requests.txt", "--connections", "8", "--duration", "5", "--lanes",
      "--settings", "1x3", "--output", path]
    Dir.chdir(PROJECT) { system("bin/exec", "puma_tuner", *words, out: $stderr) } || abort("the demo could not be measured")
    path
  end

  def lanes(path)
    comparison = PumaTuner::Lanes::Comparison.of(PumaTuner::Document.read(path, :observation))
    page = PumaTuner::Report.render(comparison, format: :html).sub(/<meta http-equiv="Content-Security-Policy"[^>]*>/, "")
      .sub("</style>") { "#{LANES_ONLY}</style>" }
    height = Chromium.visit(page, width: LANES_WIDTH, script: "return document.querySelector('main').getBoundingClientRect().height").facts
    Screens.shoot(page, LANES_WIDTH, height.ceil + 10, "lanes", most_bytes: MOST_BYTES)
  end
end
