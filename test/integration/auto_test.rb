# frozen_string_literal: true

require "test_helper"
require "support/served_app"
require "support/command_line"
require "json"

# `auto` before a real cluster whose requests wait: what it says, does, and undoes.
class AutoCommandTest < TunerTest
  include CommandLine

  time_limit 260

  computes! # its clients ask for minutes

  COOL_DOWN_S = 10

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
    preload_app! false
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
    pids = @app.worker_pids
    Dir["#{@folder}/*.pool"].map { |path| JSON.parse(File.read(path)) }.select { |state| pids.include?(state["pid"]) }
      .filter_map { |state| state.dig("pool", "max_count") }.sort
  end

  # Each client sends so many requests over a connection, and none of them twice.
  def under_load(path, clients: 12, each: 25, lost: [])
    stopped = false
    threads = Array.new(clients) do
      Thread.new { [].tap { |statuses| statuses.concat(answered(path, each)) until stopped } }
    end
    yield
  ensure
    stopped = true
    assert_equal [200], threads.flat_map(&:value).uniq - lost, "no request is lost"
  end

  # @return [Array<Integer, Class>] statuses; the class of what went wrong
  def answered(path, count)
    statuses = []
    Net::HTTP.start("127.0.0.1", @port) do |http|
      http.max_retries = 0
      count.times { statuses << http.get(path).code.to_i }
    end
    statuses
  rescue SystemCallError, IOError => error
    statuses << error.class
  end

  # @param signal [Symbol] that ends it
  # @yieldparam out [#call] lines so far
  def auto(*words, signal: :INT)
    out, err = %w[out err].map { |name| File.join(@app.folder, name) }
    pid = start_puma_tuner("auto", @app.master_pid.to_s, "--cool-down", "#{COOL_DOWN_S}s", *words, out:, err:)
    begin
      yield -> { File.readlines(out, chomp: true) }
    rescue Minitest::Assertion => failure
      flunk "#{failure.message}; it said:\n#{File.read(out)}#{File.read(err)}"
    end
    Process.kill(signal, pid)
    _, status = Process.wait2(pid)
    assert_includes [130, nil], status.exitstatus, File.read(err)
    assert_equal signal == :KILL, status.signaled?
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
        assert_match(/3 threads from now on, as they did no harm to one worker \(forecast: a throughput of/, said)
        assert_match(/3 threads stay, as they did no harm to all workers, either/, said)
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
        said = auto("--act", "auto") do |lines|
          wait_until("a worker with three threads", limit_s: 120) { max_counts == [2, 3] }
          began_s = monotonic_s
          wait_until("what is configured", limit_s: COOL_DOWN_S) { max_counts == [2, 2] }
          assert_operator monotonic_s - began_s, :<, COOL_DOWN_S - 1, "before the trial would have ended"
          wait_until("the reason") { lines.call.any?(/3 threads are undone: (its p99 was|\d+ requests waited)/) }
          wait_until("a word", limit_s: 90) { lines.call.last.include?("were tried before") }
        end
        assert_match(/It ended with 2 threads\. All processes/, said)
      end
    end
  end

  # Up to three threads, so that there is nothing else to try then.
  #
  # @yieldparam lines [#call]
  # @return [String] what it said
  def with_three_threads(path = "/io", signal: :INT, **, &)
    said = nil
    serving(puma_rb: PUMA_RB.sub("1..6", "1..3")) do
      under_load(path, **) do
        said = auto("--act", "auto", signal:) do |lines|
          wait_until("three threads, and their watch", limit_s: 150) { max_counts == [3, 3] && lines.call.any?(/3 threads stay/) }
          yield(lines)
        end
      end
    end
    said
  end

  test "a controller that is killed leaves what is configured, loses no request, and was the only one" do
    with_three_threads(signal: :KILL) do
      assert_mistake(/another trial of the server \d+ is under way/, puma_tuner("auto", @app.master_pid.to_s, "--act", "auto"))
      assert_mistake(/another trial of the server \d+ is under way/, puma_tuner("trial", @app.master_pid.to_s, "--threads", "1", "--for", "10s"))
      assert_equal [3, 3], max_counts
    end
  end

  test "a worker that is killed has what is configured, and after a rest the number of the others" do
    lost = [EOFError, Errno::ECONNRESET, Errno::EPIPE, Errno::ECONNREFUSED]
    said = with_three_threads(lost:) do
      Process.kill(:KILL, @app.worker_pids.first)
      wait_until("a new worker") { max_counts == [2, 3] }
      began_s = monotonic_s
      wait_until("three threads in it, too", limit_s: 90) { max_counts == [3, 3] }
      assert_operator monotonic_s - began_s, :>, COOL_DOWN_S - 2
    end
    refute_match(/processes are new/, said)
  end

  test "a phased restart begins with what is configured, loses no request, and is tuned anew" do
    with_three_threads(each: 1) do |lines|
      before = @app.worker_pids
      Process.kill(:USR1, @app.master_pid)
      wait_until("new workers, as configured", limit_s: 60) { (before & @app.worker_pids).empty? && max_counts == [2, 2] }
      wait_until("word of it", limit_s: 90) { lines.call.any?(/nothing, as 2 of 2 processes are new; all have what is configured/) }
      assert_equal [2, 2], max_counts
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
