# frozen_string_literal: true

require "test_helper"
require "json"
require "support/command_line"
require "support/served_app"

# The verbs, one after the other, on a real app: short loads, as what is asserted is that each hands over to the next.
class CliTest < TunerTest
  include CommandLine

  time_limit 400

  QUICK = %w[--warmup 0.5 --duration 1 --connections 6].freeze

  test "help tells the stages in their order" do
    result = puma_tuner("--help")
    assert_equal 0, result.code
    verbs = result.out.scan(/^  (\w+)\s+.*->/).flatten
    assert_equal %w[measure model predict advise prove report], verbs
  end

  test "version prints the version" do
    assert_equal "puma_tuner #{PumaTuner::VERSION}\n", puma_tuner("--version").out
  end

  test "each stage goes on from the file of the one before" do
    ServedApp.open do |app|
      assert_done puma_tuner("measure", "--load", "--path", "/sleep", *QUICK, folder: app.folder)
      assert_done puma_tuner("model", "tmp/puma_tuner/observation.json", folder: app.folder)
      assert_done puma_tuner("predict", "tmp/puma_tuner/observation.json", "--threads", "1,2", "--workers", "1", folder: app.folder)
      assert_done puma_tuner("advise", "tmp/puma_tuner/observation.json", "--threads", "1..3", "--workers", "1", folder: app.folder)
      %w[observation workload sweep advice].each do |name|
        assert_done puma_tuner("report", "tmp/puma_tuner/#{name}.json", "--format", "json", folder: app.folder)
      end
      assert_done puma_tuner("report", "tmp/puma_tuner/observation.json", "--format", "html", "--output", "observation.html", folder: app.folder)
      assert_match(/\A<!DOCTYPE html>/i, File.read(File.join(app.folder, "observation.html")))
    end
  end

  test "tune measures, predicts, recommends, proves and reports, and writes every value" do
    ServedApp.open do |app|
      result = puma_tuner("tune", "--path", "/sleep", *QUICK, "--trial-duration", "0.5", "--rounds", "2", "--threads", "1..3", "--workers", "1..2",
        "--check", "1x1", "--no-calibrate", "--output", "values.json", "--html", "report.html", "config.ru", folder: app.folder,
        environment: {"XDG_STATE_HOME" => File.join(app.folder, "state")})
      assert_done result
      assert_match(/^puma srv tp \d{3}: cpu: [\d.]+% io: [\d.]+% gc: [\d.]+% gvlwait: [\d.]+%$/, result.out)
      assert_includes result.err, File.join(File.realpath(app.folder), "report.html")
      tuning = PumaTuner::Document.read(File.join(app.folder, "values.json"), :tuning)
      assert_equal 6, tuning.sweep.forecasts.count { |forecast| forecast.topology.threads_count <= 3 }
      assert_equal 2, tuning.verdict.rounds_count
      assert(tuning.verdict.cells.any? { |cell| cell.topology == PumaTuner::Topology.parse("1x1") && cell.error_ratio("throughput") })
      assert_empty processes_in(app.folder)
      assert_checks_kept(tuning, File.join(app.folder, "state/puma_tuner/forecasts.json"))
    end
  end

  # What was measured of what was forecast, for the next forecasts of the same app; where others had the machine, nothing.
  def assert_checks_kept(tuning, path)
    return refute_path_exists(path) if !tuning.verdict.quiet? || tuning.observation.load.disturbed?
    key = PumaTuner::Predict::TrackRecord.app_key(tuning.observation, tuning.workload.endpoints.map(&:name))
    checks = JSON.parse(File.read(path)).fetch("apps").fetch(key)
    assert_nil tuning.sweep.past_error
    assert_equal tuning.verdict.cells.map(&:topology).uniq.size, checks.count { |check| check.fetch("metric") == "throughput" }
  end

  test "responses that are all alike are remarked in an observation" do
    ServedApp.open do |app|
      result = puma_tuner("measure", "--load", "--settings", "none", "--path", "/a,/b,/c", "--warmup", "0.5", "--duration", "1", "config.ru", folder: app.folder)
      assert_done result
      assert_match(/3\s+different\s+paths\s+are all answered with status 200 and 4 bytes/, result.out)
      fields = JSON.parse(File.read(File.join(app.folder, "tmp/puma_tuner/observation.json")))
      assert_equal 1, fields["load"].delete("remarks").size
      assert_empty PumaTuner::Document.parse(JSON.generate(fields), "observation.json", [:observation]).load.remarks
    end
  end

  test "measure sends an open loop, too" do
    ServedApp.open do |app|
      assert_done puma_tuner("measure", "--load", "--settings", "none", "--rate", "40", "--arrivals", "even", "--reuse", "5:5", "--warmup", "0.5", "--duration", "2", "config.ru", folder: app.folder)
      load = PumaTuner::Document.read(File.join(app.folder, "tmp/puma_tuner/observation.json"), :observation).load
      assert_equal ["even", 40, 5], [load.arrivals, load.rate_per_s, load.reuse_count]
      assert_empty load.remarks.grep(/the queue grew/)
      assert_mistake(/add --load/, puma_tuner("measure", "--rate", "40", "config.ru", folder: app.folder))
    end
  end

  test "measure says so where the queue of an open loop grew to its end" do
    ServedApp.open(rackup: "lock = Mutex.new\nrun ->(_) { lock.synchronize { sleep(0.05) }; [200, {}, [\"fine\"]] }\n") do |app|
      result = puma_tuner("measure", "--load", "--settings", "none", "--rate", "60", "--arrivals", "even", "--warmup", "0.3",
        "--duration", "1", "config.ru", folder: app.folder)
      assert_done result
      assert_match(/\d+ of \d+ requests that were due had no response: the queue grew to the end, and a longer load/, result.out.gsub(/\s+/, " "))
    end
  end

  test "in an app's folder tune needs no app named; --output - writes the values to standard output" do
    ServedApp.open do |app|
      result = puma_tuner("tune", *QUICK, "--no-calibrate", "--rounds", "0", "--threads", "1..2", "--workers", "1", "--html", "r.html", "--output", "-", folder: app.folder)
      assert_done result
      assert_equal "tuning", JSON.parse(result.out).fetch("kind")
    end
  end

  test "measure runs around a command until Ctrl-C" do
    ServedApp.open do |app|
      port = TCPServer.open("127.0.0.1", 0) { |server| server.local_address.ip_port }
      err_path = File.join(app.folder, "err.log")
      bundle = app.environment.slice("PATH", "BUNDLE_GEMFILE", "BUNDLE_PATH").map { |pair| pair.join("=") }
      pid = start_puma_tuner("measure", "--", "env", *bundle, "bundle", "exec", "puma", "-b", "tcp://127.0.0.1:#{port}",
        chdir: app.folder, out: File::NULL, err: err_path)
      wait_until("the measurement begins", limit_s: 30) { File.read(err_path).include?("until Ctrl-C") }
      assert_equal [200], ServedApp.request(port, "/sleep").uniq
      Process.kill(:INT, pid)
      assert_equal 0, Process.wait2(pid).last.exitstatus, File.read(err_path)
      observation = PumaTuner::Document.read(File.join(app.folder, "tmp/puma_tuner/observation.json"), :observation)
      assert_equal({"GET /sleep" => 90}, observation.endpoints.to_h { |endpoint| [endpoint.name, endpoint.requests_count] })
      assert_empty processes_in(app.folder)
    end
  end

  def assert_done(result) = assert_equal(0, result.code, result.err)
end
