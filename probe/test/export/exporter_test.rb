# frozen_string_literal: true

require "test_helper"
require "socket"
require "support/exporters"
require "tmpdir"

# The exporter's process, and what keeps it, beside a process that leads a server without serving anything.
class ExportExporterTest < TunerTest
  Export = PumaTuner::Export
  Processes = PumaTuner::Probe::Processes

  SCRIPT = <<~RUBY
    $stdout.sync = true
    settings = {leader_pid: Process.pid, leader: PumaTuner::Probe::Processes.identity(Process.pid), directory: ENV["FOLDER"], address: ENV["ADDRESS"],
      labels: {service: "Größe"}, endpoints_max: 9}
    supervisor = PumaTuner::Export::Exporter.supervisor(settings)
    Thread.new { loop { supervisor.start&.join || sleep(0.1) } }
  RUBY

  def setup
    @folder = Dir.mktmpdir
    @address = Export::Address.parse("unix://#{@folder}/exporter.sock")
  end

  def teardown
    stop if @leader
    FileUtils.rm_rf(@folder)
  end

  # @param more [String] Ruby, for the leader
  def start(more = "sleep", before: "", environment: {})
    command = [RbConfig.ruby, "-I", PumaTuner::Probe::LIBRARY_FOLDER, "-rpuma_tuner/probe", "-e", before + SCRIPT + more]
    environment = {"RUBYOPT" => nil, "RUBYLIB" => nil, "FOLDER" => @folder, "ADDRESS" => @address.to_s, **environment}
    @leader = IO.popen([environment, *command, err: %i[child out], pgroup: true])
  end

  def stop
    Process.kill(:KILL, -@leader.pid)
    @leader.close
  rescue Errno::ESRCH
    @leader.close
  end

  # @return [String]
  def text
    wait_until("a response of the exporter") do
      @address.get
    rescue SystemCallError
      nil
    end
  end

  def exporter_pid = wait_until("an exporter's process") { Exporters.pid_of(@leader.pid) }

  test "it answers, is nobody's child, and gives way to the server" do
    start
    assert_match(/^puma_tuner_clock_seconds\{service="Größe"\} /, text)
    refute_includes Processes.tree_of(@leader.pid), exporter_pid
    assert_operator Process.getpriority(Process::PRIO_PROCESS, exporter_pid), :>, Process.getpriority(Process::PRIO_PROCESS, @leader.pid)
    assert_operator File.read("/proc/#{exporter_pid}/oom_score_adj").to_i, :>, 0
  end

  test "what the forecast recommends is exported, and nothing in its place where there is none or it is old" do
    start
    refute_match(/^puma_tuner_recommended/, text)
    forecast = PumaTuner::Probe::Recommendation.new(topology: "2x3", today: "1x5", metric: "p99", ratio: nil, requests_count: 300, why_not: nil, detail: nil, made_at_s: Time.now.to_f)
    forecast.write(@folder)
    wait_until("the recommendation") { text.match?(/^puma_tuner_recommended_workers\{service="Größe"\} 2$/) }
    assert_match(/^puma_tuner_recommended_threads\{service="Größe"\} 3$/, text)
    assert_match(/^puma_tuner_forecast_timestamp_seconds\{.*\} \d+/, text)
    forecast.with(made_at_s: Time.now.to_f - 7_200).write(@folder)
    wait_until("its end") { !text.match?(/^puma_tuner_recommended/) }
  end

  test "it ends when its server ends in whatever way, and leaves nothing behind" do
    [:KILL, :TERM].each do |signal|
      start
      text
      pid = exporter_pid
      Process.kill(signal, @leader.pid)
      wait_until("the exporter's end") { !Processes.alive?(pid) }
      refute_path_exists @address.host_or_path
      @leader.close
    end
  ensure
    @leader = nil
  end

  test "it ends, too, where a child of the app's outlives the server" do
    start("sleep 0.01 until File.exist?('#{@folder}/exporter.sock')\nputs fork { sleep }\nsleep")
    child = Integer(@leader.gets)
    pid = exporter_pid
    Process.kill(:KILL, @leader.pid)
    wait_until("the exporter's end") { !Processes.alive?(pid) }
    assert Processes.alive?(child)
  ensure
    Process.kill(:KILL, child) if child
  end

  test "killed, it is started again, which one line says; and again" do
    start
    2.times do
      text
      pid = exporter_pid
      Process.kill(:KILL, pid)
      wait_until("another exporter") { Exporters.pid_of(@leader.pid)&.!=(pid) && text }
    end
    Process.kill(:TERM, @leader.pid)
    assert_equal ["puma_tuner: the exporter's process has ended; trying again\n"], @leader.readlines
  end

  test "orders to the server's group are not for it" do
    start("trap(:INT) {}\ntrap(:HUP) {}\nsleep")
    text
    pid = exporter_pid
    %i[INT HUP].each { |signal| Process.kill(signal, -@leader.pid) }
    sleep 0.2
    assert_equal pid, exporter_pid
    refute_empty text
  end

  test "an app that waits for all its children does not wait for it" do
    start("sleep 0.01 until File.exist?('#{@folder}/exporter.sock')\nsystem('true')\nfork { exit! }\nProcess.waitall\nputs 'waited'\nsleep")
    assert_equal "waited\n", @leader.gets
    refute_empty text
  end

  test "an address that is taken is told once, and had as soon as it is free" do
    other = TCPServer.new("127.0.0.1", 0)
    @address = Export::Address.parse("tcp://127.0.0.1:#{other.addr[1]}")
    start
    assert_match(/\Apuma_tuner: nothing can be exported at #{@address} \(Errno::EADDRINUSE.*\); trying again\n\z/, @leader.gets)
    other.close
    assert_equal "puma_tuner: #{@address}: exporting now\n", @leader.gets
    refute_empty text
  end

  test "where it can't be started, one line says so, and the app goes on" do
    start("sleep 4\nputs 'goes on'", before: "RbConfig.define_singleton_method(:ruby) { '/nowhere/ruby' }\n")
    told = "puma_tuner: the exporter's process can't be started " \
      "(Errno::ENOENT: No such file or directory - /nowhere/ruby); trying again\n"
    assert_equal [told, "goes on\n"], @leader.readlines
  end

  test "it loads nothing that the app's environment asks for" do
    start("sleep", before: "ENV.update('RUBYOPT' => '-rnowhere', 'RUBYLIB' => '/nowhere', 'BUNDLE_GEMFILE' => '/nowhere/Gemfile')\n")
    refute_empty text
  end

  test "what Ruby says when it ends is told" do
    start("sleep", before: <<~RUBY)
      PumaTuner::Probe::Supervisor.prepend(Module.new do
        def command = [RbConfig.ruby, "--disable=gems", "-e", "def broken = raise(%q(no such thing)); broken"]
      end)
    RUBY
    assert_match(/\Apuma_tuner: the exporter.s process has ended \(.*no such thing.*\); trying again\n\z/, @leader.gets)
  end
end
