# frozen_string_literal: true

require "test_helper"
require "support/served_app"
require "support/command_line"
require "json"

# `auto` before a real cluster whose requests wait: what it says, does, and undoes.
class AutoCommandTest < TunerTest
  include CommandLine

  time_limit 200

  RACKUP = <<~RUBY
    run lambda { |env|
      sleep 0.03 if env["PATH_INFO"] == "/io"
      if env["PATH_INFO"] == "/pool"
        (Thread.main[:at_once] ||= Queue.new) << 1
        crowd = Thread.main[:at_once].size
        sleep((crowd > 2) ? 0.2 : 0.02)
        Thread.main[:at_once].pop
      end
      [200, {"content-type" => "text/plain"}, ["fine"]]
    }
  RUBY

  PUMA_RB = <<~RUBY
    threads 2, 2
    workers 2
    require "puma_tuner/probe"
    PumaTuner.run(interval_s: 1_000, tune: 1..6)
  RUBY

  def serving(puma_rb: PUMA_RB)
    ServedApp.open(rackup: RACKUP, puma_rb:) do |app|
      @app = app
      @port = app.start("-w", "2", extra: {"PUMA_TUNER_FORECAST" => "off"})
      @folder = wait_until("the ledgers") { app.ledgers_folder }
      wait_until("two workers") { max_counts.size == 2 }
      yield
    end
  end

  def max_counts
    Dir["#{@folder}/*.pool"].map { |path| JSON.parse(File.read(path)) }.select { |state| @app.worker_pids.include?(state["pid"]) }
      .filter_map { |state| state.dig("pool", "max_count") }.sort
  end

  def under_load(path, clients: 12)
    stopped = false
    threads = Array.new(clients) do
      Thread.new { [].tap { |statuses| Net::HTTP.start("127.0.0.1", @port) { |http| 25.times { statuses << http.get(path).code.to_i } } until stopped } }
    end
    yield
  ensure
    stopped = true
    assert_equal [200], threads.flat_map(&:value).uniq, "no request is lost"
  end

  # @yieldparam out [#call] lines so far
  def auto(*words)
    out, err = %w[out err].map { |name| File.join(@app.folder, name) }
    pid = start_puma_tuner("auto", @app.master_pid.to_s, "--cool-down", "10s", *words, out:, err:)
    begin
      yield -> { File.readlines(out, chomp: true) }
    rescue Minitest::Assertion => failure
      flunk "#{failure.message}; it said:\n#{File.read(out)}#{File.read(err)}"
    end
    Process.kill(:INT, pid)
    _, status = Process.wait2(pid)
    assert_equal 130, status.exitstatus, File.read(err)
    wait_until("what is configured", limit_s: 10) { max_counts == [2, 2] }
    File.read(out)
  end

  test "by itself it says what it would do, and changes nothing" do
    serving do
      under_load("/io") do
        said = auto { |lines| wait_until("a step", limit_s: 90) { lines.call.any?(/it would go to 3 threads: [3-6] threads, with a throughput of/) && assert_equal([2, 2], max_counts) } }
        assert_match(/It ended with 2 threads\. All processes/, said, "nothing is to be kept")
      end
    end
  end

  test "it goes up where requests wait, a thread at a time, says why, and gives all back when it ends" do
    serving do
      journal, said = File.join(@app.folder, "journal"), nil
      under_load("/io") do
        said = auto("--act", "auto", "--journal", journal) { wait_until("four threads in both", limit_s: 150) { max_counts == [4, 4] } }
        assert_match(/3 threads from now on, as one worker did well with it \(forecast: a throughput of/, said)
        assert_match(/To keep them: threads 4, 4 in config\/puma.rb/, said)
      end
      replayed = puma_tuner("auto", "--replay", journal)
      assert_equal 0, replayed.code, replayed.err
      assert_equal said.lines.grep_v(/\AIt ended with/).join, replayed.out
      assert_match(/ s: 3 threads from now on/, replayed.out)
    end
  end

  test "a step that does harm on one worker is undone within the cool-down, and not tried again soon" do
    serving do
      under_load("/pool", clients: 14) do
        said = auto("--act", "auto") { |lines| wait_until("a step undone", limit_s: 120) { lines.call.any?(/3 threads are undone: (its p99 was|\d+ requests waited)/) } && wait_until("a word", limit_s: 60) { lines.call.last.include?("were tried before") } }
        assert_match(/It ended with 2 threads\. All processes/, said)
      end
    end
  end

  test "a server that allows trials alone is tried, and not tuned" do
    serving(puma_rb: PUMA_RB.sub("tune: 1..6", "trial: true")) do
      result = puma_tuner("auto", @app.master_pid.to_s, "--act", "auto")
      assert_mistake(/start it with `PumaTuner.run\(tune: 1..8\)`/, result)
      assert_mistake(/write one of observe, trial, auto/, puma_tuner("auto", "--act", "yes"))
      journal = File.join(@app.folder, "journal").tap { |path| File.write(path, "what was tried\n") }
      assert_mistake(/journal is there already; name another file/, puma_tuner("auto", @app.master_pid.to_s, "--journal", journal))
      assert_equal "what was tried\n", File.read(journal)
    end
  end
end
