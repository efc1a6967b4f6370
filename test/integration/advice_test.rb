# frozen_string_literal: true

require "test_helper"
require "support/served_app"
require "support/command_line"
require "support/advising"

# Advice about apps on real servers, from the recording to the lines that are to be set.
class AdviceOfAppsTest < TunerTest
  include Advising
  include CommandLine

  time_limit 180

  # A cluster whose threads let go of the GVL again and again.
  RELEASING = <<~RUBY
    PATHS = Array.new(40) { |i| File.join(Dir.pwd, "\#{i}.txt").tap { |path| File.write(path, "x" * 100) } }
    run ->(env) { PATHS.each { |path| File.read(path) && path.hash.to_s * 20 }; [200, {"content-type" => "text/plain"}, [Process.pid.to_s]] }
  RUBY

  test "the lines for a core for each worker bind each worker, and all its threads, to a core of its own" do
    allowed = Probe::Processes.allowed_cores
    advice = ask(Advise::Rules::Affinity, observation: in_force(cluster(2), cores: "0-3"), today: "2x3") { forecast("2x3", 130) }.first
    ServedApp.open(rackup: RELEASING, puma_rb: advice.lines.fetch("config/puma.rb")) do |app|
      port = app.start("-w", "2", "-t", "2:2")
      ServedApp.request(port, "/", clients: 4, each: 5)
      cores = app.worker_pids.map do |pid|
        Dir.glob("/proc/#{pid}/task/*/status").map { |path| File.read(path)[/^Cpus_allowed_list:\s*(\S+)/, 1] }.uniq
      end
      assert_equal [0, 1].map { |index| [allowed[index % allowed.size].to_s] }.sort, cores.sort
    end
  end

  # Two places for five threads.
  STARVED = <<~RUBY
    require "connection_pool"
    POOL = ConnectionPool.new(size: 2, timeout: 20) { Object.new }
    READER, WRITER = IO.pipe
    run ->(env) { POOL.with { READER.wait_readable(0.01) }; [200, {"content-type" => "text/plain"}, ["fine"]] }
  RUBY

  def run_command(app, *words)
    result = puma_tuner(*words, folder: app.folder)
    assert_equal 0, result.code, result.err
    result.out
  end

  test "a pool that starves is named by the command, from a recording to the advice" do
    ServedApp.open(rackup: STARVED) do |app|
      bundle = app.environment(gemfile: ServedApp::RAILS).slice("PATH", "BUNDLE_GEMFILE", "BUNDLE_PATH").map { |pair| pair.join("=") }
      run_command(app, "measure", "--load", "--path", "/", "--connections", "10", "--duration", "2", "--warmup", "1", "--settings", "none",
        "--output", "it.json", "--", "env", *bundle, "bundle", "exec", "puma", "-t", "5:5")
      told = run_command(app, "advise", "it.json", "--seeds", "3", "--simulated-requests", "500", "--threads", "1,5,8", "--output", "advice.json")
      assert_match(/Requests wait for a connection of their pool/, told)
      list = Document.read(File.join(app.folder, "advice.json"), :advice_list)
      assert_includes list.advice.map(&:rule), "starved_pool"
      assert_operator list.recommendation&.topology&.threads_count.to_i, :<=, 5, "it is not answered with threads"
    end
  end

  # Twelve posts, each with comments of its own, in SQLite, which answers in the process.
  POSTS = <<~RUBY
    require "active_record"
    ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: File.join(Dir.pwd, "posts.sqlite3"), max_connections: 5)
    ActiveRecord::Schema.verbose = false
    ActiveRecord::Schema.define { create_table(:posts, if_not_exists: true); create_table(:comments, if_not_exists: true) { |t| t.integer :post_id } }
    class Comment < ActiveRecord::Base; end
    class Post < ActiveRecord::Base; has_many :comments; end
    Post.insert_all!(Array.new(12) { |i| {id: i + 1} }) if Post.count.zero?
    run lambda { |env|
      posts = (env["PATH_INFO"] == "/together") ? Post.includes(:comments) : Post.all
      [200, {"content-type" => "text/plain"}, [posts.sum { |post| post.comments.to_a.size }.to_s]]
    }
  RUBY

  test "queries of one name are counted for each endpoint in every worker, and an N+1 is told of by them" do
    ServedApp.open(rackup: POSTS) do |app|
      command = Host::Command.new(words: %w[bundle exec puma], directory: app.folder, environment: app.environment(gemfile: ServedApp::RAILS))
      Host::ServerProcess.run(command, topology: topology("2x2"), measure: true, meter: true) do |server|
        port = server.url[/\d+\z/].to_i
        %w[/each /together].each { |path| ServedApp.request(port, path, clients: 4, each: 5) }
        collector = Measure::Collector.new(server, command: command.to_s)
        collector.begin_window
        %w[/each /together].each { |path| ServedApp.request(port, path, clients: 4, each: 10) }
        observation = wait_until("all requests") { collector.end_window.then { |one| one if one.requests_count >= 80 } }
        queries = observation.endpoints.to_h { |endpoint| [endpoint.name, endpoint.queries] }
        assert_equal({"GET /each" => {"Comment Load" => 40 * 12, "Post Load" => 40}, "GET /together" => {"Post Load" => 40, "Comment Load" => 40}}.transform_values { |counts| counts.sort.to_h },
          queries.transform_values { |counts| counts.sort.to_h })
        told = ask(Advise::Rules::Queries, observation:, of: Model::WorkloadFit.workload(observation), today: "2x2").first
        assert_equal "GET /each asks the database 13 times", told.title
        assert_includes told.evidence, 'A mean request of GET /each makes the query "Comment Load" 12.0 times.'
      end
    end
  end
end
