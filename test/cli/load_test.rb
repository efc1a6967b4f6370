# frozen_string_literal: true

require "test_helper"
require "json"
require "support/command_line"
require "load/scripted_server"
require "tmpdir"

class LoadTest < TunerTest
  include CommandLine

  def fine = ->(*) { sleep(0.002) && 200 }

  def load(*words, answer: fine, **) = ScriptedServer.serve(answer) { |server| puma_tuner("load", server.url, "--duration", "0.5", *words, **) }

  test "a closed loop: latencies, statuses, Little's law" do
    result = load("--connections", "4")
    assert_equal 0, result.code, result.err
    assert_match(/^http:\/\/127\.0\.0\.1:\d+: [\d,]+ responses in 500 ms, [\d,]+\/s\n  closed loop, 4 connections, seed 1; puma_tuner \d/, result.out)
    assert_match(/^Latency\n +p50 +p90 +p99 +p99\.9 +max\n  latency  .* ms .* - +[\d.]+ ms\n  service time/, result.out)
    assert_match(/^  statuses +200: [\d,]+$/, result.out)
    assert_match(/^  connections +4 made$/, result.out)
    assert_match(/^  generator +[\d.]+ µs of CPU per request/, result.out)
    assert_match(/^  Little's law +[\d,]+\/s x [\d.]+ ms = [34]\.\d+ of 4 connections$/, result.out)
    assert_match(/^load … \(about 1 s\)\nload: done/, result.err)
    refute_match(/own lateness|  due /, result.out)
  end

  test "an open loop: what was due, and how late we were ourselves" do
    result = load("--rate", "100", "--arrivals", "even", "--reuse", "1:3")
    assert_equal 0, result.code, result.err
    assert_match(/even arrivals, 100\/s, connections reused 1 to 3 times, at most 1,000 connections/, result.out)
    assert_match(/^  own lateness +[\d.]+ /, result.out)
    assert_match(/^  due +(49|50), of which 0 had to wait for a connection/, result.out)
    assert_match(/p99 of so few responses says little/, result.out)
    refute_match(/Little/, result.out)
  end

  # The server answers after 2 ms.
  test "a goal that is met ends with 0, one that is missed with 1, and both are told with the share of the requests" do
    met = load("--connections", "2", "--slo", "50% < 1s")
    assert_equal 0, met.code, met.err
    assert_match(/^  50% < 1 s +met: 100\.0% \(\d+\.\d%–100\.0%\) of [\d,]+ requests took less$/, met.out)
    Dir.mktmpdir do |folder|
      missed = load("--connections", "2", "--slo", "50% < 1s", "--slo", "90% < 1ms", "--output", "load.json", folder:)
      assert_equal 1, missed.code, missed.err
      assert_equal [true, false], PumaTuner::Document.read(File.join(folder, "load.json"), :load_outcome).attainments.map(&:met?)
    end
    assert_mistake(%r{does not see which endpoint each is of; leave out "GET /"}, load("--slo", "GET /: 90% < 1s"))
  end

  test "requests from a file, with values from another, and what answers must contain" do
    answer = ->(received, _) { ScriptedServer::Reply.new(200, {}, "Hello #{received.path}") }
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, "requests.txt"), "GET /users/{{id}} has:Hello\n")
      File.write(File.join(folder, "users.csv"), "id\n1\n2\n")
      assert_equal 0, load("--requests", "requests.txt", "--data", "users.csv", answer:, folder:).code
      assert_mistake(/--data needs a file of requests/, load("--data", "users.csv", folder:))
      assert_mistake(/requests\.txt, line 1: {{id}} needs a data file/, load("--requests", "requests.txt", folder:))
    end
  end

  test "values go to files where that is asked for, or to standard output" do
    Dir.mktmpdir do |folder|
      result = load("--raw", "raw.csv", "--output", "load.json", "--seed", "5", folder:)
      outcome = PumaTuner::Document.read(File.join(folder, "load.json"), :load_outcome)
      assert_equal outcome.requests_count, File.readlines(File.join(folder, "raw.csv")).size - 1
      assert_includes result.err, File.join(File.realpath(folder), "load.json")
      assert_operator outcome.latency.count, :<, outcome.requests_count
      assert_match(/^  settling +\S+ \S+ until each connection had a response; the \d+ responses/, result.out)
      assert_match(/^  after the end +\d+ responses? to requests that were in flight then/, result.out)
      assert_equal "load_outcome", JSON.parse(load("--output", "-", folder:).out).fetch("kind")
      assert_equal result.out, puma_tuner("report", "load.json", folder:).out
    end
  end

  test "wrong responses are told first, and end with 3" do
    result = load("--path", "/", answer: ->(*) { 500 })
    assert_equal 3, result.code
    assert_match(/these figures mean nothing: [\d,]+ of [\d,]+ responses had an unexpected status \(500: \d+\)/, result.err)
    assert_match(/^  unexpected +[\d,]+ responses$/, result.out)
  end

  test "a load of redirects is a mistake; responses that are all alike are printed with a remark, and kept with it" do
    to_login = ->(*) { ScriptedServer::Reply.new(302, {"Location" => "/login"}, "") }
    assert_failed(%r{most responses are redirects to /login \(302\)}, load("--path", "/issues", answer: to_login))
    Dir.mktmpdir do |folder|
      result = load("--path", "/a,/b,/c", "--output", "load.json", folder:)
      assert_match(/^  3 different paths are all answered with status 200 and 2 bytes: /, result.out)
      assert_match(/3 different paths/, PumaTuner::Document.read(File.join(folder, "load.json"), :load_outcome).remarks.first)
    end
  end

  test "load fails when nobody listens" do
    port = refusing_port
    result = puma_tuner("load", "http://127.0.0.1:#{port}", "--duration", "600")
    assert_equal 3, result.code
    assert_match(/no request was answered; the first to fail: connecting: Connection refused/, result.err)
  end

  test "Ctrl-C prints what was measured by then" do
    Dir.mktmpdir do |folder|
      out, err = %w[out err].map { |name| File.join(folder, name) }
      ScriptedServer.serve(fine) do |server|
        pid = start_puma_tuner("load", server.url, "--duration", "60", chdir: folder, out:, err:)
        wait_until("some responses") { server.latencies_ns.size > 50 }
        Process.kill(:INT, pid)
        assert_equal 130, Process.wait2(pid).last.exitstatus
      end
      assert_match(/^  latency +[\d.]+ ms/, File.read(out))
      assert_match(/interrupted; everything it started is stopped/, File.read(err))
      assert_empty processes_in(folder)
    end
  end

  test "Ctrl-C while the last responses are waited for is no failure of the load" do
    hanging = Queue.new
    Dir.mktmpdir do |folder|
      out, err = %w[out err].map { |name| File.join(folder, name) }
      ScriptedServer.serve(->(_, number) { number.zero? ? 200 : (hanging << true) && sleep }) do |server|
        pid = start_puma_tuner("load", server.url, "--connections", "2", "--duration", "0.2", chdir: folder, out:, err:)
        wait_until("two requests without a response") { hanging.size == 2 }
        since_s = monotonic_s
        wait_until("the end of what is sent") { monotonic_s > since_s + 0.5 }
        Process.kill(:INT, pid)
        assert_equal 130, Process.wait2(pid).last.exitstatus
      end
      refute_match(/mean nothing/, File.read(err))
      assert_match(/interrupted; everything it started is stopped/, File.read(err))
    end
  end

  test "options that can't be understood are named with what would be" do
    {
      [] => /no URL given/, %w[http://example.com] => /this machine only.*--anywhere/, %w[https://127.0.0.1 --anywhere] => /URL without a path/,
      %w[URL --rate 0] => /--rate 0: write a whole number from 1 to 200000/, %w[URL --rate 200001] => /--rate 200001/,
      %w[URL --connections 10001] => /--connections 10001/, %w[URL --duration 3601] => /at most 3600/, %w[URL --arrivals odd] => /poisson or even/,
      %w[URL --rate 5 --think 1] => /--think belongs to a closed loop/, %w[URL --reuse 5] => /--reuse 5: write the fewest and the most/,
      %w[URL --reuse 5:1] => /--reuse 5:1/, %w[URL --core 900] => /--core 900 is not available: this process may use 0/, %w[URL --think -1] => /--think -1/,
      %w[URL --output /nowhere/a.json] => /cannot write/,
      %w[URL --raw /nowhere/a.csv] => /cannot write/, %w[URL --path x] => /"x" is not a path/
    }.each { |words, said| assert_mistake(said, puma_tuner_in_fork("load", *words.map { |word| (word == "URL") ? "http://127.0.0.1:9" : word })) }
  end

  # A server that stands still for longer than it says is one of which the generator's figures can't be true.
  test "a self-test that finds the generator wrong ends with 1" do
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, "longer.rb"), <<~RUBY)
        require "puma_tuner"
        PumaTuner::Load::StallServer.prepend(Module.new { def initialize = super(stall_s: 1.5) })
      RUBY
      paths = %w[lib probe/lib].flat_map { |path| ["-I", File.expand_path("../../#{path}", __dir__)] }
      out, err, status = Open3.capture3(RbConfig.ruby, *paths, "-r", File.join(folder, "longer.rb"), EXECUTABLE, "load", "--self-test", "--output", "truth.json", chdir: folder)
      assert_equal 1, status.exitstatus, err
      assert_match(/^The generator is wrong/, out)
      assert_match(/^  p99 .* WRONG$/, out)
      refute_predicate PumaTuner::Document.read(File.join(folder, "truth.json"), :load_self_test), :right?
    end
  end

  test "help names the options, and the first page the command" do
    assert_match(/--self-test/, puma_tuner("load", "--help").out)
    assert_match(/^  load +requests to a server that runs already/, puma_tuner("--help").out)
  end
end
