# frozen_string_literal: true

require "test_helper"
require "json"
require "tmpdir"
require "load/scripted_server"
require_relative "../../../benchmark/support/other_generators"

class WrkTest < TunerTest
  Load = PumaTuner::Load
  Request = Load::Request

  def run_wrk(url, *requests, generator: OtherGenerators::Wrk.new, connections_count: 2, duration_s: 1)
    generator.run(mix: Load::Mix.new(requests:), url_base: url, connections_count:, duration_s:, seed: 1)
  end

  # Runs the block with a generator for which this shell program is wrk.
  def with_stand_in(program)
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, "wrk"), "#!/bin/sh\n#{program}\n")
      File.chmod(0o755, File.join(folder, "wrk"))
      yield OtherGenerators::Wrk.new(search_path: folder)
    end
  end

  # A stand-in that prints these figures where wrk would.
  def with_figures(latencies, requests_count:, &)
    figures = {duration_us: 1_000_000, requests_count:, socket_errors_count: 0, statuses: {"200" => requests_count}, latencies:}
    with_stand_in("echo 'PUMA_TUNER #{JSON.generate(figures)}'", &)
  end

  test "counts responses and obeys Little's law" do
    outcome = ScriptedServer.serve(->(*) { sleep(0.002) && 200 }) { |server| run_wrk(server.url, Request.new(path: "/")) }
    assert_operator outcome.requests_count, :>, 100
    assert_equal({"200" => outcome.requests_count}, outcome.statuses)
    assert_equal [0, 0, []], [outcome.unexpected_count, outcome.socket_errors_count, outcome.unknown]
    assert_in_delta 2, outcome.throughput_per_s * outcome.mean_ns / 1e9, 0.001
    assert_operator outcome.duration_ns, :>=, 1_000_000_000
    assert_match(/\Awrk \S*4\.\d/, outcome.generator)
  end

  test "shows the latencies that there were, and not those that wrk invents" do
    # Every fiftieth answer of a connection takes long: one in fifty, so the ninetieth percentile is a quick one. wrk's own
    # is some 80 ms, for it fills the time a connection waits with requests that nobody sent.
    slow_now_and_then = ->(_, number) { sleep((number % 50 == 49) ? 0.1 : 0.001) && 200 }
    ScriptedServer.serve(slow_now_and_then) do |server|
      outcome = run_wrk(server.url, Request.new(path: "/"), connections_count: 4, duration_s: 2)
      truth_ns = server.latencies_ns.sort
      assert_empty outcome.unknown
      slow_ns = PumaTuner::Stats::Quantile.of(truth_ns, 0.995)
      # A response takes the client as long as the server at least, and what is quick is far from what is slow.
      {p50_ns: 0.5, p90_ns: 0.9}.each do |field, ratio|
        assert_includes (PumaTuner::Stats::Quantile.of(truth_ns, ratio) * 0.95)..(slow_ns / 2), outcome.public_send(field), field.to_s
      end
      assert_operator outcome.p99_ns, :>, 90_000_000
    end
  end

  test "reads the same histogram in place and one by one" do
    mix = Load::Mix.of_paths(["/"])
    both = <<~LUA
      function done(_, latency)
        io.write("\\nBOTH " .. tostring(table.concat(in_place(latency), ",") == table.concat(one_by_one(latency), ",")) .. "\\n")
      end
    LUA
    Dir.mktmpdir do |folder|
      script = File.join(folder, "both.lua")
      File.write(script, OtherGenerators::WrkScript.new(mix, 1).to_s + both)
      ScriptedServer.serve(->(_, number) { sleep(number % 7 / 1_000.0) && 200 }) do |server|
        output, = PumaTuner::Host::Child.output_of(["wrk", "-t1", "-c2", "-d1", "-s", script, server.url], limit_s: 20)
        assert_match(/^BOTH true$/, output)
      end
    end
  end

  test "sends each request as it stands in the mix" do
    bytes = "quote \" backslash \\ percent % zero \x00 high \xFF end\r\n".b
    sent = [Request.new(path: "/a?b=%20c&d='\"\\", headers: {"X-Note" => "say \"hi\" \\ %d", "Host" => "shop.example"}),
      Request.new(path: "/b", http_method: "POST", body: bytes), Request.new(path: "/c", http_method: "DELETE"),
      Request.new(path: "/d", http_method: "PUT", body: "")]
    received = Queue.new
    ScriptedServer.serve(->(request, _) { received << request && 200 }) { |server| run_wrk(server.url, *sent) }
    a, b, c, d = Array.new(received.size) { received.pop }.uniq(&:path).sort_by(&:path)
    assert_equal ["GET", "/a?b=%20c&d='\"\\", nil], [a.http_method, a.path, a.body]
    assert_equal ["say \"hi\" \\ %d", "shop.example"], a.headers.values_at("X-Note", "Host")
    assert_equal ["POST", bytes], [b.http_method, b.body]
    assert_match(/\A127\.0\.0\.1:\d+\z/, b.headers["Host"])
    assert_equal ["DELETE", nil], [c.http_method, c.body]
    assert_equal ["PUT", ""], [d.http_method, d.body]
  end

  test "sends in the order that the seed gives, from its beginning" do
    mix = Load::Mix.of_paths(%w[/0 /1 /2 /3])
    paths = Queue.new
    ScriptedServer.serve(->(request, _) { paths << request.path && 200 }) do |server|
      OtherGenerators::Wrk.new.run(mix:, url_base: server.url, connections_count: 1, duration_s: 1, seed: 5)
    end
    assert_equal mix.order(5).first(200).map { |index| "/#{index}" }, Array.new(200) { paths.pop(timeout: 1) }
  end

  test "tells expected answers from others" do
    statuses = {"/good" => 200, "/moved" => 302, "/gone" => 404, "/broken" => 500}
    ScriptedServer.serve(->(request, _) { statuses.fetch(request.path) }) do |server|
      outcome = run_wrk(server.url, *statuses.keys.map { |path| Request.new(path:) })
      assert_equal statuses.values.map(&:to_s), outcome.statuses.keys
      assert_equal outcome.statuses.values_at("404", "500").sum, outcome.unexpected_count
      assert_equal 0, run_wrk(server.url, Request.new(path: "/gone", expected_statuses: [404])).unexpected_count
      strict = run_wrk(server.url, Request.new(path: "/good", expected_statuses: [201]))
      assert_equal strict.requests_count, strict.unexpected_count
    end
  end

  test "takes a mix of ten thousand lines" do
    sent = Array.new(10_000) { |number| Request.new(path: "/#{number}", headers: {"X-Number" => number.to_s}) }
    paths = Queue.new
    ScriptedServer.serve(->(request, _) { paths << request.path && 200 }) { |server| run_wrk(server.url, *sent) }
    seen = Array.new(paths.size) { paths.pop }
    assert_operator seen.first(10_000).uniq.size, :>=, [seen.size, 10_000].min - 1
  end

  test "counts connections that break" do
    broken = ->(_, number) { (number == 3) ? raise(Errno::EPIPE) : 200 }
    outcome = ScriptedServer.serve(broken) { |server| run_wrk(server.url, Request.new(path: "/")) }
    assert_operator outcome.socket_errors_count, :>, 0
    assert_match(/connections broke/, outcome.complaint)
  end

  test "has no latency to tell when nothing is answered" do
    outcome = ScriptedServer.serve(->(*) { sleep(10) }) { |server| run_wrk(server.url, Request.new(path: "/")) }
    assert_equal [0, nil, nil], [outcome.requests_count, outcome.mean_ns, outcome.p99_ns]
    assert_includes outcome.unknown, PumaTuner::Unknown.of(:p99_ns, :no_answer)
  end

  test "refuses HEAD, which wrk cannot send" do
    error = assert_raises(PumaTuner::UsageError) { run_wrk("http://127.0.0.1:1", Request.new(path: "/", http_method: "HEAD")) }
    assert_match(/HEAD/, error.message)
  end

  test "says when no server is there" do
    error = assert_raises(PumaTuner::LoadToolFailed) { run_wrk("http://127.0.0.1:1", Request.new(path: "/")) }
    assert_match(/unable to connect to 127\.0\.0\.1:1/, error.message)
  end

  test "says how to install it" do
    Dir.mktmpdir do |empty|
      missing = OtherGenerators::Wrk.new(search_path: empty)
      refute_predicate missing, :available?
      assert_match(/apt-get install wrk/, missing.why_not)
      assert_equal "wrk", missing.name
    end
  end

  test "says what the tool said when it gives no figures" do
    with_stand_in("echo some trouble; exit 4") do |generator|
      error = assert_raises(PumaTuner::LoadToolFailed) { run_wrk("http://127.0.0.1:1", Request.new(path: "/"), generator:) }
      assert_match(/no figures \(exit 4\).*\n  \| some trouble\z/, error.message)
    end
  end

  test "has no percentiles when the invented samples cannot be told from the true ones" do
    {"too many samples" => [[[10, 5]], 4], "impossible counts" => [[[300_000, 1], [550_000, 2], [800_000, 1]], 4],
     "more time than there was" => [[[900_000, 3]], 3]}.each do |what, (latencies, requests_count)|
      with_figures(latencies, requests_count:) do |generator|
        outcome = run_wrk("http://127.0.0.1:1", Request.new(path: "/"), generator:, connections_count: 1)
        assert_equal [nil, nil, nil, requests_count], [outcome.p50_ns, outcome.p90_ns, outcome.p99_ns, outcome.requests_count], what
        assert_includes outcome.unknown, PumaTuner::Unknown.of(:p50_ns, :not_as_known)
      end
    end
  end

  test "leaves nothing running when it is interrupted" do
    before = children
    ScriptedServer.serve(->(*) { sleep(0.01) && 200 }) do |server|
      running = Thread.new { run_wrk(server.url, Request.new(path: "/"), duration_s: 30) }
      running.report_on_exception = false
      wait_until("wrk's start") { server.latencies_ns.any? }
      folders = Dir[File.join(Dir.tmpdir, "puma_tuner*", "mix.lua")]
      running.raise(Interrupt)
      assert_raises(Interrupt) { running.value }
      assert_equal before, children
      assert_operator Dir[File.join(Dir.tmpdir, "puma_tuner*", "mix.lua")].size, :<, folders.size
    end
  end
end
