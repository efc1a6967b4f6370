# frozen_string_literal: true

require "test_helper"
require "support/command_line"
require "support/served_app"

# What bad input gets: one clear message saying what to do, exit code 2, no process left, nothing of the user's changed.
class MistakesTest < TunerTest
  include CommandLine

  # Short, for what must fail before it counts.
  QUICK = %w[--warmup 0.5 --duration 1 --rounds 0 --no-calibrate --html report.html].freeze

  def tune(app, *words, way: :puma_tuner, **options) = public_send(way, "tune", *words, *QUICK, "config.ru", folder: app.folder, **options)

  def assert_nothing_left(app, files: ["config.ru"])
    assert_empty processes_in(app.folder)
    assert_equal files, Dir.children(app.folder).sort
  end

  test "a rackup file that does not load" do
    ServedApp.open(rackup: "raise 'wrong on purpose'") do |app|
      assert_failed(/wrong on purpose/, tune(app))
      assert_nothing_left(app)
    end
  end

  test "a precision that is none, or beside looks, is refused before anything starts" do
    ServedApp.open do |app|
      {"--precision 0" => /write percent above 0/, "--precision 2 --looks 10,20" => /both say when to stop/, "--precision 60" => /from 0 to 50/}.each do |words, message|
        result = puma_tuner("prove", "--topologies", "1x1,1x2", *words.split, "config.ru", folder: app.folder)
        assert_equal 2, result.code, result.err
        assert_match message, result.err
      end
      assert_nothing_left(app)
    end
  end

  # Each word is a command that starts a server, with what it needs beside the app.
  STARTING = [%w[measure --load --settings none], %w[prove --topologies 1x1,1x2], %w[profile], %w[tradeoff yjit], %w[tradeoff malloc], %w[tradeoff gc]].freeze

  test "an app that does not load ends every command that starts it with 3, and says why" do
    ServedApp.open(rackup: "raise 'wrong on purpose'") do |app|
      STARTING.each { |words| assert_failed(/wrong on purpose/, puma_tuner(*words, "config.ru", folder: app.folder)) }
      assert_empty processes_in(app.folder)
    end
  end

  test "an app that answers 500" do
    ServedApp.open do |app|
      assert_failed(/unexpected status.*500/, tune(app, "--path", "/fail"))
      assert_nothing_left(app)
    end
  end

  test "a page that fails is named, and what the server printed is shown" do
    ServedApp.open(rackup: 'run ->(env) { env["rack.errors"].puts("no such table: articles"); [500, {}, []] }') do |app|
      [%w[measure --load --settings none], %w[prove --topologies 1x1,1x2], %w[profile]].each do |words|
        result = puma_tuner(*words, "--path", "/articles/7?token=s3cret", "config.ru", folder: app.folder)
        assert_failed(%r{unexpected status \(500: \d+\), such as GET /articles/:id, 500\..*Its last lines:.*\| no such table: articles}m, result)
        refute_includes result.err, "s3cret"
      end
    end
  end

  # What was once measured is a login's redirect, at hundreds a second.
  test "an app that sends to its login" do
    ServedApp.open(rackup: 'run ->(env) { (env["HTTP_COOKIE"] == "session=1") ? [200, {}, ["issues"]] : [302, {"location" => "/login"}, []] }') do |app|
      long = %w[--duration 600 --warmup 600 --path /issues config.ru]
      [%w[measure --load], %w[tune]].each do |words|
        assert_failed(%r{most responses are redirects to /login \(302\).*session cookie}m, puma_tuner(*words, *long, folder: app.folder))
      end
      assert_nothing_left(app)
      File.write(File.join(app.folder, "requests.txt"), "GET /issues header:Cookie=session=1\n")
      assert_equal 0, puma_tuner("measure", "--load", "--settings", "none", "--requests", "requests.txt", "--duration", "1", "--warmup", "0.5", "config.ru", folder: app.folder).code
    end
  end

  test "a rackup file that is not there" do
    ServedApp.open do |app|
      assert_mistake(/there is no nowhere\.ru/, puma_tuner_in_fork("tune", "nowhere.ru", folder: app.folder))
    end
  end

  test "a command without an app says what to give" do
    assert_mistake(/no app given/, puma_tuner("tune"))
  end

  test "options of requests are refused where none are sent" do
    ServedApp.open do |app|
      [%w[--requests requests.txt], %w[--connections 4], %w[--path /work], %w[--rate 10]].each do |words|
        assert_mistake(/#{words.first} is for requests that puma_tuner sends; add --load/, puma_tuner_in_fork("measure", *words, "config.ru", folder: app.folder))
      end
      assert_nothing_left(app)
    end
  end

  test "a bad line in a request file is named by its number" do
    ServedApp.open do |app|
      requests = File.join(app.folder, "requests.txt")
      File.write(requests, "GET /work\n\nFETCH /sleep\n")
      assert_mistake(/requests\.txt, line 3/, tune(app, "--requests", requests))
      assert_nothing_left(app, files: %w[config.ru requests.txt])
    end
  end

  test "a port in use, when measuring a server on its own address" do
    taken = TCPServer.new("127.0.0.1", 0)
    ServedApp.open do |app|
      bundle = app.environment.slice("PATH", "BUNDLE_GEMFILE", "BUNDLE_PATH").map { |pair| pair.join("=") }
      result = puma_tuner("measure", "--", "env", *bundle, "bundle", "exec", "puma", "-b", "tcp://127.0.0.1:#{taken.local_address.ip_port}",
        folder: app.folder)
      assert_failed(/Another process listens there/, result)
      assert_nothing_left(app)
    end
  ensure
    taken&.close
  end

  test "a Ruby that can't tell whose wait for the GVL it is" do
    old_ruby = "/usr/bin/ruby"
    skip "no Ruby older than 3.3 on this machine" unless File.executable?(old_ruby) && `env -u RUBYOPT #{old_ruby} -e 'print RUBY_VERSION < "3.3"'` == "true"
    ServedApp.open do |app|
      File.write(File.join(app.folder, "serve.rb"), "sleep 30")
      result = puma_tuner("measure", "--", old_ruby, "serve.rb", folder: app.folder)
      assert_failed(/only Ruby 3\.3 and newer/, result)
    end
  end

  test "options that can't be understood are named with what would be" do
    ServedApp.open do |app|
      {
        %w[--threads 8..1] => /--threads 8\.\.1: write a range/, %w[--threads many] => /--threads many/, %w[--workers 0] => /--workers 0/,
        %w[--connections 0] => /--connections 0/, %w[--boot-limit -3] => /--boot-limit -3/, %w[--check 2by3] => /2by3.*WORKERSxTHREADS/,
        %w[--output /nowhere/at/all.json] => %r{cannot write /nowhere}
      }.each { |words, pattern| assert_mistake(pattern, tune(app, *words, way: :puma_tuner_in_fork)) }
      assert_mistake(/no option --no-such-option.*tune --help/, tune(app, "--no-such-option"))
      assert_nothing_left(app)
    end
  end

  test "a document of another kind is refused, and so is one cut short" do
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, "machine.json"), '{"kind":"machine","schema_version":1}')
      assert_mistake(/its kind is "machine"/, puma_tuner("predict", "machine.json", folder:))
      File.write(File.join(folder, "cut.json"), '{"kind":"obser')
      assert_mistake(/cut short/, puma_tuner("advise", "cut.json", folder:))
    end
  end

  test "Ctrl-C half way stops the servers and keeps what was measured" do
    ServedApp.open do |app|
      words = %w[tune --no-calibrate --settings none --warmup 0.5 --duration 1 --trial-duration 20 --threads 1..2 --workers 1 --html report.html --output tuning.json config.ru]
      pid = start_puma_tuner(*words, chdir: app.folder, out: File::NULL, err: [File.join(app.folder, "err.log"), "w"])
      log = File.join(app.folder, "err.log")
      wait_until("the proof begins", limit_s: 40) { File.read(log).include?("round 1") && processes_in(app.folder).size > 1 }
      Process.kill(:INT, pid)
      _, status = Process.wait2(pid)
      assert_equal 130, status.exitstatus
      assert_match(/interrupted; everything it started is stopped/, File.read(log))
      assert_nothing_left(app, files: %w[config.ru err.log report.html tmp tuning.json])
      tuning = PumaTuner::Document.read(File.join(app.folder, "tuning.json"), :tuning)
      assert_equal [0, false], [tuning.verdict.rounds_count, tuning.verdict.complete]
    end
  end

  test "Ctrl-C before there is a forecast keeps what was measured" do
    ServedApp.open do |app|
      # One that nobody can forecast in time: the grid is large.
      words = %w[tune --no-calibrate --settings none --warmup 0.5 --duration 1 --threads 1..200 --workers 1..40 --html report.html config.ru]
      log = File.join(app.folder, "err.log")
      pid = start_puma_tuner(*words, chdir: app.folder, out: File::NULL, err: [log, "w"])
      wait_until("forecasts begin", limit_s: 40) { File.read(log).include?("predict …") }
      Process.kill(:INT, pid)
      assert_equal 130, Process.wait2(pid).last.exitstatus
      assert_match(/the observation is saved.*tmp\/puma_tuner\/interrupted\.json/, File.read(log))
      assert_nothing_left(app, files: %w[config.ru err.log tmp])
      assert_kind_of PumaTuner::Probe::Observation, PumaTuner::Document.read(File.join(app.folder, "tmp/puma_tuner/interrupted.json"))
    end
  end
end
