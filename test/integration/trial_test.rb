# frozen_string_literal: true

require "test_helper"
require "support/served_app"
require "support/command_line"
require "support/namespace"
require "json"

# The command against real clusters under load: what it says, and what it leaves behind however it ends.
class TrialCommandTest < TunerTest
  include CommandLine
  include Namespace

  time_limit 150

  RACKUP = <<~RUBY
    run lambda { |env|
      sleep 0.03 if env["PATH_INFO"] == "/io"
      [200, {"content-type" => "text/plain"}, ["fine"]]
    }
  RUBY

  PUMA_RB = <<~RUBY
    threads 3, 3
    workers 2
    require "puma_tuner/probe"
    PumaTuner.run(interval_s: 1_000, trial: true)
  RUBY

  def serving(puma_rb: PUMA_RB, rackup: RACKUP)
    ServedApp.open(rackup:, puma_rb:) do |app|
      @app = app
      @port = app.start("-w", "2", extra: {"PUMA_TUNER_FORECAST" => "off"})
      @folder = wait_until("the ledgers") { app.ledgers_folder }
      yield
    end
  end

  # @return [Array<Integer>] statuses of all requests that were sent while the block ran
  def under_load(clients: 6)
    stopped = false
    threads = Array.new(clients) do
      Thread.new { [].tap { |statuses| statuses << answer until stopped } }
    end
    threads.each { |thread| thread.report_on_exception = false }
    yield
    stopped = true
    threads.flat_map(&:value)
  ensure
    stopped = true
  end

  # Sends nothing twice, so that what is lost is seen.
  def answer
    Net::HTTP.start("127.0.0.1", @port) do |http|
      http.max_retries = 0
      http.get("/io").code.to_i
    end
  end

  def max_counts
    pids = @app.worker_pids
    Dir["#{@folder}/*.pool"].map { |path| JSON.parse(File.read(path)) }.select { |state| pids.include?(state["pid"]) }
      .map { |state| state.dig("pool", "max_count") }.sort
  end

  def trial(*, way: :puma_tuner, **) = public_send(way, "trial", @app.master_pid.to_s, *, **)

  test "a step that does harm is undone within its own period, with the reason and the exit code 1" do
    serving do
      result = nil
      began_s = monotonic_s
      statuses = under_load(clients: 10) { result = trial("--threads", "1", "--for", "120s", "--journal", "#{@app.folder}/journal") }
      took_s = monotonic_s - began_s
      assert_equal 1, result.code, result.err
      assert_match(/\A1 thread instead of 3: harmful, undone at once/, result.out)
      assert_match(/ended early\s+(its p99 was .* usual|\d+ requests waited for a thread)/, result.unwrapped)
      assert_match(/undone\s+all pools have what is configured/, result.out)
      assert_match(/config\/puma.rb:\s+threads 3, 3/, result.out)
      assert_operator took_s, :<, 30
      assert_equal [200], statuses.uniq
      assert_equal [3, 3], max_counts
      again = puma_tuner("trial", "--replay", "#{@app.folder}/journal")
      assert_equal [0, result.out], [again.code, again.out], again.err
    end
  end

  test "a trial that goes to its end compares both, and leaves what is configured" do
    serving do
      result = nil
      statuses = under_load { result = trial("--threads", "4", "--for", "30s", "--output", "#{@app.folder}/trial.json") }
      assert_equal 0, result.code, result.err
      outcome = PumaTuner::Document.read("#{@app.folder}/trial.json", :trial)
      assert_operator outcome.requests_counts.min, :>, 500
      assert_nil outcome.ended
      assert_equal "p99", outcome.rows.first.name
      assert_equal true, outcome.restored
      assert_equal [3, 3], max_counts
      assert_equal [200], statuses.uniq
    end
  end

  # @yieldparam pid [Integer] of a trial that has begun to act
  def begun
    out, err = %w[out err].map { |name| File.join(@app.folder, name) }
    pid = start_puma_tuner("trial", @app.master_pid.to_s, "--threads", "5", "--for", "100s", out:, err:)
    wait_until("a worker with five threads") { max_counts == [3, 5] }
    yield(pid)
    _, status = Process.wait2(pid)
    [status, File.read(out), File.read(err)]
  end

  test "a controller that is killed leaves the server as it was" do
    serving do
      statuses = under_load do
        status, = begun { |pid| Process.kill(:KILL, pid) }
        assert status.signaled?
        wait_until("what is configured", limit_s: 6) { max_counts == [3, 3] }
      end
      assert_equal [200], statuses.uniq
      assert_equal 0, trial("--threads", "4", "--for", "10s").code, "another trial may begin"
    end
  end

  test "a controller that stands still loses its hold, and nobody else has it meanwhile" do
    serving do
      status, out, = begun do |pid|
        before = File.stat("#{@folder}/resize.order").mtime
        assert_mistake(/another trial of the server \d+ is under way/, trial("--threads", "2", "--for", "10s"))
        assert_operator File.stat("#{@folder}/resize.order").mtime, :>=, before, "the other's order stands"
        Process.kill(:STOP, pid)
        wait_until("what is configured", limit_s: 10) { max_counts == [3, 3] }
        Process.kill(:CONT, pid)
        wait_until("its order again", limit_s: 10) { max_counts == [3, 5] }
        Process.kill(:INT, pid)
      end
      assert_equal 130, status.exitstatus
      assert_match(/ended early\s+it was interrupted/, out)
      assert_equal [3, 3], max_counts
    end
  end

  test "a phased restart ends a trial, and so does a worker that is killed" do
    serving do
      {USR1: -> { @app.master_pid }, KILL: -> { @app.worker_pids.first }}.each do |signal, pid|
        statuses = under_load(clients: 2) do
          status, out, err = begun { Process.kill(signal, pid.call) }
          assert_equal 3, status.exitstatus, err
          assert_match(/ended early\s+processes of the server were replaced meanwhile/, out)
        rescue EOFError, SystemCallError
          flunk "the command itself has no connection to the server"
        end
        wait_until("two workers with what is configured", limit_s: 40) { max_counts == [3, 3] }
        assert_equal [200], statuses.uniq if signal == :USR1
      rescue EOFError, Errno::ECONNRESET
        assert_equal :KILL, signal, "requests of a worker that is killed are lost, and no others"
        wait_until("two workers with what is configured", limit_s: 40) { max_counts == [3, 3] }
      end
    end
  end

  test "a server that ends meanwhile ends the trial" do
    serving do
      status, out, err = begun { @app.stop(limit_s: 3) } # less than it may take to obey
      assert_equal 3, status.exitstatus, err
      assert_match(/ended early\s+(the server ended|processes of the server were replaced)/, out)
      refute_match(/our bug/, err)
    end
  end

  # A server of another user's, in a container: found by its folder, with other process ids inside.
  test "a server in a container is tried from outside, found by its folder" do
    before = in_namespace("mount -t proc proc /proc && mount -t tmpfs none /dev/shm")
    before = [before.first, "--pid", "--fork", *before.drop(1)]
    ServedApp.open(rackup: RACKUP, puma_rb: PUMA_RB) do |app|
      @app, @port = app, app.start("-w", "2", before:)
      server = wait_until("the server") { PumaTuner::Top::Servers.new.all.find { |one| one.folder == File.realpath(app.folder) } }
      @folder = server.directory
      result = nil
      statuses = under_load { result = puma_tuner("trial", app.folder, "--threads", "4", "--for", "30s", "--output", "#{app.folder}/trial.json", "--journal", "#{app.folder}/journal") }
      assert_equal 0, result.code, result.err
      outcome = PumaTuner::Document.read("#{app.folder}/trial.json", :trial)
      assert_equal [nil, true, server.pid], [outcome.ended, outcome.restored, outcome.server_pid]
      assert_operator outcome.requests_counts.min, :>, 200
      assert_equal [200], statuses.uniq
      readings = PumaTuner::Trial::Journal.read("#{app.folder}/journal").readings
      assert(readings.flat_map(&:workers).all? { |worker| worker.memory_bytes.to_i > 1 << 20 }, "memory of the workers, not of whoever has their ids here")
      refute_includes PumaTuner::Probe::Processes.tree_of(server.pid), readings.last.workers.first.pid
    end
  end

  test "what can't be tried is said before anything is changed" do
    rackup = <<~RUBY
      module ActiveRecord
        Pool = Struct.new(:size)
        class Base
          def self.connection_handler = Class.new { def self.connection_pool_list(_role) = [Pool.new(5), Pool.new(4)] }
        end
      end
      #{RACKUP}
    RUBY
    way = :puma_tuner_in_fork
    serving(rackup:, puma_rb: PUMA_RB.sub("trial: true", "tune: 1..6")) do
      assert_mistake(/a process has 4 database connections/, trial("--threads", "5", way:))
      assert_mistake(/allows 1 to 6 threads/, trial("--threads", "7", way:))
      assert_mistake(/that is what is configured/, trial("--threads", "3", way:))
      assert_mistake(/name the number of threads/, trial(way:))
      assert_mistake(/whole number from 1/, trial("--threads", "0", way:))
      stranger = Process.spawn("sleep", "60")
      assert_mistake(/no server that is recorded belongs to #{stranger}/, puma_tuner_in_fork("trial", stranger.to_s, "--threads", "4"))
      Process.kill(:KILL, stranger) && Process.wait(stranger)
      assert_mistake(/x is neither a process id nor a folder/, puma_tuner_in_fork("trial", "x", "--threads", "4"))
      assert_equal [3, 3], max_counts
      refute File.exist?(File.join(@folder, "resize.order"))
    end
    serving(puma_rb: PUMA_RB.sub(", trial: true", "")) do
      assert_mistake(/does not allow it, or is still booting. Start it with `PumaTuner.run\(trial: true\)`/, trial("--threads", "4", way:))
    end
  end
end
