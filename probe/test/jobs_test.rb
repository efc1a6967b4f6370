# frozen_string_literal: true

require "test_helper"
require "time"
require "support/served_app"
require "support/watched_script"

# Work that is no request, in a process without Puma.
class JobsTest < TunerTest
  test "a job is recorded under its name, with its budget" do
    snapshot = WatchedScript.snapshot(<<~RUBY)
      2.times { PumaTuner.measure("report") { sleep 0.02 } }
      exit!(1) unless PumaTuner.measure("mail") { 7 } == 7
    RUBY
    assert_equal({"report" => 2, "mail" => 1}, snapshot.jobs.to_h { |job| [job.name, job.requests_count] })
    assert_operator snapshot.jobs.find { |job| job.name == "report" }.budget.sleep_ns, :>=, 39_600_000
    assert_empty snapshot.endpoints
    assert_nil snapshot.topology
  end

  test "a clock that is set meanwhile changes no duration" do
    began_s = monotonic_s
    snapshot = WatchedScript.snapshot(<<~RUBY)
      PumaTuner.measure("job") { sleep 0.02 }
      Time.singleton_class.prepend(Module.new { def now = super + 3_600 })
    RUBY
    assert_includes 20_000_000..((monotonic_s - began_s) * 1e9), snapshot.duration_ns
    # By the clock as it was set.
    assert_in_delta Time.now + 3_600, Time.iso8601(snapshot.started_at), 600
  end

  test "a job within a job is part of it" do
    snapshot = WatchedScript.snapshot('PumaTuner.measure("outer") { PumaTuner.measure("inner") { sleep 0.01 } }')
    assert_equal ["outer"], snapshot.jobs.map(&:name)
  end

  test "a job that fails is recorded, and its error goes on" do
    snapshot = WatchedScript.snapshot(<<~RUBY)
      begin
        PumaTuner.measure("broken") { raise ArgumentError, "no" }
      rescue ArgumentError => error
        exit!(1) unless error.message == "no"
      end
    RUBY
    assert_equal 1, snapshot.jobs.first.requests_count
  end

  test "an app that names each job on its own has 200 of them kept apart" do
    snapshot = WatchedScript.snapshot("250.times { |number| PumaTuner.measure(\"import \#{number}\") { 1 } }")
    counts = snapshot.jobs.to_h { |job| [job.name, job.requests_count] }
    assert_equal [201, 50, 1], [counts.size, counts["(other)"], counts["import 199"]]
  end

  test "jobs that begin in many threads at once are those of one process" do
    snapshot = WatchedScript.snapshot(<<~RUBY)
      ready = Queue.new
      threads = Array.new(10) { |number| Thread.new { ready.pop; PumaTuner.measure("job") { sleep 0.01 } } }
      10.times { ready << true }
      threads.each(&:join)
    RUBY
    assert_equal [["job", 10]], snapshot.jobs.map { |job| [job.name, job.requests_count] }
    assert_equal 1, snapshot.processes.size
  end

  test "Active Job's jobs are measured under their class" do
    snapshot = WatchedScript.snapshot(<<~RUBY, gemfile: WatchedScript::LIBRARIES)
      require "active_job"
      require "puma_tuner/jobs"
      ActiveJob::Base.logger = nil
      PumaTuner::Jobs.install
      class Report < ActiveJob::Base
        def perform(seconds) = sleep(seconds)
      end
      3.times { Report.perform_now(0.01) }
    RUBY
    assert_equal [["Report", 3]], snapshot.jobs.map { |job| [job.name, job.requests_count] }
  end

  test "Sidekiq's jobs are measured under their class, those of Active Job under theirs" do
    snapshot = WatchedScript.snapshot(<<~RUBY, gemfile: WatchedScript::LIBRARIES)
      require "sidekiq"
      require "sidekiq/cli" # what Sidekiq's own process loads: configure_server does nothing elsewhere
      PumaTuner::Jobs.install
      chain = Sidekiq.default_configuration.server_middleware
      chain.invoke(nil, {"class" => "Mail"}, "default") { sleep 0.01 }
      chain.invoke(nil, {"class" => "Sidekiq::ActiveJob::Wrapper", "wrapped" => "Invoice"}, "default") { sleep 0.01 }
    RUBY
    assert_equal %w[Invoice Mail], snapshot.jobs.map(&:name).sort
  end

  # As Sidekiq's wiki has it, but for `run`, which needs a Redis: each worker configures one of its own as it boots, and
  # a thread of it works before the server serves.
  EMBEDDED = <<~RUBY
    workers 2
    threads 3, 3
    preload_app!
    require "sidekiq"
    require "puma_tuner/probe"
    PumaTuner.run
    before_worker_boot do
      Sidekiq.configure_embed do |config|
        chain = config.default_capsule.server_middleware
        Thread.new { chain.invoke(nil, {"class" => "Mail"}, "default") { sleep 0.01 } }.join
      end
    end
  RUBY

  test "jobs of a Sidekiq that each worker of a Puma runs inside of it are measured" do
    ServedApp.open(puma_rb: EMBEDDED) do |app|
      gems = {"puma" => "8.0.2", "rack" => "3.2.8", "sidekiq" => "8.1.7"}.map { |name, version| "gem #{name.dump}, #{version.dump}" }
      File.write(gemfile = File.join(app.folder, "Gemfile"), ["source Gem.sources.to_a.first", *gems].join("\n"))
      app.start("-w", "2", gemfile:)
      ledgers = PumaTuner::Probe::Ledgers.new(app.ledgers_folder).read.values
      assert_equal [1, 1], ledgers.map { |ledger| ledger.entries[[:job, "Mail"]]&.counts&.first }
      assert_equal [[0, 3], [1, 3]], ledgers.map { |ledger| ledger.facts.values_at("worker_index", "threads_count") }.sort
    end
  end
end
