# frozen_string_literal: true

require "browser/chromium"
require_relative "collector_server"

# The page in a real browser.
class CspPageInBrowserTest < CspStoreTest
  time_limit 150

  NASTY = %("><script>document.title='owned'</script><img src=x onerror="document.title='owned'">'&)

  FACTS = <<~JS
    return {
      title: document.title,
      images: document.images.length,
      scripts: document.scripts.length,
      rows: document.querySelectorAll("tbody tr").length,
      bars: document.querySelectorAll(".chart rect").length,
      chart: document.querySelector(".chart").getBoundingClientRect().width,
      overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
      background: window.getComputedStyle(document.body).backgroundColor,
      unnamed: [...document.querySelectorAll("input, select")].filter((field) => !field.labels.length).length,
      headings: [...document.querySelectorAll("thead th")].every((cell) => cell.scope === "col"),
      text: document.querySelector("tbody").textContent
    };
  JS

  def setup
    super
    skip "no Chromium here: install chromium to test the page in a browser" unless Chromium.path
    now_s = Time.now.to_i
    write(line(at_s: now_s, document: "https://shop.test/#{NASTY}", blocked: "https://#{NASTY}/", user_agent: "#{NASTY} Firefox/1"), line(at_s: now_s - 7_200),
      line(at_s: now_s, document: "https://shop.test/#{"long" * 60}"), line(at_s: now_s, blocked: "moz-extension"))
    count
  end

  def page = CspCollector::ReportApp.new(@database).call("REQUEST_METHOD" => "GET", "PATH_INFO" => "/", "QUERY_STRING" => "").last.first

  test "it opens without a complaint, also in the dark and in a narrow window, and hostile reports are text" do
    light, dark = {width: 1200}, {width: 400, options: ["--blink-settings=preferredColorScheme=0"]}
    visits = [light, dark].map { |options| Chromium.visit(page, script: FACTS, **options) }
    visits.each do |visit|
      assert_empty visit.complaints
      assert_equal ["Policy violations", 0, 0, 3, 2, 0, 0, true], visit.facts.values_at("title", "images", "scripts", "rows", "bars", "overflow", "unnamed", "headings")
      assert_includes visit.facts["text"], "onerror="
      assert_operator visit.facts["chart"], :>, 300
    end
    assert_equal ["rgb(255, 255, 255)", "rgb(20, 24, 30)"], visits.map { |visit| visit.facts["background"] }
  end

  # With its headers: the style is let through by its own policy, or the browser would complain.
  test "as served, under its own policy, it shows its chart and its table" do
    CollectorServer.run(out: File::NULL, rackup: "report.ru", CSP_COLLECTOR_DATABASE: @database) do |server|
      dom, log = browse("http://127.0.0.1:#{server.port}/?noise=show")
      assert_empty log.lines.grep(Chromium::COMPLAINT)
      assert_match(/<title>Policy violations<\/title>/, dom)
      assert_equal 4, dom.scan('<th scope="row">').size
      refute_match(/<img|<script/, dom)
      assert_equal "400", server.get("/?page=%3Cscript%3E").code
    end
  end

  # A site whose policy allows nothing and tells the collector, as a browser itself reports it.
  test "what a browser sends is collected and counted" do
    CollectorServer.run(out: [@lines, "a"], CSP_COLLECTOR_USER_AGENT: "1") do |server|
      page = "<!DOCTYPE html><title>x</title><script>document.title = 'ran'</script><img src='http://127.0.0.1:9/a.png?secret=1'>"
      site("default-src 'none'; report-uri http://127.0.0.1:#{server.port}/reports", page) { |address| browse("#{address}/basket/17?token=1") }
      wait_until("the reports") { File.foreach(@lines).count >= 6 }
      assert_empty server.refusals
    end
    count(fold_ids: true)
    found = CspCollector::Statistics.open(@database) { |statistics| statistics.violations(CspCollector::Filter.new(path: "/basket/:id", noise: "show")).rows }
    assert_equal [["img-src", "127.0.0.1"], ["script-src-elem", "inline"]], found.map { |row| [row.directive, row.host] }.sort
    # It says of itself that it has no window.
    assert_equal %w[Bot], found.map(&:browser).uniq
  end

  def site(policy, page)
    server = TCPServer.new("127.0.0.1", 0)
    thread = Thread.new do
      loop do
        client = server.accept
        client.gets("\r\n\r\n")
        client.write("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Security-Policy: #{policy}\r\nContent-Length: #{page.bytesize}\r\nConnection: close\r\n\r\n#{page}")
        client.close
      end
    rescue IOError
      nil
    end
    yield "http://127.0.0.1:#{server.addr[1]}"
  ensure
    server&.close
    thread&.join
  end

  def browse(address)
    Dir.mktmpdir do |profile|
      command = [Chromium.path, *Chromium::OPTIONS, *("--no-sandbox" if Process.uid.zero?), "--user-data-dir=#{profile}", "--dump-dom", address]
      out, log, status = Open3.capture3("timeout", "40", *command)
      assert status.success?, log
      [out.force_encoding("UTF-8"), log.force_encoding("UTF-8").scrub]
    end
  end
end
