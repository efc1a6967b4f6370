# frozen_string_literal: true

require "test_helper"
require "support/builders"
require "support/served_app"
require "support/command_line"
require "stringio"

# Advice that is written boots, and counts; advice that is proven is measured.
class AdviseProofTest < TunerTest
  include Builders
  include CommandLine

  time_limit 170

  # As Rails writes it, with a condition that nobody can change safely.
  PUMA_RB = <<~RUBY
    threads_count = ENV.fetch("RAILS_MAX_THREADS", 3)
    threads threads_count, threads_count
    port ENV.fetch("PORT", 3000)
    workers 1 if ENV["NOWHERE"]
  RUBY

  def advice(rule, lines)
    text = Statement.of(:told, text: rule)
    Advise::Advice.new(rule:, title: text, evidence: [], topology: nil, throughput_ratio: nil, p50_ratio: nil, p99_ratio: nil,
      change: text, cost: text, undo: text, lines: {"config/puma.rb" => lines})
  end

  # @param app [ServedApp] whose files are written
  def write(app, *advice)
    recorded = observation(topology: topology("1x3")).with(started_at: (Time.now.utc + 60).iso8601)
    CLI::Patching.new(advice, observation: recorded, folder: app.folder, kept: app.folder, out: StringIO.new, err: StringIO.new).write
  end

  test "what is written boots in a real Puma with the advised settings, also what code computes" do
    ServedApp.open(puma_rb: PUMA_RB) do |app|
      write(app, advice("topology", "workers 2\nthreads 4, 4"), advice("preload", "preload_app!\nbefore_worker_boot { } # open here again"),
        advice("keep_alive", "max_keep_alive 20"))
      assert_path_exists File.join(app.folder, "config/puma_tuner.rb")
      port = app.start
      app.wait_for_line(/Worker 1 .*booted/)
      assert_equal [200] * 4, ServedApp.request(port, "/", clients: 2, each: 2)
      printed = app.printed.join("\n")
      assert_equal 2, app.worker_pids.size
      assert_match(/Min threads: 4$.*Max threads: 4$.*Workers: 2$/m, printed)
      assert_match(/Preloading application/, printed)
    end
  end

  SHORT = %w[--threads 1,4 --workers 1 --seeds 3 --simulated-requests 500 --rounds 6 --trial-duration 0.5 --warmup 0.3].freeze

  # A request of /sleep takes 10 ms, of which next to nothing is CPU: four threads serve four times as many.
  test "advice is measured against today's setting, and told beside what was predicted" do
    ServedApp.open(puma_rb: "threads 1, 1\n") do |app|
      environment = {"XDG_STATE_HOME" => File.join(app.folder, "state")}
      recorded = puma_tuner("measure", "--load", "--path", "/sleep", "--connections", "8", "--duration", "1.5", "--warmup", "0.5", "--settings", "none",
        "config.ru", folder: app.folder, environment:)
      assert_equal 0, recorded.code, recorded.err
      result = puma_tuner("advise", "--prove", *SHORT, "--html", "report.html", "config.ru", folder: app.folder, environment:)
      assert_includes [0, 1], result.code, result.err
      assert_match(/to measure against today's setting: .*topology/, result.err)
      assert_match(/6 rounds of \d variants \(about \d+ s left\)/, result.err)
      tuning = Document.read(File.join(app.folder, "tmp/puma_tuner/tuning.json"), :tuning)
      check = tuning.checks.find { |one| one.rule == "topology" }
      assert_equal [:better, "throughput"], [check.measured.outcome, check.measured.metric]
      assert_operator check.measured.ratio.low, :>, 1.5
      assert_match(/Each advice against today\n.*topology +requests\/s +\S+x/m, result.out)
      assert_includes File.read(File.join(app.folder, "report.html")), "Each advice against today"
      assert_equal (tuning.checks.any? { |one| one.measured&.otherwise? }) ? 1 : 0, result.code
      assert_remembered(tuning, File.join(app.folder, "state/puma_tuner/proofs.json"))
      assert_empty processes_in(app.folder)
    end
  end

  # What was disturbed says nothing.
  def assert_remembered(tuning, path)
    return refute_path_exists(path) if !tuning.verdict.quiet? || tuning.observation.load.disturbed?
    key = Predict::TrackRecord.app_key(tuning.observation, tuning.workload.endpoints.map(&:name))
    assert_equal tuning.checks.filter_map(&:measured), Advise::ProofRecord.new(path).of(key)
  end
end
