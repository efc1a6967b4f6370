# frozen_string_literal: true

require "test_helper"
require "json"
require "rack"
require "socket"
require "tmpdir"
require_relative "../../../labs/02-csp-collector/lab"
require_relative "../../../labs/02-csp-collector/rungs/loop/collector"

# What the rungs of the collector's ladder share.
class CspLadderTest < TunerTest
  time_limit 120

  LAB = File.expand_path("../../../labs/02-csp-collector", __dir__)
  Labs = PumaTuner::Labs
  Rungs = Labs::CspRungs
  SHORT = {rounds_count: 1, duration_s: 0.3, warmup_limit_s: 0.5, warmup_window_s: 0.15, turns_count: 1, probe_s: 0, busy_machine: true}.freeze

  # No shop: it takes minutes to set up.
  VARIANTS = {**Rungs::LADDER.except(Rungs::MONOLITH), Rungs::BEST => Rungs::LOOP}.freeze

  # Bundler is asked for each of the rungs, which takes half a second: once for all tests.
  def self.missing = @missing ||= VARIANTS.values.map { |factors| PumaTuner::Lab::Bundle.of(factors, folder: LAB) }.uniq(&:to_s).reject(&:installed?)

  def setup
    missing = self.class.missing
    skip "gems of the rungs are not there, bin/setup --test installs them: #{missing.join(", ")}" if missing.any?
  end

  # @yieldparam traffic [Labs::CspTraffic]
  # @yieldparam lines [Labs::CspLines]
  def with_traffic
    lab = Labs::CspCollector.new
    Labs::CspLines.open(lab.send(:reports)) { |lines| yield Labs::CspTraffic.new(lab.send(:traffic, 1), lines), lines }
  end

  def prove(variants)
    with_traffic do |traffic, lines|
      PumaTuner::Lab::Run.new(Labs::CspCollector.new, folder: LAB).served_proof(variants, traffic:, out: lines.method(:path), **SHORT)
    end
  end

  # @return [Hash] a rung like bare Rack, with another app
  def rung(folder, app)
    path = File.join(folder, "#{app.hash.abs}.ru")
    File.write(path, app)
    {Rungs::RACK => Rungs::BARE, "faulty" => Rungs::BARE.merge("app" => path)}
  end

  # A loop of its own, and the lines that it has written.
  def with_loop
    Dir.mktmpdir("csp_loop") do |folder|
      path = File.join(folder, "lines.jsonl")
      variant = PumaTuner::Prove::Variant.new(name: Rungs::BEST, factors: Rungs::LOOP)
      PumaTuner::Lab::ServedCommands.new(folder: LAB, variants: [variant], out: ->(_) { path }).serve(variant) { |server| yield server, -> { File.readlines(path, chomp: true) } }
    end
  end

  # @return [String] all that comes back for these bytes, sent one piece after the other, until nothing comes any more
  def talk(server, *pieces)
    TCPSocket.open("127.0.0.1", server.announcement["ports"].first) do |socket|
      pieces.each do |piece|
        socket.write(piece)
        sleep 0.02
      end
      socket.close_write
      socket.read
    end
  rescue Errno::ECONNRESET
    "reset"
  end

  def post(body, *headers, version: "1.1") = ["POST /reports HTTP/#{version}", "Host: x", "Content-Length: #{body.bytesize}", *headers, "", ""].join("\r\n") + body

  def statuses(answer) = answer.scan(%r{^HTTP/1\.1 (\d+)}).flatten

  # @return [Array<String>] texts that are JSON, and such that once were
  def bodies(random, count)
    samples = ['{"csp-report":{"a":1.5e3,"b":[true,null,"\u00e9\\n\\u00e9"],"c":{}}}', "{ \"a\"\t:\r\n[ 1 ,2 ] }", '"x"', "-0.1", "[]"]
    pieces = ["", ",", "}", "]", "\"", "\\", "\n", "\x00", "\x01", "\xff", "\xc3", "0", "-", "e", "NaN", "/*", "*/", "//", "\\u12", "\\ud800", "1", " "]
    Array.new(count) do
      text = samples.sample(random:).b
      random.rand(0..3).times { text[random.rand(0..text.bytesize), random.rand(0..2)] = pieces.sample(random:).b }
      text
    end
  end

  # @return [Hash, nil] what a rung with nothing but json would have written
  def parsed(body)
    text = body.dup.force_encoding(Encoding::UTF_8)
    value = JSON.parse(text)
    [value] if text.valid_encoding?
  rescue JSON::ParserError
    nil
  end

  test "all rungs answer alike, and every response is a line" do
    verdict = prove(VARIANTS)
    assert_equal VARIANTS.keys, verdict.cells.map(&:variant)
    assert verdict.cells.all? { |cell| cell.estimates.fetch("cpu_per_request").value.positive? }
    assert_equal ["on"], verdict.cells.map { |cell| cell.fingerprint.fetch([:yjit, nil]) }.uniq
    assert_equal ["2.21.2"], verdict.cells.map { |cell| cell.fingerprint.fetch([:gem, "json"]) }.uniq
    assert_empty Dir["{/dev/shm,#{Dir.tmpdir}}/csp_lines*-#{Process.pid}-*"], "lines were left"
  end

  test "an error page is refused, and so is a response 201 without its line, or with another" do
    Dir.mktmpdir do |folder|
      page = assert_raises(PumaTuner::InvalidMeasurement) { prove(rung(folder, 'run ->(_) { [500, {"content-type" => "text/html"}, ["sorry" * 700]] }')) }
      assert_match(/faulty.*unexpected status \(500/, page.message)
      silent = assert_raises(PumaTuner::InvalidMeasurement) { prove(rung(folder, "run ->(_) { [201, {}, []] }")) }
      assert_match(/faulty.*and 0 lines were written/, silent.message)
      other = 'run ->(_) { $stdout.syswrite(%({"time":"2026-01-01T00:00:00.000Z","report":{}}\n)); [201, {}, []] }'
      assert_match(/a line has not what was sent/, assert_raises(PumaTuner::InvalidMeasurement) { prove(rung(folder, other)) }.message)
    end
  end

  test "at twice the load that they can take, Puma and the loop lose no report that they have answered 201" do
    with_traffic do |traffic, lines|
      variants = VARIANTS.slice(Rungs::RACK, Rungs::BEST).map { |name, factors| PumaTuner::Prove::Variant.new(name:, factors:) }
      overload = Labs::CspOverload.new(PumaTuner::Lab::ServedCommands.new(folder: LAB, variants:, out: lines.method(:path)), traffic, lines)
      variants.each do |variant|
        result = overload.call(variant, capacity_s: 0.4, overload_s: 0.8)
        assert_operator result.rate_per_s, :>, result.capacity_per_s * 1.9
        assert_operator result.created_count, :>, 0
        assert_equal [0, 0], [result.lost_count, result.surplus_count], result.inspect
        assert_equal result.due_count, result.created_count + result.shed_count + result.other_count + result.unanswered_count + result.broken_count
      end
    end
  end

  test "killed under load, the loop has written every line that it has acknowledged" do
    with_loop do |server, written|
      acknowledged = Array.new(4) { Thread.new { post_until_gone(server) } }
      wait_until("some lines") { written.call.size > 60 }
      Process.kill(:KILL, server.announcement["pid"])
      sent = acknowledged.sum(&:value)
      assert_operator sent, :>, 50
      assert_operator written.call.size, :>=, sent
      written.call.each { |line| assert_equal %w[time report], JSON.parse(line).keys }
    end
  end

  # @return [Integer] answers 201
  def post_until_gone(server)
    count = 0
    TCPSocket.open("127.0.0.1", server.announcement["ports"].first) do |socket|
      loop do
        socket.write(post('{"csp-report":{}}'))
        break unless socket.readpartial(4_096).start_with?("HTTP/1.1 201")
        count += 1
      end
    end
    count
  rescue SystemCallError, EOFError
    count
  end

  test "the loop takes requests in pieces and several at once, and refuses what it must" do
    with_loop do |server, written|
      whole = post('{"a":1}')
      assert_equal ["201"], statuses(talk(server, *whole.chars.each_slice(20).map(&:join)))
      assert_equal %w[201 400 201], statuses(talk(server, whole + post("{bad") + whole))
      assert_equal %w[201 201], statuses(talk(server, whole + whole[0, 30], whole[30..]))
      assert_match(/\AHTTP\/1.1 201.*Connection: close/m, talk(server, post("{\"a\":\n1}", version: "1.0")))
      assert_equal ["201"], statuses(talk(server, post("[1]", "Connection: close") + whole))
      assert_equal %w[100 201], statuses(talk(server, post('{"a":1}', "Expect: 100-continue").delete_suffix('{"a":1}'), '{"a":1}'))
      assert_equal 8, written.call.size
      assert_includes written.call.map { |line| JSON.parse(line)["report"] }, [1]
      {"411" => "POST /reports HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "404" => "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
       "413" => "POST /reports HTTP/1.1\r\nHost: x\r\nContent-Length: 70000\r\n\r\n", "400" => "\x16\x03\x01 no HTTP\r\n\r\n"}
        .each { |status, request| assert_equal [status], statuses(talk(server, request)), request }
      assert_equal 8, written.call.size
    end
  end

  test "what the loop takes is just what json's parser takes, and reads the same" do
    random = Random.new(7)
    server = TCPServer.new("127.0.0.1", 0)
    looped = CspLoop.new(server, StringIO.new)
    taken = bodies(random, 3_000).count do |body|
      expected = parsed(body)
      assert_equal !expected.nil?, looped.send(:report, body.dup), body.inspect
      expected
    end
    assert_includes 300..2_700, taken, "the sample should have both kinds"
    lines = looped.instance_variable_get(:@lines).lines
    assert_equal taken, lines.size
    lines.each { |line| JSON.parse(line) }
  ensure
    server&.close
  end

  # Four labs share a folder, and each writes its finding there: the commit "with changes" would be another one.
  test "the commit of a lab's folder is no fact of a served variant" do
    variant = PumaTuner::Prove::Variant.new(name: Rungs::RACK, factors: Rungs::BARE)
    facts = PumaTuner::Lab::ServedCommands.new(folder: LAB, variants: [variant], out: ->(_) { File::NULL }).call(variant).facts
    assert_includes facts, [:file, "app"]
    refute_includes facts, [:commit, nil]
  end

  # A rung of error pages with a small app in the shop's place: its 201 has no body, and its page has one.
  FAILING = <<~RUBY
    run lambda { |env|
      env["rack.input"].read
      status = Integer(ENV.fetch("CSP_FAILS", "201"))
      [status, {"content-type" => "text/plain"}, (status == 201) ? [] : ["there is no such page"]]
    }
  RUBY

  test "error pages are measured beside status 201, although their bodies differ" do
    Dir.mktmpdir do |folder|
      path = File.join(folder, "failing.ru")
      File.write(path, FAILING)
      fine = Rungs::BARE.merge("app" => path)
      void = {}
      lab = Labs::CspCollector.new
      run = PumaTuner::Lab::Run.new(lab, folder: LAB)
      with_traffic do |traffic, lines|
        found = lab.send(:error_pages, run, traffic.__getobj__, lines, void, pages: {"page" => fine, "page's 404" => fine.merge("env.CSP_FAILS" => "404")}, **SHORT)
        assert_empty void
        assert_equal ["page", "page's 404"], found.fetch(Labs::CspMeasured::ERROR_PAGES_TITLE).cells.map(&:variant)
        wrong = {"page" => fine, "page's 500" => fine.merge("app" => File.join(LAB, "rungs/rack/config.ru"), "env.CSP_FAILS" => "500")}
        assert_empty lab.send(:error_pages, run, traffic.__getobj__, lines, void, pages: wrong, **SHORT)
        assert_match(/page's 500 answers 201, and should 500/, void.values.join)
      end
    end
  end
end
