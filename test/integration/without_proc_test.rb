# frozen_string_literal: true

require "test_helper"
require "json"
require "support/command_line"
require "support/lane_fixture"
require "support/profiles"
require "support/served_app"
require "support/without_proc"
require_relative "../fleet/simulated_answers"

# As on macOS: nothing tells of processes in files, and the extensions that need Linux are not there. The simulator's C is everybody's.
class WithoutProcTest < TunerTest
  include PumaTuner

  LEFT_OUT = /puma_tuner_(load|probe)\.#{RbConfig::CONFIG["DLEXT"]}\z/

  def setup
    @folder = Dir.mktmpdir("puma_tuner-test")
    Dir["{lib,probe/lib,probe/ext,ext,exe}/**/*", base: ServedApp::PROJECT].grep_v(LEFT_OUT).each do |file|
      next if File.directory?(File.join(ServedApp::PROJECT, file))
      FileUtils.mkdir_p(File.dirname(path(file)))
      FileUtils.cp(File.join(ServedApp::PROJECT, file), path(file))
    end
    FileUtils.cp(File.join(ServedApp::PROJECT, "test/fixtures/advise/realistic.json"), path("observation.json"))
  end

  def teardown = FileUtils.rm_rf(@folder)

  def path(name) = File.join(@folder, name)

  def environment = LockedGems.environment.merge("RUBYLIB" => "#{path("lib")}:#{path("probe/lib")}")

  # @return [CommandLine::Result]
  def run_without(*words, way: WithoutProc.way, environment: self.environment, executable: path("exe/puma_tuner"))
    own = {"PUMA_TUNER_CACHE" => path("cache"), "XDG_CACHE_HOME" => path("cache"), "XDG_STATE_HOME" => path("state")}
    out, err, status = Open3.capture3({**environment, **own}, *WithoutProc.ruby(executable, *words, way:), chdir: @folder)
    CommandLine::Result.new(out:, err:, code: status.exitstatus)
  end

  # @return [String] what it printed
  def run!(...) = run_without(...).then { |result| (result.code == 0) ? result.out : flunk("#{WithoutProc.way}: #{result.out}#{result.err}") }

  QUICK = %w[--workers 1,2 --threads 1,5 --seeds 3 --simulated-requests 300].freeze

  test "there is no /proc in it, whichever way it is hidden, and neither extension" do
    told = "p Dir['/proc/*'], File.exist?('/proc/self/stat'), (File.read('/proc/self/stat') rescue $!.class)"
    [WithoutProc.way, :refusal].uniq.each do |way|
      output, = Open3.capture2e(*WithoutProc.ruby("-e", told, way:))
      assert_equal "[]\nfalse\nErrno::ENOENT\n", output, way
    end
    why = "require 'puma_tuner'; puts PumaTuner::Load::Native.why_not, PumaTuner::Probe::GvlClock.why_not, PumaTuner::Predict::Engine.why_not.inspect"
    output, = Open3.capture2e(environment, *WithoutProc.ruby("-e", why))
    assert_match(/\Athe load generator's extension is not there .*\n.*puma_tuner_probe.*\nnil\n\z/, output)
  end

  test "predict, advise and report work from a recording, as they do with all of it" do
    [WithoutProc.way, :refusal].uniq.each do |way|
      assert_match(/461 requests in 2.25 s/, run!("report", "observation.json", way:))
      run!("predict", "observation.json", *QUICK, "--output", "sweep.json", "--html", "sweep.html", way:)
      assert_equal %w[1x1 1x5 2x1 2x3 2x5], Document.read(path("sweep.json"), :sweep).forecasts.map { |forecast| forecast.topology.to_s }
      assert_match(/^Advice$/, run!("advise", "observation.json", *QUICK, "--output", "advice.json", way:))
      assert_equal Topology.parse("2x3"), Document.read(path("advice.json"), :advice_list).today
      assert_match(/\A<!DOCTYPE html>/i, File.read(path("sweep.html")))
    end
  end

  test "model works from a recording, requests from a log, and lanes from a recording of them" do
    [WithoutProc.way, :refusal].uniq.each do |way|
      run!("model", "observation.json", "--output", "workload.json", way:)
      assert_equal Document.read(path("observation.json"), :observation).endpoints.map(&:name).sort, Document.read(path("workload.json"), :workload).endpoints.map(&:name).sort
      File.write(path("access.log"), "192.0.2.1 - - [02/Mar/2026:10:00:00 +0000] \"GET /articles/7 HTTP/1.1\" 200 26 \"-\" \"curl/8.5\"\n")
      run!("requests", "--from", "access.log", "--output", "requests.txt", way:)
      assert_match(%r{^ +1 GET /articles/\{\{articles_id\}\}$}, File.read(path("requests.txt")))
      Document.write(Object.new.extend(LaneFixture).lane_comparison, path("lanes.json"))
      assert_match(/puma srv tp 001/, run!("lanes", "lanes.json", way:))
    end
  end

  test "a forecast is the same number for number" do
    run!("predict", "observation.json", *QUICK, "--output", "without.json")
    environment = LockedGems.environment.merge("PUMA_TUNER_CACHE" => path("cache"), "XDG_STATE_HOME" => path("state"))
    out, status = Open3.capture2e(environment, RbConfig.ruby, CommandLine::EXECUTABLE, "predict", "observation.json", *QUICK, "--output", "with.json", chdir: @folder)
    assert status.success?, out
    with, without = %w[with without].map { |name| JSON.parse(File.read(path("#{name}.json"))).fetch("forecasts") }
    assert_equal with, without
  end

  test "compare works from two logs" do
    %w[before after].each_with_index do |name, day|
      lines = Array.new(600) { |second| "192.0.2.1 - - [#{(Time.utc(2026, 3, 2 + day, 10) + second).strftime("%d/%b/%Y:%H:%M:%S +0000")}] \"GET /articles/7 HTTP/1.1\" 200 26 \"-\" \"curl/8.5\" 0.03#{day} 0.03#{day}" }
      File.write(path("#{name}.log"), "#{lines.join("\n")}\n")
    end
    assert_match(%r{GET /articles/:id}, run!("compare", "before.log", "after.log", "--verbose"))
  end

  test "diff works from two profiles, and fleet from a Prometheus" do
    %w[before after].zip([30_000_000, 60_000_000]) { |name, ns| Document.write(Profiles.costs(Profiles.samples({"App#call > Store#find" => ns})), path("#{name}.json")) }
    assert_match(/Store#find/, run!("diff", "before.json", "after.json"))
    FakePrometheus.open(SimulatedAnswers.call) do |fake|
      run!("fleet", "--url", fake.url, "--a", '{yjit="off"}', "--b", '{yjit="on"}', "--window", "2h", "--output", "fleet.json")
    end
    assert_equal "fleet", JSON.parse(File.read(path("fleet.json"))).fetch("kind")
  end

  # On a Mac there is no /proc at all, and no empty folder in its place either.
  test "what can't be done says what it needs: load, calibrate, top, trial, auto, tradeoff, and a proof by CPU" do
    no_server = [3, /a running server is found by what Linux tells of processes in \/proc, which is not here/]
    no_cpu = [2, /CPU per request is what Linux tells of a server's processes in \/proc, which is not here/]
    {%w[load http://127.0.0.1:9 --duration 1] => [3, /the load generator's extension is not there/],
     %w[calibrate] => [3, /what Linux tells of threads in \/proc, which is not here/],
     %w[top] => no_server, %w[trial --threads 3] => no_server, %w[auto] => no_server, %w[tradeoff yjit] => no_cpu,
     %w[prove --topologies 1x1,1x3 --primary cpu_per_request] => no_cpu}.each do |words, (code, pattern)|
      [WithoutProc.way, :refusal].uniq.each do |way|
        result = run_without(*words, way:)
        assert_equal code, result.code, result.err
        assert_match pattern, result.err
        refute_match(/our bug|\.rb:\d+:in/, result.err)
      end
    end
  end

  # Of a command that starts the app's own Puma.
  def environment_of(app)
    {**LockedGems.environment, **app.environment(gemfile: ServedApp::PUMAS.fetch("puma_8_0")), "RUBYLIB" => LIBRARY_PATH,
                                                                                               "PUMA_TUNER_CALLER_PATH" => nil}
  end

  # The command alone is told nothing. Server and generator are processes of their own, and are as they are on Linux.
  test "prove compares what clients saw where nobody tells of processes, neither their CPU nor their memory" do
    ServedApp.open(rackup: ServedApp::WORKING_APP) do |app|
      words = %w[--topologies 1x1,1x3 --path /sleep --connections 3 --rounds 2 --turns 1 --duration 1 --warmup-window 0.25
        --warmup-limit 1 --probe-duration 0 --noise-rounds 0]
      run!("prove", *words, "--output", path("proven.json"), "--", "bundle", "exec", "puma", "-C", File::NULL, "#{app.folder}/config.ru",
        way: :refusal, executable: CommandLine::EXECUTABLE, environment: environment_of(app))
    end
    verdict = Document.read(path("proven.json"), :verdict)
    assert_equal 2, verdict.rounds_count
    assert_operator verdict.comparison("1x3", "throughput").ratio.value, :>, 1.3
    assert_empty verdict.comparisons.map(&:metric) & %w[cpu_per_request pss rss]
  end

  # With both extensions, as Linux' clocks need no /proc; the server is in the same namespace.
  test "measured without /proc, what it would tell is unknown: never 0, and no failure" do
    skip "no namespace can be made here" unless WithoutProc.way == :namespace
    ServedApp.open(rackup: ServedApp::WORKING_APP) do |app|
      run!("measure", "--load", "--path", "/work", "--settings", "none", "--duration", "1", "--warmup", "0.3", "--output", path("measured.json"), "--", "bundle", "exec", "puma", "-C", File::NULL,
        "#{app.folder}/config.ru", executable: CommandLine::EXECUTABLE, environment: environment_of(app))
    end
    observation = Document.read(path("measured.json"), :observation)
    assert_operator observation.budget.cpu_ns, :>, 0
    machine = observation.machine
    assert_equal Etc.nprocessors, machine.cores_count
    assert_equal [nil] * 6, machine.to_h.values_at(:cpu_model, :memory_bytes, :load_average, :cpu_pressure_ratio, :cpu_quota_cores, :memory_limit_bytes)
    assert_equal [nil], observation.threads.map(&:run_queue_wait_ns).uniq
    assert_equal [[nil, nil]], observation.processes.map { |process| [process.rss_bytes, process.pss_bytes] }.uniq
    assert_nil observation.load.taken_ratio
    assert_includes observation.unknown, Unknown.of(:told_by_kernel, :no_proc)
  end
end
