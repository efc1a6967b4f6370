# frozen_string_literal: true

require "test_helper"
require "load/scripted_server"
require_relative "../../../benchmark/support/other_generators"
require_relative "stand_in"

class H2loadTest < TunerTest
  include StandIn

  Load = PumaTuner::Load
  Request = Load::Request

  # What h2load 1.52 prints at its end, and a log of it.
  ENDING = <<~TEXT

    finished in 2.00s, 10066.50 req/s, 677.67KB/s
    requests: 5 total, 5 started, 5 done, 4 succeeded, 1 failed, 2 errored, 1 timeout
    status codes: 3 2xx, 0 3xx, 1 4xx, 0 5xx
  TEXT
  LOG = "1795257799490133\t200\t1000\n1795257799490129\t200\t2000\n1795257799490125\t404\t9000\n1795257799490126\t200\t3000\n1795257799490127\t-1\t70000\n"

  def run_h2load(generator, *requests, url: "http://127.0.0.1:9", arrivals: Load::Arrivals.closed, connections_count: 4)
    requests = [Request.new(path: "/")] if requests.empty?
    generator.run(mix: Load::Mix.new(requests:), url_base: url, connections_count:, duration_s: 1.5, seed: 1, arrivals:)
  end

  def printing(ending, log = LOG, &)
    writing = "for word in \"$@\"; do case $word in --log-file=*) cat > \"${word#--log-file=}\" <<'LOG'\n#{log}LOG\n;; --input-file=*) cat \"${word#--input-file=}\" >> \"${0%/*}/words\";; esac; done"
    with_stand_in(OtherGenerators::H2load, "if [ \"$1\" = --version ]; then echo h2load nghttp2/1.52.0; exit; fi\n#{writing}\ncat <<'END'\n#{ending}\nEND", &)
  end

  test "reads what h2load prints, and its log" do
    printing(ENDING) do |generator|
      outcome = run_h2load(generator)
      assert_equal [4, {"200" => 3, "404" => 1}, 1, 3], [outcome.requests_count, outcome.statuses, outcome.unexpected_count, outcome.socket_errors_count]
      assert_equal [2_500_000, 3_750_000, 2_000_000_000], [outcome.p50_ns, outcome.mean_ns, outcome.duration_ns]
      assert_equal "h2load nghttp2/1.52.0", outcome.generator
    end
  end

  test "asks for what is to be sent" do
    printing(ENDING) do |generator, words|
      generator.name # which is asked for once, so that the words are those of the load
      run_h2load(generator, Request.new(path: "/a?b=c", http_method: "PUT", body: "hi", headers: {"Host" => "shop.example", "X-A" => "b: c"}),
        arrivals: Load::Arrivals.open(10, kind: "even"))
      assert_equal %w[--h1 -t1 -m1 -c4 -D2], words.call.first(5)
      assert_equal ["--rps=2.5", "-H", ":method: PUT", "-H", ":authority: shop.example", "-H", "X-A: b: c", "-d"], words.call[6, 8]
      option, address = words.call.last(2)
      assert_match(/\A--input-file=/, option)
      assert_equal "http://127.0.0.1:9/a?b=c", address, "what the file holds: command lines are open to others"
    end
  end

  test "has no latency to tell when nothing is answered" do
    printing("finished in 1.00s, 0.00 req/s, 0B/s\nrequests: 0 total, 0 started, 0 done, 0 succeeded, 0 failed, 0 errored, 0 timeout", "") do |generator|
      outcome = run_h2load(generator)
      assert_equal [0, nil, nil], [outcome.requests_count, outcome.p99_ns, outcome.mean_ns]
      assert_match(/no request was answered/, outcome.complaint)
    end
  end

  test "refuses what h2load can't do" do
    {
      {requests: [Request.new(path: "/"), Request.new(path: "/b")]} => /h2load sends the same request over and over, and this mix has 2/,
      {requests: [Request.new(path: "/", expected_text: "a")]} => /does not look at what a response contains/,
      {requests: [Request.new(path: "/", http_method: "HEAD")]} => /not used for HEAD/,
      {arrivals: Load::Arrivals.open(5)} => /only --arrivals even/, {arrivals: Load::Arrivals.closed(think_ns: 1_000_000_000)} => /cannot think/,
      {arrivals: Load::Arrivals.closed(reuse: 1..2)} => /cannot bound/, {url: "unix:///tmp/a"} => /not used over unix sockets/
    }.each do |options, said|
      printing(ENDING) do |generator|
        assert_match said, assert_raises(PumaTuner::UsageError) { run_h2load(generator, *options[:requests], **options.except(:requests)) }.message
      end
    end
  end

  test "says what h2load said when it gives no figures, and how to install it" do
    with_stand_in(OtherGenerators::H2load, "echo some trouble; exit 4") do |generator|
      assert_match(/h2load gave no figures \(exit 4\).*\n  \| some trouble\z/, assert_raises(PumaTuner::LoadToolFailed) { run_h2load(generator) }.message)
    end
    missing = OtherGenerators::H2load.new(search_path: "/nowhere")
    assert_match(/apt-get install nghttp2-client/, missing.why_not)
    assert_equal "h2load", missing.name
  end

  test "the real one counts what the server counts" do
    generator = OtherGenerators::H2load.new
    skip generator.why_not unless generator.available?
    ScriptedServer.serve(->(*) { sleep(0.002) && 200 }) do |server|
      outcome = run_h2load(generator, url: server.url)
      assert_in_delta server.latencies_ns.size, outcome.requests_count, 4
      assert_operator outcome.p50_ns, :>=, 2_000_000
    end
  end
end
