# frozen_string_literal: true

require "test_helper"
require "json"
require "net/http"
require "socket"
require "support/lane_fixture"
require "support/top_builders"

class TopWebTest < TunerTest
  include TopBuilders
  include LaneFixture

  kind :integration

  def setup
    @lanes = -> { lane_recording(topology: nil) }
    @web = web("tcp://127.0.0.1:0")
    @web.start
    @url = URI(@web.url)
  end

  def teardown = @web.stop

  def web(address, **) = Top::Web.new(Top::Web.address(address), lanes: -> { @lanes.call }, **)

  def get(path = "", verb: Net::HTTP::Get)
    request = verb.new(URI.join(@url, path))
    request["Content-Type"] = "text/plain"
    Net::HTTP.start(@url.host, @url.port) { |http| http.request(request) }
  end

  # What a raw client gets.
  def answer_to(text)
    TCPSocket.open(@url.host, @url.port) do |socket|
      socket.write(text)
      socket.close_write
      socket.read
    end
  rescue SystemCallError
    "" # it was closed before all was sent
  end

  # @yieldparam events [Enumerator] name and fields of each event
  def listen
    TCPSocket.open(@url.host, @url.port) do |socket|
      socket.timeout = 20
      socket.write("GET #{@url.path}events HTTP/1.1\r\nHost: localhost\r\n\r\n")
      socket.gets("\r\n\r\n")
      yield(Enumerator.new { |events|
        while (line = socket.gets)
          events << [line[/\Aevent: (\w+)/, 1], JSON.parse(socket.gets.delete_prefix("data: "))] if line.start_with?("event: ")
        end
      })
    end
  end

  def running(**fields) = status(entry("GET /a", [10] * 200, cpu: 800, gvl_wait: 900), **fields)

  test "the page loads nothing from elsewhere, and may run nothing but its own script" do
    page = get
    assert_equal ["200", "text/html; charset=utf-8"], [page.code, page["Content-Type"]]
    policy = page["Content-Security-Policy"]
    assert_match(/\Adefault-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self';/, policy)
    refute_match(/unsafe|\*|http/, policy)
    assert_equal %w[lanes.css page.css lanes.js page.js], page.body.scan(/(?:href|src)="([^":]+)"/).flatten
    refute_match(/\son\w+=|style=|<script>|<style/, page.body)
    %w[lanes.css page.css lanes.js page.js].each { |name| assert_equal "200", get(name).code }
    {"X-Content-Type-Options" => "nosniff", "Referrer-Policy" => "no-referrer", "Cache-Control" => "no-store"}.each { |name, value| assert_equal value, page[name] }
  end

  test "without the token there is nothing, and with it nothing but the page" do
    ["/", "/page.js", "/events", "/#{"x" * 32}/", "/#{@url.path.delete("/")[0..-2]}/"].each { |path| assert_equal "404", get(path).code, path }
    ["../web.rb", "page.html", "%2e%2e/web.rb", "events/"].each { |name| assert_equal "404", Net::HTTP.start(@url.host, @url.port) { |http| http.get(@url.path + name) }.code, name }
    assert_operator @url.path.size, :>, 30
    refute_equal @url.path, web("tcp://127.0.0.1:0").then { |other| URI(other.url).path.tap { other.stop } }
  end

  test "a page from elsewhere that leads its own name here gets nothing" do
    codes = {"403" => ["evil.example", "evil.example:#{@url.port}", "127.0.0.1.evil.example", "", "localhost.evil"], "200" => ["localhost", "127.0.0.1:1", "[::1]:80"]}
    codes.each { |code, hosts| hosts.each { |host| assert_equal code, answer_to("GET #{@url.path} HTTP/1.1\r\nHost: #{host}\r\n\r\n").split[1], host } }
    assert_match(/\AHTTP\/1.1 403/, answer_to("GET #{@url.path} HTTP/1.0\r\n\r\n"), "no Host at all")
  end

  test "no setting can be changed through it" do
    [Net::HTTP::Post, Net::HTTP::Put, Net::HTTP::Delete].each { |verb| assert_equal ["405", "GET, HEAD"], get(verb:).then { |said| [said.code, said["Allow"]] } }
    assert_nil get(verb: Net::HTTP::Head).body
  end

  test "what is no HTTP, or too much of it, is dropped, and others are served on" do
    assert_empty answer_to("x" * 20_000)
    assert_match(/\AHTTP\/1.1 4/, answer_to("\xff\x00 \r\n\r\n"))
    assert_match(/\AHTTP\/1.1 4/, answer_to("\r\n\r\n"))
    assert_equal "200", get.code
  end

  test "a browser is told the parts and what was, then each status, and at last the end" do
    @web.publish(running)
    listen do |events|
      name, history = events.next
      assert_equal ["history", 1, "queue"], [name, history["points"].size, history["parts"].first["word"]]
      name, first = events.next
      assert_equal ["status", "GET /a"], [name, first["endpoints"].first["name"]]
      assert_match(/\AGVL-bound: /, first["sentence"])
      @web.publish(running.with(at: "2026-01-01T00:00:02Z"))
      assert_equal "2026-01-01T00:00:02Z", events.next.last["point"]["at"]
      @web.finish
      assert_equal "ended", events.next.first
      assert_raises(StopIteration) { events.next }
    end
    listen { |events| assert_equal 2, events.next.last["points"].size }
  end

  test "the page is told what is recommended, in words, and nothing where there is none" do
    assert_equal "2x5; p99 0.43x (0.39 to 0.47) of today's 1x5", Top::WebEvent.of(running.with(recommendation:))[:recommended]
    assert_nil Top::WebEvent.of(running)[:recommended]
  end

  test "shares of a point are those of all requests, and unknown ones are null" do
    point = Top::WebEvent.point(running)
    assert_equal [0.45, 0.4], [point[:parts][1], point[:parts][3]]
    assert_nil Top::WebEvent.point(status)[:parts]
    assert_nil Top::WebEvent.point(status)[:p99_ms]
  end

  test "threads over time are a piece of the page, in which names of the app are no markup, and nothing needs what the policy forbids" do
    @web.publish(running)
    said = get("lanes")
    assert_equal ["200", "text/html; charset=utf-8"], [said.code, said["Content-Type"]]
    assert_match(/<h3 class="load">1x5: 100 ms of 1 process/, said.body)
    assert_equal 1, said.body.scan('class="lanes"').size
    assert_includes said.body, "GET /&lt;b&gt;"
    refute_match(/GET \/<b>|\son\w+=|\sstyle=|<script|<style/, said.body)
    %w[lanes events].each { |name| assert_equal "405", get(name, verb: Net::HTTP::Head).code }
  end

  test "where nothing could be recorded that is said" do
    @lanes = -> { raise MeasurementFailed, "the server 4711 has ended" }
    said = get("lanes")
    assert_equal ["503", "Nothing was recorded: the server 4711 has ended.\n"], [said.code, said.body]
    assert_equal "200", get.code
  end

  test "more than so many browsers are told to wait" do
    @web.publish(running)
    sockets = Array.new(Top::Web::CLIENTS_MAX) { TCPSocket.new(@url.host, @url.port).tap { |one| one.write("GET #{@url.path}events HTTP/1.1\r\nHost: localhost\r\n\r\n") && one.gets } }
    assert_equal "503", get("events").code
    assert_equal "200", get.code, "the page itself is there"
    sockets.each(&:close)
    @web.publish(running) # by which those that have gone are noticed
    wait_until("a place") do
      @web.publish(running)
      listen { |events| events.next.first == "history" }
    rescue IOError, SystemCallError, StopIteration
      false
    end
  end

  test "an address that others can reach is refused, and so is one that is taken" do
    %w[tcp://0.0.0.0:80 tcp://192.168.0.1:80 tcp://example.org:80 http://localhost].each { |text| assert_raises(UsageError, text) { Top::Web.address(text) } }
    assert_match(/can't listen at/, assert_raises(UsageError) { web("tcp://127.0.0.1:#{@url.port}") }.message)
  end

  test "a socket whose path is too long is refused with that reason" do
    Dir.mktmpdir do |folder|
      assert_match(%r{can't listen at unix:///.*: too long unix socket path.*Give another address}, assert_raises(UsageError) { web("unix://#{folder}/#{"long" * 30}.sock") }.message)
    end
  end

  test "a socket is its owner's alone, answers like a port, and is gone afterwards" do
    Dir.mktmpdir do |folder|
      web = web("unix://#{folder}/top.sock", token: "abc")
      web.start
      assert_equal 0o600, File.stat("#{folder}/top.sock").mode & 0o777
      assert_equal "unix://#{folder}/top.sock, path /abc/", web.url
      said = UNIXSocket.open("#{folder}/top.sock") { |socket| socket.write("GET /abc/ HTTP/1.1\r\nHost: localhost:8080\r\n\r\n") && socket.read }
      assert_match(/\AHTTP\/1.1 200 OK/, said)
      web.stop
      refute_path_exists "#{folder}/top.sock"
    end
  end
end
