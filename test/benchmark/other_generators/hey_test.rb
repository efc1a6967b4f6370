# frozen_string_literal: true

require "test_helper"
require "load/scripted_server"
require_relative "../../../benchmark/support/other_generators"
require_relative "stand_in"

class HeyTest < TunerTest
  include StandIn

  Load = PumaTuner::Load
  Request = Load::Request

  # What hey 0.1.4 prints, with lines of its histogram left out.
  SUMMARY = <<~TEXT

    Summary:
      Total:	2.0005 secs
      Slowest:	0.1733 secs
      Average:	0.0006 secs
      Requests/sec:	6773.2071

    Response time histogram:
      0.000 [1]	|
      0.017 [13544]	|■■■■■

    Latency distribution:
      10% in 0.0002 secs
      50% in 0.0004 secs
      90% in 0.0009 secs
      99% in 0.0025 secs

    Status code distribution:
      [200]	3990 responses
      [500]	10 responses

    Error distribution:
      [3]	Get "http://127.0.0.1:9/": EOF
      [2]	Get "http://127.0.0.1:9/": dial tcp 127.0.0.1:9: connect: connection refused
  TEXT

  def run_hey(generator, *requests, url: "http://127.0.0.1:9", arrivals: Load::Arrivals.closed, connections_count: 4)
    requests = [Request.new(path: "/")] if requests.empty?
    generator.run(mix: Load::Mix.new(requests:), url_base: url, connections_count:, duration_s: 2, seed: 1, arrivals:)
  end

  def printing(text, &) = with_stand_in(OtherGenerators::Hey, "cat <<'END'\n#{text}\nEND", &)

  test "reads what hey prints" do
    printing(SUMMARY) do |generator|
      outcome = run_hey(generator)
      assert_equal [4_000, {"200" => 3_990, "500" => 10}, 10, 5], [outcome.requests_count, outcome.statuses, outcome.unexpected_count, outcome.socket_errors_count]
      assert_equal [400_000, 900_000, 2_500_000, 2_000_500_000], [outcome.p50_ns, outcome.p90_ns, outcome.p99_ns, outcome.duration_ns]
      assert_in_delta 4, outcome.throughput_per_s * outcome.mean_ns / 1e9, 0.001
      assert_equal 600_000, run_hey(generator, arrivals: Load::Arrivals.open(200, kind: "even")).mean_ns
    end
  end

  test "asks for what is to be sent" do
    printing(SUMMARY) do |generator, words|
      run_hey(generator, Request.new(path: "/a?b=c", http_method: "POST", body: "hi", headers: {"Host" => "shop.example", "X-A" => "b: c"}),
        arrivals: Load::Arrivals.open(10, kind: "even"))
      assert_equal %w[-z 2s -c 4 -t 0 -disable-compression -disable-redirects -q 2.5 -m POST -D], words.call.first(13)
      assert_equal ["-host", "shop.example", "-H", "X-A: b: c", "http://127.0.0.1:9/a?b=c"], words.call.last(5)
    end
  end

  test "tells no percentiles where hey tells none" do
    printing("  Total:\t1.0 secs\n") do |generator|
      outcome = run_hey(generator)
      assert_equal [0, nil, nil], [outcome.requests_count, outcome.p99_ns, outcome.mean_ns]
      assert_equal %i[p50_ns p90_ns p99_ns], outcome.unknown.map(&:field)
      assert_match(/no request was answered/, outcome.complaint)
    end
  end

  test "refuses what hey can't do" do
    {
      {requests: [Request.new(path: "/"), Request.new(path: "/b")]} => /hey sends the same request over and over, and this mix has 2/,
      {requests: [Request.new(path: "/", expected_text: "a")]} => /does not look at what a response contains/,
      {arrivals: Load::Arrivals.open(5)} => /only --arrivals even/, {arrivals: Load::Arrivals.closed(think_ns: 1_000_000_000)} => /cannot think/,
      {arrivals: Load::Arrivals.closed(reuse: 1..2)} => /cannot bound/, {url: "unix:///tmp/a"} => /not used over unix sockets/
    }.each do |options, said|
      printing(SUMMARY) do |generator|
        error = assert_raises(PumaTuner::UsageError) { run_hey(generator, *options[:requests], **options.except(:requests)) }
        assert_match said, error.message
        assert_match(/Our own can do it/, error.message)
      end
    end
  end

  test "says what hey said when it gives no figures, and how to install it" do
    with_stand_in(OtherGenerators::Hey, "echo some trouble; exit 4") do |generator|
      assert_match(/hey gave no figures \(exit 4\).*\n  \| some trouble\z/, assert_raises(PumaTuner::LoadToolFailed) { run_hey(generator) }.message)
    end
    assert_match(/apt-get install hey/, OtherGenerators::Hey.new(search_path: "/nowhere").why_not)
  end

  test "the real one counts what the server counts" do
    generator = OtherGenerators::Hey.new
    skip generator.why_not unless generator.available?
    ScriptedServer.serve(->(*) { sleep(0.002) && 200 }) do |server|
      outcome = run_hey(generator, url: server.url)
      assert_in_delta server.latencies_ns.size, outcome.requests_count, 4
      assert_equal [0, []], [outcome.socket_errors_count, outcome.unknown]
    end
  end
end
