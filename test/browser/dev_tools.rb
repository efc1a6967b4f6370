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

  # Looks at a page as Chromium.visit does, in a browser that stays open for the next one: most of a visit is the browser's own start.
  # Whom the page asks for something is not seen.
  #
  # @param page [String] HTML
  # @param script [String] see Chromium.visit
  # @param width [Integer] of the frame
  # @return [Chromium::Visit]
  def self.look(page, script:, width: 1200)
    Dir.mktmpdir("puma_tuner-browser") do |folder|
      {page:, frame: Chromium.frame(script, width)}.each { |name, text| File.write(File.join(folder, "#{name}.html"), text) }
      shared.look(File.join(folder, "frame.html"))
    end
  end

  def self.shared
    @shared ||= begin
      folder = Dir.mktmpdir("puma_tuner-browser")
      tools = new(folder, "--allow-file-access-from-files")
      Minitest.after_run do
        tools.close
        FileUtils.rm_rf(folder)
      end
      tools
    end
  end
  private_class_method :shared

  def initialize(folder, *options)
    @complaints = []
    @number = 0
    @left = +""
    told, @orders = IO.pipe
    @said, says = IO.pipe
    [told, says].each { |pipe| pipe.nonblock = false } # as the browser expects
    # What it makes in the folder of temporary files goes with this folder, as it is killed in the end.
    @pid = Process.spawn({"TMPDIR" => folder}, Chromium.path, *OPTIONS, *options, *("--no-sandbox" if Process.uid.zero?),
      "--user-data-dir=#{folder}/profile", "about:blank", 3 => told, 4 => says, :out => File::NULL, :err => File::NULL, :pgroup => true)
    [told, says].each(&:close)
    target = ask("Target.createTarget", url: "about:blank")["targetId"]
    @session = ask("Target.attachToTarget", targetId: target, flatten: true)["sessionId"]
    %w[Page Runtime Log].each { |domain| ask("#{domain}.enable") }
  end

  def visit(url) = ask("Page.navigate", url:)

  # @param mobile [Boolean] whether it is a telephone's, which shows a page that is too wide smaller; a window is as wide as it is
  def size(width, height, mobile: width < 600) = ask("Emulation.setDeviceMetricsOverride", width:, height:, deviceScaleFactor: 1, mobile:)

  # @param scheme [String] "dark" or "light"
  def scheme(scheme) = ask("Emulation.setEmulatedMedia", features: [{name: "prefers-color-scheme", value: scheme}])

  # @return [void] what the page looks like on paper
  def paper = ask("Emulation.setEmulatedMedia", media: "print")

  # The accessibility checker, where bin/setup --test has put it.
  AXE = File.join(ENV.fetch("PUMA_TUNER_CACHE", File.expand_path("~/.cache/puma_tuner")), "axe/node_modules/axe-core/axe.min.js")

  # A page hears of its new size with the frame that is drawn next, so two are waited for.
  FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"

  # Its rules that tell of colours, which are all that a scheme changes.
  COLOUR_RULES = %w[color-contrast link-in-text-block].freeze

  # How severe the checker calls what it finds; the first two are barriers.
  IMPACTS = %w[critical serious moderate minor].freeze

  # @param found [Array<Array>] see violations
  # @return [Array<Array>] of these, what is serious or critical
  def self.barriers(found) = found.select { |impact, *| IMPACTS.first(2).include?(impact) }

  # @return [Array<Array>] what violations finds serious or critical
  def barriers(**) = self.class.barriers(violations(**))

  # @param colours [Boolean] whether colours alone are looked at, in a page that was looked at as a whole in another scheme
  # @return [Array<Array>] impact, rule and places of what it finds in the page as it is
  # @raise [RuntimeError] when it looked at nothing
  def violations(colours: false)
    value(FRAMES)
    value("#{File.read(AXE)};0") unless value("typeof axe") == "object"
    # What passes is told with a place each, and not with all of them, which take long to describe.
    options = JSON.generate({resultTypes: ["violations"], runOnly: (COLOUR_RULES if colours)}.compact)
    found, passes_count = value("axe.run(#{options}).then((found) => [found.violations.map((one) => [one.impact, one.id, one.nodes.map((node) => node.html.slice(0, 300) + ' ' + node.failureSummary)]), found.passes.length])")
    raise "the checker passed #{passes_count} rules only" if passes_count < (colours ? 1 : 10)
    found
  end

  # @param script [String] an expression, whose promise is waited for
  def value(script)
    found = ask("Runtime.evaluate", expression: script, awaitPromise: true, returnByValue: true)
    raise "the page could not: #{found["exceptionDetails"].dig("exception", "description")}" if found["exceptionDetails"]
    found.dig("result", "value")
  end

  # @param path [String] of a page around another, which writes down its facts
  # @return [Chromium::Visit]
  def look(path)
    complaints.clear
    visit("file://#{path}")
    deadline_s = Process.clock_gettime(Process::CLOCK_MONOTONIC) + LIMIT_S
    until (facts = value("location.pathname === #{path.dump} && document.getElementById('facts')?.textContent || null"))
      raise "the page gave no facts:\n#{complaints.join("\n")}" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline_s
      sleep 0.01
    end
    Chromium::Visit.new(complaints: complaints.dup, hosts: nil, facts: JSON.parse(facts))
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
