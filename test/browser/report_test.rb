# frozen_string_literal: true

require "test_helper"
require "support/tuning_fixture"
require "open3"
require "socket"
require "tmpdir"

# The page in a real browser: it complains of nothing and asks nobody for anything.
class ReportInBrowserTest < TunerTest
  BROWSER = "/usr/bin/chromium"
  OPTIONS = %w[--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
    --disable-component-update --disable-sync --enable-logging=stderr --v=0].freeze

  # How the browser's log names what a page did wrong, with the page's own words. Nothing that a page of ours says there is wanted.
  COMPLAINT = /:CONSOLE[:(]|Uncaught/

  Visit = Data.define(:dom, :complaints, :requests)

  time_limit 120

  def setup
    skip "there is no #{BROWSER}" unless File.executable?(BROWSER)
  end

  # @param page [String] HTML; PORT in it becomes that of a server that listens to who comes
  # @return [Visit]
  def visit(page)
    Dir.mktmpdir do |folder|
      listening do |port, requests|
        path = File.join(folder, "page.html")
        File.write(path, page.gsub("PORT", port.to_s))
        dom, log, status = Open3.capture3("timeout", "60", BROWSER, *OPTIONS, "--user-data-dir=#{folder}/profile",
          *proxy(port), "--dump-dom", "file://#{path}")
        assert_predicate status, :success?, log
        Visit.new(dom:, complaints: log.lines.grep(COMPLAINT), requests: requests.call)
      end
    end
  end

  # Every host is led to our server, loopback included, so that a request to anywhere is seen.
  def proxy(port) = ["--proxy-server=http://127.0.0.1:#{port}", "--proxy-bypass-list=<-loopback>"]

  # @yield [port, requests] the second answers the first lines heard so far
  def listening
    server = TCPServer.new("127.0.0.1", 0)
    heard = []
    thread = Thread.new do
      loop do
        client = server.accept
        heard << client.gets.to_s.strip
        client.close
      end
    rescue IOError
      nil
    end
    yield server.addr[1], -> { heard.dup }
  ensure
    server&.close
    thread&.join
  end

  # The browser runs errands of its own, whatever it shows: an empty page tells which.
  def hosts(visit) = visit.requests.map { |line| line[%r{\A\w+ (?:\w+://)?([^/ :]+)}, 1] || line }.uniq

  def hosts_asked_by(page) = hosts(visit(page)) - hosts(visit("<!DOCTYPE html><title>empty</title>"))

  test "a report is shown without a complaint and with all its charts" do
    visit = visit(PumaTuner::Report.render(TuningFixture.tuning, format: :html))
    assert_empty visit.complaints
    assert_operator visit.dom.scan(/<svg[^>]*role="img"/).size, :>=, 5, "charts are missing"
    assert_includes visit.dom, "id=\"puma_tuner-document\""
  end

  test "a report asks nobody for anything" do
    assert_empty hosts_asked_by(PumaTuner::Report.render(TuningFixture.tuning, format: :html))
  end

  test "a page that asks is caught, at our own address and elsewhere" do
    page = '<!DOCTYPE html><title>x</title><img src="http://127.0.0.1:PORT/a.png"><img src="https://example.test/b.png">'
    assert_equal %w[127.0.0.1 example.test], hosts_asked_by(page).sort
  end

  test "a page that complains is caught" do
    complaints = visit("<!DOCTYPE html><script>console.error('on purpose')</script><script>undefined_function()</script>").complaints
    assert_equal 2, complaints.grep(/on purpose|undefined_function/).size, complaints.join
  end
end
