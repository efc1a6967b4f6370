# frozen_string_literal: true

require "test_helper"
require "support/command_line"
require "support/served_app"
require_relative "dev_tools"

# `puma_tuner top --web` in a real browser, beside a real cluster under load.
class TopInBrowserTest < TunerTest
  include CommandLine

  time_limit 180

  NASTY = "<img src=x onerror=\"document.title='owned'\">"

  RACKUP = <<~RUBY
    Thread.new { loop { 20_000.times { |i| i.to_s } && sleep(0.1) } }.name = "#{NASTY.gsub('"', '\"')}"
    run lambda { |env|
      (env["PATH_INFO"] == "/report") ? 60_000.times { |i| i.to_s } : sleep(0.004)
      [200, {"content-type" => "text/plain"}, ["fine"]]
    }
  RUBY

  PUMA_RB = "threads 3, 3\nworkers 2\npreload_app! false\nrequire \"puma_tuner/probe\"\nPumaTuner.run(interval_s: 3600)\n#{ServedApp::STOPPING}"

  def setup
    skip "no Chromium here: install chromium to test the page in a browser" unless Chromium.path
  end

  # @yieldparam tools [DevTools] with the page open
  # @yieldparam app [ServedApp]
  def page(**)
    ServedApp.open(rackup: RACKUP, puma_rb: PUMA_RB) do |app|
      port = app.start("-w", "2", extra: {"PUMA_TUNER_FORECAST" => "off"})
      out, out_end = IO.pipe
      pid = start_puma_tuner("top", app.folder, "--web", "--every", "0.5", out: out_end, err: "#{app.folder}/err")
      out_end.close
      url = out.gets&.chomp or flunk(File.read("#{app.folder}/err"))
      under_load(port) do
        DevTools.open do |tools|
          tools.visit(url)
          yield tools, app
        end
      end
    ensure
      Process.kill(:TERM, pid) if pid && PumaTuner::Probe::Processes.alive?(pid)
      Process.wait(pid) if pid
    end
  end

  def under_load(port)
    done = false
    clients = %w[/articles /articles /report].map do |path|
      Thread.new do
        Net::HTTP.get("127.0.0.1", path, port) && sleep(0.04) until done # over connections of their own: each worker gets some
      rescue SystemCallError, IOError
        nil # the server was ended
      end
    end
    yield
  ensure
    done = true
    clients.each(&:join)
  end

  ROWS = "[...document.querySelectorAll('#%s tbody tr')].map((row) => [...row.cells].map((cell) => cell.textContent))"

  def rows(tools, table) = tools.value(format(ROWS, table))

  def live(tools) = wait_until("the page") { tools.value("document.getElementById('connection')?.textContent") == "Live" && rows(tools, "endpoints").size == 2 }

  test "tables and charts stream, stand still while frozen, and say when the server has ended" do
    page do |tools, app|
      live(tools)
      assert tools.value("document.getElementById('recommended').hidden"), "nothing is recommended yet"
      PumaTuner::Probe::Recommendation.new(topology: "2x3", today: "2x3", metric: "throughput", ratio: nil, requests_count: 300, why_not: nil, detail: nil, made_at_s: Time.now.to_f)
        .write(PumaTuner::Top::Servers.new.find(app.folder).directory)
      wait_until("a forecast") { rows(tools, "outlook").map(&:first) == ["2x3 (now)", "2x2", "2x4", "1x3", "3x3"] }
      wait_until("a recommendation") { tools.value("document.getElementById('recommended').textContent") == "Recommended: stay with 2x3; nothing is surely better." }
      assert_equal %w[0 1], rows(tools, "workers").map(&:first)
      assert_equal ["GET /articles", "GET /report"], rows(tools, "endpoints").map(&:first).sort
      bars = "document.querySelectorAll('#budget rect').length"
      first = tools.value(bars)
      wait_until("more of the chart") { tools.value(bars) > first }
      assert_match(/\AM[\d.,]+L/, tools.value("document.querySelector('#latency path.p99').getAttribute('d')"))
      assert_match(/Latency in milliseconds: p50 now [\d.]+, p99 now [\d.]+/, tools.value("document.getElementById('latency').getAttribute('aria-label')"))
      tools.value("document.getElementById('freeze').click()")
      frozen = rows(tools, "endpoints")
      sleep(1.2)
      assert_equal [frozen, "Frozen"], [rows(tools, "endpoints"), tools.value("document.getElementById('connection').textContent")]
      tools.value("document.getElementById('freeze').click()")
      wait_until("new figures") { rows(tools, "endpoints") != frozen }
      app.stop
      wait_until("the end") { tools.value("document.getElementById('connection').textContent") == "The server has ended." }
      assert_empty tools.complaints
    end
  end

  FACTS = <<~JS
    (() => {
      const box = (element) => element.getBoundingClientRect();
      const shown = [...document.querySelectorAll("main *")].filter((element) => box(element).width && element.textContent.trim());
      return {
        overflow: document.documentElement.scrollWidth - innerWidth,
        small: shown.filter((element) => parseFloat(getComputedStyle(element).fontSize) < 11).map((element) => element.tagName),
        charts: [...document.querySelectorAll(".chart")].map((chart) => Math.min(box(chart).width, box(chart).height)),
        paper: getComputedStyle(document.documentElement).backgroundColor, images: document.images.length, title: document.title
      };
    })()
  JS

  # In each width and scheme.
  # @return [Array<Hash>] FACTS
  def looks(tools, picture)
    [390, 1_200].product(%w[light dark]).map do |width, scheme|
      tools.size(width, 900)
      tools.scheme(scheme)
      sleep(0.6) # a look, which draws anew
      facts = tools.value(FACTS)
      assert_operator facts["overflow"], :<=, 0, "#{width} #{scheme}"
      assert_empty facts["small"]
      tools.picture(File.join(ENV["PICTURES"], "#{picture}-#{width}-#{scheme}.png")) if ENV["PICTURES"]
      yield width if block_given?
      facts
    end
  end

  def said(tools) = tools.value("document.getElementById('recorded').textContent")

  def record(tools)
    tools.value("document.getElementById('record').click()")
    wait_until("lanes") { tools.value("document.querySelectorAll('#lanes .lane-rows[tabindex]').length") == 2 }
  end

  LANES = <<~JS
    (() => {
      const rows = document.querySelector("#lanes .lane-rows");
      const press = (key) => rows.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
      const ticks = () => [...rows.querySelectorAll(".at")].map((one) => parseFloat(one.textContent));
      const told = document.querySelector("#lanes .lane-said").textContent;
      press("Home");
      const whole = Math.max(...ticks());
      press("n"); press("+");
      return {whole, near: Math.max(...ticks()) - Math.min(...ticks()), told, framed: rows.querySelectorAll(".lane-wait").length,
        held: rows.querySelectorAll(".lane-holder").length, lanes: rows.querySelectorAll(".lane").length,
        threads: [...document.querySelectorAll("#lanes table tbody th")].map((one) => one.textContent),
        images: document.images.length, title: document.title};
    })()
  JS

  test "who asks sees two seconds of each worker's threads, whose wait, who held the GVL, and moves about by keys" do
    page do |tools, app|
      live(tools)
      record(tools)
      assert_match(/\ARecorded at /, said(tools))
      facts = tools.value(LANES)
      assert_match(/\A.+ could run and did nothing for .* Meanwhile the GVL was held by /, facts["told"])
      assert_in_delta 2_000, facts["whole"], 500
      assert_operator facts["near"], :<, facts["whole"]
      assert_equal 1, facts["framed"]
      assert_operator facts["held"], :>, 0
      assert_operator facts["lanes"], :>=, 3, "the pool's, and others that did something"
      assert_includes facts["threads"], NASTY
      assert_equal [0, "puma_tuner top"], facts.values_at("images", "title")
      first = tools.value("document.getElementById('lanes').textContent")
      tools.value("document.getElementById('record').click()")
      wait_until("other lanes") { tools.value("document.getElementById('lanes').textContent") != first }
      wait_until("they move") { tools.value(LANES).then { |now| now["near"] < now["whole"] } }
      app.stop
      wait_until("the end") { tools.value("document.getElementById('connection').textContent") == "The server has ended." }
      wait_until("the command's end") { refused?(tools.value("location.port")) }
      tools.value("document.getElementById('record').click()")
      wait_until("a reason") { said(tools).start_with?("Nothing was recorded: ") }
      assert_empty tools.complaints.grep_v(/ERR_CONNECTION_REFUSED/)
    end
  end

  def refused?(port)
    TCPSocket.new("127.0.0.1", port).close
  rescue Errno::ECONNREFUSED
    true
  end

  LANE_ENDS = "[...document.querySelectorAll('#lanes .lane svg, #lanes .at')].map((one) => one.getBoundingClientRect().right)"

  test "on a telephone and a desk, in light and dark: nothing moves sideways, all can be read, and names stay text; with lanes, too" do
    page do |tools, _app|
      live(tools)
      facts = looks(tools, "top")
      assert_operator facts.flat_map { |one| one["charts"] }.min, :>, 100
      assert_equal [[0, "puma_tuner top"]], facts.map { |one| one.values_at("images", "title") }.uniq
      assert_equal 2, facts.map { |one| one["paper"] }.uniq.size
      assert_includes rows(tools, "threads").map(&:first), NASTY
      record(tools)
      looks(tools, "top-lanes") { |width| assert_operator tools.value(LANE_ENDS).max, :<=, width }
      assert_empty tools.complaints
    end
  end

  test "the accessibility checker finds nothing serious, with lanes and without" do
    skip "no axe-core here: bin/setup --test installs it where there is npm" unless File.file?(DevTools::AXE)
    page do |tools, _app|
      live(tools)
      [-> {}, -> { record(tools) }].each do |step|
        step.call
        %w[light dark].each do |scheme|
          tools.scheme(scheme)
          assert_empty tools.barriers(colours: scheme == "dark"), scheme
        end
      end
    end
  end
end
