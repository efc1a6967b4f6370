# frozen_string_literal: true

require "test_helper"
require "support/served_app"

# The ways in that the app's owner writes down: PumaTuner.run, the plugin, the middleware; in single mode and in a
# cluster, on each Puma.
class WaysInTest < TunerTest
  THREAD_LINE = /\A(?:worker \d )?puma srv tp \d{3}: cpu: \d+\.\d% io: \d+\.\d% gc: \d+\.\d% gvlwait: \d+\.\d%\z/
  RECOMMENDATION = /\ARecommended config: puma -t 1:\d+(?: -w \d+)?\z/

  RUN_AT_THE_END = <<~RUBY
    threads 3, 3
    require "puma_tuner/probe"
    PumaTuner.run(interval_s: 0.5)
  RUBY

  RUN_BEFORE_FORK = <<~RUBY
    threads 3, 3
    workers 2
    silence_single_worker_warning
    before_fork do
      require "puma_tuner/probe"
      PumaTuner.run(interval_s: 0.5)
    end
  RUBY

  PLUGIN = <<~RUBY
    threads 3, 3
    plugin :puma_tuner
  RUBY

  def setup
    flunk "gemfiles/ are not installed; run bin/setup --test" if ServedApp::PUMAS.empty?
  end

  # @param whole [Boolean] whether to its end, or to its first recommendation at least
  # @return [Array<String>] all that the server printed
  def output_of(puma_rb: nil, rackup: ServedApp::WORKING_APP, gemfile: ServedApp::PUMAS.fetch("puma_8_0"), options: [], extra: {}, whole: false)
    ServedApp.open(rackup:, puma_rb: whole ? puma_rb + ServedApp::STOPPING : puma_rb) do |app|
      port = app.start(*options, gemfile:, extra:)
      assert_equal [200], ServedApp.request(port, "/work").uniq
      app.wait_for_line(RECOMMENDATION)
      whole ? app.stop : app.printed
    end
  end

  def with_control_server(gemfile, *options)
    ServedApp.open(puma_rb: "#{PLUGIN}activate_control_app 'tcp://127.0.0.1:0', {no_token: true}\n") do |app|
      app.start(*options, gemfile:)
      yield app
    end
  end

  def ledgers_of(app) = app.ledgers_folder.then { |folder| folder ? PumaTuner::Probe::Ledgers.new(folder).read.values : [] }

  def assert_lines(output, threads: 3)
    lines = output.grep(/puma srv tp/)
    refute_empty lines
    lines.each { |line| assert_match THREAD_LINE, line }
    assert_operator lines.map { |line| line[/tp \d+/] }.uniq.size, :<=, threads
    output.grep(/Recommended/).each { |line| assert_match RECOMMENDATION, line }
  end

  ServedApp::PUMAS.each do |name, gemfile|
    test "PumaTuner.run at the end of puma.rb prints its lines in single mode on #{name}" do
      assert_lines(output_of(puma_rb: RUN_AT_THE_END, gemfile:))
    end

    test "PumaTuner.run in before_fork prints its lines in cluster mode on #{name}" do
      assert_lines(output_of(puma_rb: RUN_BEFORE_FORK, gemfile:, options: ["-w", "2"]))
    end

    test "the app's server is watched, and not the one that pumactl asks, on #{name}" do
      with_control_server(gemfile) do |app|
        ledger = wait_until("a ledger") { ledgers_of(app).first }
        assert_equal [app.master_pid, 3], [ledger.pid, ledger.facts["threads_count"]]
      end
      with_control_server(gemfile, "-w", "2") do |app|
        wait_until("the workers' ledgers") { ledgers_of(app).size >= 2 }
        assert_equal app.worker_pids.sort, ledgers_of(app).map(&:pid).sort
      end
    end

    test "workers are told apart whatever title an app gives them, on #{name}" do
      hook = "send(respond_to?(:before_worker_boot) ? :before_worker_boot : :on_worker_boot) { $0 = 'shop' }\n"
      [PLUGIN, RUN_BEFORE_FORK].each do |way_in|
        ServedApp.open(puma_rb: "#{way_in}#{hook}") do |app|
          app.start("-w", "2", gemfile:)
          ledgers = wait_until("the workers' ledgers") { ledgers_of(app).then { |all| all if all.size >= 2 } }
          assert_equal [0, 1], ledgers.map { |ledger| ledger.facts["worker_index"] }.sort
        end
      end
    end

    test "the plugin prints its lines on #{name}" do
      assert_lines(output_of(puma_rb: PLUGIN, gemfile:, extra: {"PUMA_TUNER_INTERVAL_S" => "0.5"}))
    end
  end

  test "PumaTuner.run in config.ru prints its lines" do
    rackup = "require 'puma_tuner/probe'\nPumaTuner.run(interval_s: 0.5)\n#{ServedApp::WORKING_APP}"
    assert_lines(output_of(rackup:, options: ["-t", "3:3"]))
  end

  test "PumaTuner.run in config.ru prints the lines of a cluster's workers, whichever has loaded it" do
    rackup = "require 'puma_tuner/probe'\nPumaTuner.run(interval_s: 0.5)\n#{ServedApp::WORKING_APP}"
    [[], ["--preload"]].each { |options| assert_lines(output_of(rackup:, options: ["-t", "3:3", "-w", "2", *options])) }
  end

  # @return [Integer] so many threads keep a process of ours beside the server, in the first worker
  def keepers_count(port)
    wait_until("a response of the first worker") do
      Net::HTTP.get(URI("http://127.0.0.1:#{port}/"))[/cluster worker 0:.* (\d+)\z/, 1]&.to_i
    rescue IOError, SystemCallError
      nil # its server is about to start again
    end
  end

  test "PumaTuner.run in config.ru: a worker that others are forked from, again and again, keeps one thread for the forecasts" do
    rackup = <<~'RUBY'
      require "puma_tuner/probe"
      PumaTuner.run(interval_s: 0.5)
      run ->(_) { [200, {"content-type" => "text/plain"}, ["#{$0} #{Thread.list.count { |thread| thread.name == "puma_tuner supervisor" }}"]] }
    RUBY
    ServedApp.open(rackup:, puma_rb: "preload_app! false\nfork_worker 0\nrequire \"puma_tuner/probe\"\n#{ServedApp::STOPPING}") do |app|
      port = app.start("-w", "2")
      assert_equal 1, keepers_count(port)
      2.times do |number|
        Process.kill(:URG, app.master_pid)
        app.wait_for_line(/Worker 1 .*booted in .*phase: #{number + 1}/)
        assert_equal 1, keepers_count(port)
      end
    end
  end

  test "PumaTuner.run at the first request tells from the second on, and breaks none" do
    rackup = <<~RUBY
      require "puma_tuner/probe"
      app = lambda { |env| 20_000.times { |i| i.to_s } && [200, {"content-type" => "text/plain"}, ["fine"]] }
      run lambda { |env| (@begun ||= true.tap { PumaTuner.run(interval_s: 0.5) }) && app.call(env) }
    RUBY
    assert_lines(output_of(rackup:, options: ["-t", "3:3"]))
  end

  # A gem of the bundle's that no other has; its code is that of Ruby's own json.
  OWN_JSON = {
    "json.gemspec" => "Gem::Specification.new('json', '99') { |gem| gem.summary = 'none'; gem.authors = ['none']; gem.files = ['lib/json.rb'] }",
    "lib/json.rb" => "load '#{RbConfig::CONFIG["rubylibdir"]}/json.rb'"
  }.freeze

  # Where the master had loaded another json by then, no worker could have the bundle's.
  test "with prune_bundler each worker has the gems of the app's bundle, and prints its lines" do
    rackup = "Gem.loaded_specs.fetch('json').version.to_s == '99' or raise 'another json'\nrequire 'json'\n#{ServedApp::WORKING_APP}"
    Dir.mktmpdir do |folder|
      OWN_JSON.each { |name, text| FileUtils.mkdir_p(File.dirname("#{folder}/#{name}")) && File.write("#{folder}/#{name}", text) }
      File.write(gemfile = "#{folder}/Gemfile", "#{File.read(ServedApp::PUMAS.fetch("puma_8_0"))}gem 'json', path: '.'\n")
      assert_lines(output_of(rackup:, puma_rb: "prune_bundler\n#{RUN_AT_THE_END}PumaTuner.export(nil)", gemfile:, options: ["-w", "2"]))
    end
  end

  test "work that is measured while the app is loaded does not keep the server from being watched" do
    rackup = "require 'puma_tuner/probe'\nPumaTuner.measure('warm up') { 1 + 1 }\n#{ServedApp::WORKING_APP}"
    assert_lines(output_of(rackup:, puma_rb: PLUGIN, extra: {"PUMA_TUNER_INTERVAL_S" => "0.5"}))
  end

  test "the Railtie prints a Rails app's lines, and the route is the endpoint" do
    rackup = <<~RUBY
      require "rails"
      require "action_controller/railtie"
      require "puma_tuner/railtie"

      class ArticlesController < ActionController::API
        def show = render(plain: "article")
      end

      class Shop < Rails::Application
        config.eager_load = true
        config.logger = Logger.new(File::NULL)
        config.secret_key_base = "a" * 32
        config.hosts.clear
        routes.append { get "/articles/:id", to: "articles#show" }
      end

      Shop.initialize!
      run Shop
    RUBY
    ServedApp.open(rackup:) do |app|
      port = app.start("-t", "3:3", gemfile: ServedApp::RAILS, extra: {"PUMA_TUNER_INTERVAL_S" => "0.5"})
      assert_equal [200], ServedApp.request(port, "/articles/7").uniq
      app.wait_for_line(RECOMMENDATION)
      assert_lines(app.stop(limit_s: 1))

      command = PumaTuner::Host::Command.new(words: %w[bundle exec puma], directory: app.folder, environment: app.environment(gemfile: ServedApp::RAILS)
        .merge("RUBYLIB" => PumaTuner::Probe::LIBRARY_FOLDER))
      PumaTuner::Host::ServerProcess.run(command, measure: true) do |server|
        collector = PumaTuner::Measure::Collector.new(server, command: "puma")
        collector.begin_window
        ServedApp.request(server.url[/\d+\z/].to_i, "/articles/7", clients: 1, each: 3)
        assert_equal ["GET /articles/:id"], collector.end_window.endpoints.map(&:name)
      end
    end
  end

  # The second line is of all threads, so here is one. Of what has a word only there, nothing is said below 1%: three parts of that at most.
  test "the shares of a thread's two lines sum to 100%" do
    output = output_of(rackup: "run ->(env) { 50_000.times { |i| i.to_s }; sleep 0.001; [200, {}, ['x']] }", puma_rb: RUN_AT_THE_END.sub("3, 3", "1, 1"), whole: true)
    threads = output.slice_before(/\Apuma srv tp/).drop(1).map { |lines| lines.first(2).grep(/\Apuma srv tp|\A  also:/).join }
    refute_empty threads
    threads.each { |lines| assert_in_delta 98.5, lines.scan(/[\d.]+(?=%)/).sum(&:to_f), 2, lines }
  end

  test "waiting for locks is told apart from io" do
    rackup = "LOCK = Mutex.new\nrun ->(env) { LOCK.synchronize { sleep 0.02 }; [200, {}, ['x']] }"
    output = output_of(rackup:, puma_rb: RUN_AT_THE_END, whole: true)
    assert(output.any? { |line| line.match?(/\A  also: .*lock \d+\.\d%/) }, output.join("\n"))
  end
end
