# frozen_string_literal: true

require "io/nonblock"
require "json"
require "tmpdir"
require_relative "chromium"

# A page in a real browser that goes on living, told what to do over pipes (the Chrome DevTools Protocol).
class DevTools
  LIMIT_S = 40

  OPTIONS = %w[--headless --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update
    --disable-sync --remote-debugging-pipe].freeze

  # Lines of the page's console, errors, and what the browser's own log says against it.
  attr_reader :complaints

  # Opens a browser, and ends it after the block.
  # @yieldparam tools [DevTools]
  def self.open
    Dir.mktmpdir("puma_tuner-browser") do |folder|
      tools = new(folder)
      yield tools
    ensure
      tools&.close
    end
  end

  def initialize(folder)
    @complaints = []
    @number = 0
    @left = +""
    told, @orders = IO.pipe
    @said, says = IO.pipe
    [told, says].each { |pipe| pipe.nonblock = false } # as the browser expects
    # What it makes in the folder of temporary files goes with this folder, as it is killed in the end.
    @pid = Process.spawn({"TMPDIR" => folder}, Chromium.path, *OPTIONS, *("--no-sandbox" if Process.uid.zero?),
      "--user-data-dir=#{folder}/profile", "about:blank", 3 => told, 4 => says, :out => File::NULL, :err => File::NULL, :pgroup => true)
    [told, says].each(&:close)
    target = ask("Target.createTarget", url: "about:blank")["targetId"]
    @session = ask("Target.attachToTarget", targetId: target, flatten: true)["sessionId"]
    %w[Page Runtime Log].each { |domain| ask("#{domain}.enable") }
  end

  def visit(url) = ask("Page.navigate", url:)

  def size(width, height) = ask("Emulation.setDeviceMetricsOverride", width:, height:, deviceScaleFactor: 1, mobile: width < 600)

  # @param scheme [String] "dark" or "light"
  def scheme(scheme) = ask("Emulation.setEmulatedMedia", features: [{name: "prefers-color-scheme", value: scheme}])

  # @return [void] what the page looks like on paper
  def paper = ask("Emulation.setEmulatedMedia", media: "print")

  # The accessibility checker, where bin/setup --test has put it.
  AXE = File.join(ENV.fetch("PUMA_TUNER_CACHE", File.expand_path("~/.cache/puma_tuner")), "axe/node_modules/axe-core/axe.min.js")

  # A page hears of its new size with the frame that is drawn next, so two are waited for.
  FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"

  # @return [Array<Array>] impact, rule and places of what it finds serious or critical in the page as it is
  # @raise [RuntimeError] when it looked at nothing
  def barriers
    value(FRAMES)
    value("#{File.read(AXE)};0") unless value("typeof axe") == "object"
    found, passes_count = value("axe.run().then((found) => [found.violations.map((one) => [one.impact, one.id, one.nodes.map((node) => node.html.slice(0, 300) + ' ' + node.failureSummary)]), found.passes.length])")
    raise "the checker passed #{passes_count} rules only" if passes_count < 10
    found.select { |impact, *| %w[serious critical].include?(impact) }
  end

  # @param script [String] an expression, whose promise is waited for
  def value(script)
    found = ask("Runtime.evaluate", expression: script, awaitPromise: true, returnByValue: true)
    raise "the page could not: #{found["exceptionDetails"].dig("exception", "description")}" if found["exceptionDetails"]
    found.dig("result", "value")
  end

  def picture(path)
    data = ask("Page.captureScreenshot", captureBeyondViewport: true)["data"]
    File.binwrite(path, data.unpack1("m"))
  end

  def close
    Process.kill(:KILL, -@pid)
    Process.wait(@pid)
    [@orders, @said].each(&:close)
  rescue Errno::ESRCH
    nil
  end

  private

  def ask(method, **params)
    id = @number += 1
    @orders.write("#{JSON.generate({id:, method:, params:, sessionId: @session}.compact)}\0")
    loop do
      message = JSON.parse(next_message)
      note(message)
      next unless message["id"] == id
      raise "#{method}: #{message["error"]}" if message["error"]
      return message["result"]
    end
  end

  def next_message
    until (text = @left.slice!(/\A[^\0]*\0/))
      raise "the browser says nothing for #{LIMIT_S} s" unless @said.wait_readable(LIMIT_S)
      @left << @said.readpartial(1 << 20).force_encoding("UTF-8")
    end
    text.delete("\0")
  end

  def note(message)
    case message["method"]
    when "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded" then @complaints << message["params"].to_json
    end
  end
end
