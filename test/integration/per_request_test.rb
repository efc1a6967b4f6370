# frozen_string_literal: true

require "test_helper"
require "net/http"
require "tmpdir"

# What a request costs, held against a Puma that counts itself what it has served: all that the server worked for is in both
# sums, also what was under way when the load ended.
class PerRequestTest < TunerTest
  include PumaTuner

  WORK_MS = 20
  OBJECTS_COUNT = 20_000

  # That a server answers what it is asked for a reading takes CPU, too: some milliseconds.
  READING_NS = 5_000_000

  # Each request takes so much CPU and makes so many objects, however many there are at once.
  RACKUP = <<~RUBY
    served_count = cpu_ns = 0
    lock = Mutex.new
    now_ns = -> { Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond) }
    run lambda { |env|
      next [200, {}, ["\#{served_count} \#{cpu_ns}"]] if env["PATH_INFO"] == "/served"
      began_ns = now_ns.call
      #{OBJECTS_COUNT}.times { Object.new }
      nil while now_ns.call - began_ns < #{WORK_MS * 1_000_000}
      lock.synchronize { served_count += 1 and cpu_ns += now_ns.call - began_ns }
      [200, {}, ["done"]]
    }
  RUBY

  time_limit 120

  def serve
    Dir.mktmpdir("puma_tuner-test") do |folder|
      File.write(File.join(folder, "config.ru"), RACKUP)
      command = Host::Command.of_rackup(File.join(folder, "config.ru"))
      Host::ServerProcess.run(command, topology: Topology.parse("1x3"), meter: true) { |server| yield server, command }
    end
  end

  # Puma's own part of a request, up to a millisecond on a busy machine, and what a reading takes.
  def tolerance_ns(requests_count) = WORK_MS * 1_000_000 * 0.05 + READING_NS.fdiv(requests_count)

  # @return [Array(Integer, Integer)] requests, and nanoseconds of CPU in them
  def served(server) = Net::HTTP.get(URI("#{server.url}/served")).split.map(&:to_i)

  def traffic(connections_count)
    Load::Traffic.new(mix: Load::Mix.of_paths(["/"]), generator: Load::Native.new, connections_count:, seed: 1, arrivals: Load::Arrivals.closed)
  end

  # @return [Array] the outcome, what was spent by the kernel's and Ruby's counts, and requests and CPU by the app's own
  def measured(server, meter, connections_count, duration_s)
    own_before = served(server)
    before = Host::Readings.take(server, meter)
    outcome = traffic(connections_count).send_to(server.url, duration_s:)
    spent = Host::Readings.take(server, meter) - before
    [outcome, spent, *served(server).zip(own_before).map { |after, earlier| after - earlier }]
  end

  test "what was spent is divided by all that the server worked for, whatever connections and duration" do
    serve do |server|
      meter = Host::SignalQuery.new(server.directory)
      measured(server, meter, 1, 0.2) # the first requests are dearer
      [1, 5, 20, 50].product([0.1, 1]).each do |connections_count, duration_s|
        outcome, spent, served_count, app_cpu_ns = measured(server, meter, connections_count, duration_s)
        said = "#{connections_count} connections for #{duration_s} s"
        assert_nil outcome.complaint unless outcome.counted_count.zero?
        assert_equal [served_count] * 2, [outcome.requests_count, outcome.statuses.values.sum], said
        assert_operator outcome.drained_count, :>, 0, said if connections_count > 1
        assert_equal outcome.in_time_count, outcome.requests_count - outcome.drained_count, said
        assert_operator outcome.counted_count, :<, outcome.in_time_count, said
        assert_in_delta app_cpu_ns.fdiv(served_count), (spent.cpu_ns - READING_NS).fdiv(outcome.requests_count), tolerance_ns(served_count), said
        assert_in_delta OBJECTS_COUNT, spent.allocated_count.fdiv(outcome.requests_count), OBJECTS_COUNT * 0.02, said
      end
    end
  end

  test "a trial's figures per request are the app's own" do
    serve do |_, command|
      ready = Prove::Preparation::Ready.new(command:, topology: Topology.parse("1x3"), puma_options: {}, other_server: false, facts: {})
      times = Prove::TrialRunner::Times.new(warmup_window_s: 0.1, warmup_limit_s: 0.2, duration_s: 1.5, turns_count: 1, probe_s: 0, boot_limit_s: 30)
      runner = Prove::TrialRunner.new(preparation: ->(_) { ready }, traffic: traffic(20), times:)
      trial, = runner.together([Prove::Variant.new(name: "it", factors: {})], round: 0)
      assert_nil trial.void
      assert_equal runner.outcomes.fetch("it").counted_count, trial.requests_count
      assert_in_delta WORK_MS * 1_000_000, trial.values.fetch("cpu_per_request"), tolerance_ns(trial.requests_count)
      assert_in_delta OBJECTS_COUNT, trial.values.fetch("allocations_per_request"), OBJECTS_COUNT * 0.02
      # The first window has the first requests in it, which are dearer.
      trial.warmup.cpu_per_request_ns.drop(1).each { |ns| assert_in_delta WORK_MS * 1_000_000, ns, WORK_MS * 1_000_000 * 0.2 }
    end
  end
end
