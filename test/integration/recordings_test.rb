# frozen_string_literal: true

require "test_helper"
require "support/served_app"
require "support/command_line"

# `puma_tuner measure --load` as its user meets it: today's settings, and others beside them, each in a server of its own.
class RecordingsIntegrationTest < TunerTest
  include CommandLine

  SHORT = %w[--load --path /work,/sleep --duration 1 --warmup 0.3 --connections 4].freeze

  # Leaves a byte for each request in a file of the process that served it; with WORKERS=no it does not load in a cluster.
  RACKUP = <<~RUBY
    raise "one process only" if ENV["WORKERS"] == "no" && Puma.cli_config.options[:workers].to_i > 1
    run lambda { |env|
      File.write("served-\#{Process.pid}", ".", mode: "a")
      (env["PATH_INFO"] == "/work") ? 2_000.times { |i| i.to_s } : sleep(0.005)
      [200, {"content-type" => "text/plain"}, ["fine"]]
    }
  RUBY

  def measure(app, *words, **environment) = puma_tuner("measure", *SHORT, *words, "config.ru", folder: app.folder, environment: environment.transform_keys(&:to_s))

  def observation(app) = PumaTuner::Document.read(File.join(app.folder, "tmp/puma_tuner/observation.json"), :observation)

  def served_count(app, pid) = File.size?(File.join(app.folder, "served-#{pid}")).to_i

  test "the app is recorded at today's settings and at others, and really serves there" do
    ServedApp.open(rackup: RACKUP, puma_rb: "threads 3, 3\n") do |app|
      result = measure(app, "--settings", "1x1,2x2", "--html", "report.html")
      assert_equal 0, result.code, result.err
      today = observation(app)
      assert_equal ["1x3", %w[1x1 2x2]], [today.topology.to_s, today.companions.map { |companion| companion.topology.to_s }]
      [[today, 1, 3], [today.companions.first, 1, 1], [today.companions.last, 2, 4]].each { |recorded, *counts| assert_served(app, recorded, *counts) }
      pids = [today, *today.companions].flat_map { |recorded| recorded.processes.map(&:pid) }
      assert_equal pids.uniq, pids
      part_load = today.part_load.load
      assert_in_epsilon today.load.throughput_per_s / 2, part_load.rate_per_s, 0.001
      assert_equal ["poisson", pids.first], [part_load.arrivals, today.part_load.processes.first.pid], "the server that served today's load is not the one under part load"
      line = "Recorded at 1x3, then under #{PumaTuner::Units.rate(part_load.rate_per_s)}/s, and briefly at 1x1 and 2x2"
      assert_includes result.unwrapped, line
      html = File.read(File.join(app.folder, "report.html"))
      assert_includes html, line
      assert PumaTuner::Document.dump(today).include?(%("steps")), "no requests are recorded"
      refute html.include?(%("steps")), "recorded requests are in the page"
      assert_includes PumaTuner::Report.render(today, format: :markdown), line
      assert_match(/2x2: it is (warm|not steady yet)/, result.err)
      assert_empty processes_in(app.folder)
    end
  end

  def assert_served(app, recorded, processes_count, threads_count)
    serving = recorded.processes.reject { |process| process.role == "master" }
    assert_equal [processes_count, threads_count], [serving.size, recorded.threads.size]
    assert_equal ["GET /sleep", "GET /work"], recorded.endpoints.map(&:name).sort
    assert_equal 4, recorded.load.connections_count
    serving.each { |process| assert_operator served_count(app, process.pid), :>=, process.requests_count }
    assert_operator serving.sum(&:requests_count), :>=, 6
  end

  test "settings at which the app does not boot are left out, with the reason" do
    ServedApp.open(rackup: RACKUP) do |app|
      result = measure(app, "--settings", "2x2,1x1", WORKERS: "no")
      assert_equal 0, result.code, result.err
      assert_equal %w[1x1], observation(app).companions.map { |companion| companion.topology.to_s }
      assert_match(/ended before it served/, observation(app).unknown.find { |unknown| unknown.whose == "2x2" }.detail)
      assert_match(/a recording at 2x2: /, result.unwrapped)
    end
  end

  test "an app that never gets steady is recorded at the limit all the same, and the report says so" do
    rackup = <<~'RUBY'
      number = 0
      run lambda { |_|
        eval("def m#{number += 1} = #{number}; 40.times { m#{number} }")
        sleep(0.002)
        [200, {"content-type" => "text/plain"}, ["fine"]]
      }
    RUBY
    ServedApp.open(rackup:) do |app|
      result = measure(app, "--settings", "none", "--warmup", "0.3", RUBY_YJIT_ENABLE: "1")
      assert_equal 0, result.code, result.err
      assert_match(/was not steady when it was measured: .*compiled code.* had not settled after \d+ windows/, observation(app).load.remarks.first)
      assert_match(/not steady/, result.unwrapped)
      assert_match(/it is not steady yet/, result.err)
    end
  end

  test "an interruption keeps what there is" do
    ServedApp.open(rackup: RACKUP) do |app|
      err = File.join(app.folder, "err.txt")
      pid = start_puma_tuner("measure", *SHORT, "--settings", "1x1,2x1", "config.ru", chdir: app.folder, out: File::NULL, err:)
      wait_until("the second of the others", limit_s: 60) { File.read(err).include?("2x1: the app serves") }
      Process.kill(:INT, pid)
      assert_equal 130, Process.wait2(pid).last.exitstatus, File.read(err)
      assert_equal %w[1x1], observation(app).companions.map { |companion| companion.topology.to_s }
      assert_empty processes_in(app.folder)
    end
  end

  test "recordings that were made apart become one" do
    ServedApp.open(rackup: RACKUP) do |app|
      names = {"today.json" => "threads 3, 3\n", "one.json" => "threads 1, 1\n", "again.json" => "threads 3, 3\n"}
      names.each do |name, puma_rb|
        Dir.mkdir(File.join(app.folder, "config")) unless Dir.exist?(File.join(app.folder, "config"))
        File.write(File.join(app.folder, "config/puma.rb"), puma_rb)
        assert_equal 0, measure(app, "--settings", "none", "--output", name).code
      end
      predict = ->(*files) { puma_tuner("predict", *files, "--threads", "1..2", "--workers", "1", folder: app.folder) }
      assert_equal 0, predict.call("today.json", "one.json").code
      assert_mistake(/two recordings at 1x3/, predict.call("today.json", "again.json"))
    end
  end

  test "--settings needs --load, and names topologies or none" do
    ServedApp.open(rackup: RACKUP) do |app|
      assert_mistake(/--settings is for requests that puma_tuner sends; add --load/, puma_tuner("measure", "--settings", "none", "config.ru", folder: app.folder))
      assert_mistake(/not a topology/, measure(app, "--settings", "one"))
    end
  end
end
