# frozen_string_literal: true

require "test_helper"
require "json"
require "socket"
require "support/served_app"

# What Predict::Rules says of each Puma, held against that Puma: order and behaviour, no times.
class PumaRulesTest < TunerTest
  include PumaTuner

  Rules = Predict::Rules

  time_limit 60

  # How long something is looked for that shall not happen. A slow machine may miss it, and the test then passes.
  ABSENT_S = 0.5

  # Each request is logged as it begins, and its response tells who served it. /hold keeps its thread until the file "go" is there;
  # /backlog until somebody waits in the pool's todo list, or for ABSENT_S, and says which; /mark is marked as I/O-bound, if it can
  # be, and kept until another request has begun, or for ABSENT_S. All that comes to the todo list is counted.
  RACKUP = <<~RUBY
    $begun = []
    $added = 0
    Puma::ThreadPool.prepend(Module.new { def <<(work) = super.tap { $added += 1 } })
    wait = lambda do |limit_s, &condition|
      deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + limit_s
      sleep 0.005 until (met = condition.call) || Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline
      met
    end
    run lambda { |env|
      path = env["PATH_INFO"]
      $begun << path
      File.write("begun\#{path.tr("/", "-")}", "")
      said = case path
      when /hold/ then wait.call(20) { File.exist?("go") }
      when /backlog/ then wait.call(#{ABSENT_S}) { Puma::Server.current.backlog.positive? }
      when /mark/
        env["puma.mark_as_io_bound"]&.call
        wait.call(#{ABSENT_S}) { $begun.last != path }
      end
      [200, {"content-type" => "text/plain"}, [[said ? "yes" : "no", Thread.current.object_id, $added, $begun].join(" ")]]
    }
  RUBY

  # @yieldparam app [ServedApp]
  # @yieldparam announcement [Hash] see Probe::Launch
  def serve(gemfile, topology, puma_rb: nil, **puma_options)
    ServedApp.open(rackup: RACKUP, puma_rb:) do |app|
      command = Host::Command.new(words: %w[bundle exec puma -e production], directory: app.folder, environment: app.environment(gemfile:))
      Host::ServerProcess.run(command, topology: Topology.parse(topology), puma_options:) do |server|
        yield app, server
      end
    end
  end

  def connect(server) = TCPSocket.new("127.0.0.1", server.url[/\d+\z/].to_i)

  def ask(socket, path) = socket.write("GET #{path} HTTP/1.1\r\nHost: localhost\r\n\r\n")

  # @return [Array<String>] the words of the response's body
  def answer(socket)
    head = +""
    head << socket.readline until head.end_with?("\r\n\r\n")
    socket.read(head[/content-length: (\d+)/i, 1].to_i).split
  end

  def begun(app, path) = wait_until("#{path} begins") { File.exist?(File.join(app.folder, "begun-#{path.delete_prefix("/")}")) }

  def rules_of(server) = server.announcement.fetch("server").then { |facts| Rules.puma(facts.fetch("puma_version")) }

  ServedApp::PUMAS.each do |name, gemfile|
    test "what it was seen to have says the same of #{name} as its number" do
      serve(gemfile, "1x1") do |_, server|
        facts = server.announcement.fetch("server")
        refute_empty facts.fetch("puma_features")
        assert_equal rules_of(server), Rules.puma(facts.fetch("puma_version"), features: facts.fetch("puma_features"))
        # In a process that takes its number for another's, too.
        other = rules_of(server)[:gate].zero? ? "6.6.1" : "8.0.2"
        assert_equal rules_of(server).slice(:gate, :busy_delay_ns, :overload_delay_ns, :park_ns, :io_threads),
          Rules.puma(other, features: facts.fetch("puma_features")).slice(:gate, :busy_delay_ns, :overload_delay_ns, :park_ns, :io_threads)
      end
    end

    test "a server whose only thread is busy accepts another connection, or leaves it, on #{name}" do
      serve(gemfile, "1x1") do |app, server|
        ask(first = connect(server), "/backlog")
        begun(app, "/backlog")
        ask(second = connect(server), "/second")
        accepted = answer(first).first
        assert_equal rules_of(server)[:gate].zero? ? "yes" : "no", accepted
        assert_includes answer(second), "/second"
      end
    end

    test "the next request of a connection comes before others that wait, or after them, on #{name}" do
      serve(gemfile, "1x1") do |app, server|
        kept = connect(server)
        ask(kept, "/hold")
        begun(app, "/hold")
        other = connect(server)
        ask(other, "/other")
        # Whether it is in Puma's list or the kernel's: it is there first.
        sleep(ABSENT_S)
        ask(kept, "/next")
        File.write(File.join(app.folder, "go"), "")
        answer(kept)
        answers = [answer(kept), answer(other)]
        order = (rules_of(server)[:after_response] == :park) ? %w[/hold /next /other] : %w[/hold /other /next]
        assert_equal order, answers.map { |words| words.drop(3) }.max_by(&:size)
      end
    end

    test "with a thread idle, a request that is ready is served at once, or goes to the todo list, on #{name}" do
      serve(gemfile, "1x2") do |app, server|
        kept = connect(server)
        ask(kept, "/hold")
        begun(app, "/hold")
        ask(kept, "/next")
        # The second thread has begun, and waits.
        File.write(File.join(app.folder, "go"), "")
        (_, thread, added, *), (_, next_thread, next_added, *) = Array.new(2) { answer(kept) }
        inline = rules_of(server)[:after_response] != :poll_todo
        assert_equal [inline ? 0 : 1, inline], [next_added.to_i - added.to_i, next_thread == thread]
      end
    end

    test "a request that is marked as I/O-bound makes room for another thread, or does not, on #{name}" do
      serve(gemfile, "1x1", "max_io_threads" => "1") do |app, server|
        marked, other = Array.new(2) { connect(server) }
        ask(marked, "/mark")
        begun(app, "/mark")
        ask(other, "/other")
        assert_equal (rules_of(server)[:io_threads] == 1) ? "yes" : "no", answer(marked).first
        assert_includes answer(other), "/other"
      end
    end

    test "between two requests a thread only looks at a connection, or waits on it, on #{name}, and without the reactor on any" do
      script = <<~RUBY
        require "json"
        require "puma"
        require "puma/server"
        require "puma/configuration"
        require "puma_tuner/probe"
        servers = [true, false].map { |queue_requests| Puma::Server.new(nil, nil, {queue_requests:}) }
        puts JSON.generate(version: Puma::Const::PUMA_VERSION, looks: servers.map { |server| PumaTuner::Probe::Puma.looks_only?(server) })
      RUBY
      seen = ServedApp.open do |app|
        words = ["bundle", "exec", "ruby", "-I", Probe::LIBRARY_FOLDER, "-e", script]
        IO.popen([app.environment(gemfile:), *words, {unsetenv_others: true, chdir: app.folder}], &:read).then { |text| JSON.parse(text) }
      end
      assert_equal [Rules.puma(seen.fetch("version"))[:after_response] != :park, false], seen.fetch("looks")
    end

    test "the delays and limits are #{name}'s own" do
      script = <<~RUBY
        require "json"
        require "puma"
        require "puma/server"
        require "puma/configuration"
        options = Puma::Configuration::DEFAULTS
        delay = if Puma.const_defined?(:ClusterAcceptLoopDelay)
          of = ->(workers) { Puma::ClusterAcceptLoopDelay.new(workers: workers, max_delay: options[:wait_for_less_busy_worker]) }
          [of.call(1).on?, of.call(2).on?, [1, 3, 70, 75, 500].map { |busy| of.call(2).calculate(busy_threads_plus_todo: busy, max_threads: 3) }]
        end
        puts JSON.generate(version: Puma::Const::PUMA_VERSION, busy_delay_s: options[:wait_for_less_busy_worker], inline: options[:max_fast_inline], delay: delay,
          park_s: Puma::Const.const_defined?(:FAST_TRACK_KA_TIMEOUT) ? Puma::Const::FAST_TRACK_KA_TIMEOUT : 0)
      RUBY
      seen = ServedApp.open do |app|
        IO.popen([app.environment(gemfile:), "bundle", "exec", "ruby", "-e", script, {unsetenv_others: true, chdir: app.folder}], &:read).then { |text| JSON.parse(text) }
      end
      rules = Rules.puma(seen.fetch("version"))
      assert_in_delta rules[:park_ns], seen.fetch("park_s") * 1e9, 1
      next assert_gate(rules, seen) unless seen["delay"]
      # As the simulation has it.
      most = rules[:overload_factor] * 3
      assert_equal [false, true], seen["delay"].first(2)
      [1, 3, 70, 75, 500].zip(seen["delay"].last) { |busy, s| assert_in_delta rules[:overload_delay_ns] * [busy, most].min / most, s * 1e9, 1, "#{busy} busy" }
    end
  end

  # As main of July 2026 has it, whose number is still 8.0.2.
  test "a gate that is there again is seen, whatever the number" do
    puma_rb = "class Puma::ThreadPool\n  def wait_until_not_full = nil\nend\n"
    serve(ServedApp::PUMAS.fetch("puma_8_0"), "1x1", puma_rb:) do |_, server|
      facts = server.announcement.fetch("server")
      assert_equal "8.0.2", facts.fetch("puma_version")
      assert_includes facts.fetch("puma_features"), "queueless_gate"
      assert_equal [0, 1], [true, false].map { |queue_requests| Rules.puma("8.0.2", features: facts["puma_features"], queue_requests:)[:gate] }
    end
  end

  def assert_gate(rules, seen)
    assert_in_delta rules[:busy_delay_ns], seen.fetch("busy_delay_s") * 1e9, 1
    assert_equal rules[:inline_max], seen.fetch("inline")
    assert_equal 0, rules[:overload_delay_ns]
  end
end
