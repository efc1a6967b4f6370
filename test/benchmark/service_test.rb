# frozen_string_literal: true

require "test_helper"
require "socket"
require_relative "../../benchmark/validate/measurement"

# The process that stands for a service outside of the app. Only what is too early is a failure, but where a test says otherwise.
class ServiceTest < TunerTest
  kind :integration

  include Validation

  time_limit 60

  def now_s = PumaTuner::Clock.now_s

  # @yieldparam service [Service]
  # @yieldparam clients [Array<TCPSocket>]
  def with_clients(count, places_count:)
    Service.run(places_count) do |service|
      clients = Array.new(count) { TCPSocket.new("127.0.0.1", service.port) }
      yield service, clients
    ensure
      clients&.each(&:close)
    end
  end

  def ask(client, seconds) = client.write([(seconds * 1_000_000).round].pack("N"))

  # @return [Integer] places in use at once, at most, until so many requests have come since the last look
  def await(service, requests_count)
    most_count = 0
    while requests_count.positive?
      counted = service.counts
      requests_count -= counted.requests_count
      most_count = [most_count, counted.most_count].max
    end
    most_count
  end

  test "as many requests as there are places are served at once, the others in the order in which they came" do
    with_clients(6, places_count: 2) do |service, clients|
      clients = clients.reverse # the first to connect is the last to ask
      began_s = now_s
      most_counts = clients.map do |client|
        ask(client, 0.1)
        await(service, 1)
      end
      answered_s = clients.map { |client| Thread.new { client.readpartial(1) && (now_s - began_s) } }.map(&:value)
      answered_s.each_with_index { |s, index| assert_operator s, :>=, (index / 2 + 1) * 0.1, "request #{index + 1} of #{answered_s}" }
      assert_equal 2, most_counts.max
    end
  end

  test "each request is served for as long as it asks for, and a free place at once" do
    with_clients(3, places_count: 3) do |service, clients|
      answered = Queue.new
      waiting = clients.zip([0.9, 0.5, 0.1]).map do |client, seconds|
        began_s = now_s
        ask(client, seconds)
        Thread.new { client.readpartial(1) && answered << [seconds, now_s - began_s] }
      end
      waiting.each(&:join)
      Array.new(3) { answered.pop }.each { |seconds, took_s| assert_operator took_s, :>=, seconds }
      assert_equal Service::Counts.new(3, 3), service.counts
    end
  end

  # While the process is stopped it gets no core. The second request's time has begun all the same when the first one's was over, and
  # is over, too. Of its sleep the kernel lets it do the rest, which is a second at most; else it would take two.
  test "a place that is given on late was free in time" do
    with_clients(2, places_count: 1) do |service, clients|
      clients.each { |client| ask(client, 1) && await(service, 1) }
      Process.kill(:STOP, service.pid)
      sleep 2.5
      continued_s = now_s
      Process.kill(:CONT, service.pid)
      clients.each { |client| client.readpartial(1) }
      assert_operator now_s - continued_s, :<, 1.7
    end
  end

  test "a client that goes away is served to its end, and nobody else is kept from it" do
    with_clients(2, places_count: 1) do |service, (gone, client)|
      began_s = now_s
      ask(gone, 0.2)
      await(service, 1)
      gone.close
      ask(client, 0.1)
      client.readpartial(1)
      assert_operator now_s - began_s, :>=, 0.3
      assert_equal Service::Counts.new(1, 1), service.counts
    end
  end

  test "it tells what came since it was last asked, and what of it was not expected" do
    with_clients(1, places_count: 2) do |service, (client)|
      2.times { ask(client, 0.001) && client.readpartial(1) }
      assert_nil service.complaint(2, 1)
      assert_equal Service::Counts.new(0, 0), service.counts
      ask(client, 0.001) && client.readpartial(1)
      assert_equal "1 request came to the service, instead of 2", service.complaint(2, 1)
      ask(client, 0.001) && client.readpartial(1)
      assert_equal "the service had 1 place in use at once, instead of 2", service.complaint(1.., 2)
    end
  end

  test "nothing of it is left, whether it is stopped or the process that started it is killed" do
    pid = Service.run(1) { |service| service.pid.tap { |one| assert PumaTuner::Probe::Processes.alive?(one) } }
    refute PumaTuner::Probe::Processes.alive?(pid)
    path = File.expand_path("../../benchmark/validate/service.rb", __dir__)
    parent = IO.popen([Gem.ruby, "-I", File.expand_path("../../lib", __dir__), "-r", path, "-e",
      "Validation::Service.run(1) { |service| $stdout.puts(service.pid); $stdout.flush; sleep }"])
    orphan = Integer(parent.gets)
    Process.kill(:KILL, parent.pid)
    wait_until("its end") { !PumaTuner::Probe::Processes.alive?(orphan) }
  ensure
    parent&.close
  end

  test "a workload without a limit has no service" do
    assert_equal [nil], Service.run(nil) { |service| [service] }
  end

  # @yieldparam service [Service]
  # @yieldparam command [PumaTuner::Host::Command] of an app that asks it in each request
  def with_app
    Service.run(4) do |service|
      command = PumaTuner::Host::Command.with_our_gems(Servers::APP)
      app = {"VALIDATION_STEPS" => "/=c1 l8 c1", "VALIDATION_TURNS_PER_MS" => "1000", "RACK_ENV" => "production"}
      yield service, command.with(environment: {**command.environment, **app, **service.environment})
    end
  end

  test "the wait for it is recorded as io, and is all the io of a request" do
    with_app do |service, command|
      mix = Workloads.find("limited").mix
      traffic = PumaTuner::Load::Traffic.new(mix:, generator: PumaTuner::Load::Native.new, connections_count: 1, seed: 1)
      observation = PumaTuner::Measure::LoadedWindow.new(command:, traffic:, topology: PumaTuner::Topology.parse("1x1"),
        warmup_s: 0.6, duration_s: 1.0, boot_limit_s: 60).call
      assert_nil service.complaint(observation.requests_count.., 1)
      waits = observation.endpoints.flat_map(&:traces).map do |trace|
        trace.steps.each_slice(2).select { |step| PumaTuner::Probe::Parts::WAITS.include?(step.first) }
      end
      assert_operator waits.size, :>=, 30
      assert_equal [%w[io]], waits.map { |steps| steps.map(&:first) }.uniq
      # On average: the service may have a core before the thread that has asked it comes to its wait.
      assert_operator waits.sum { |steps| steps.first.last }, :>=, waits.size * 8 * PumaTuner::Units::NS_PER_MS
    end
  end

  # @param text [String] settings
  # @return [Array<Hash>] repeats of a cell
  def repeats(service, command, text)
    cell = Cell.parse("limited/3.4/8.0/100/#{text}/clients-12")
    times = Times.new(warmup_s: 0.3, load_s: 0.6, repeats_count: 2, probe_s: 0.3, record_s: 1.0)
    plan = Session::Plan.new(cell:, rate_per_s: nil, connections_count: 12, load_s: times.load_s)
    Session.new(command:, topology: cell.topology, plans: [plan], times:, cores_count: 2, service:).call.fetch(cell).fetch("repeats")
  end

  test "all that a cell was sent came to the service, in as many places as the settings allow" do
    with_app do |service, command|
      %w[1x2 2x4].each do |text|
        repeats(service, command, text).each do |repeat|
          assert_nil repeat["failure"]
          assert_operator repeat["beside_cpu_ns"], :>, 0
        end
      end
    end
  end

  test "an app that asks it twice, or not at all, is not measured" do
    with_app do |service, command|
      {"/=l1 l1" => /requests came to the service, instead of/, "/=c1" => /\A0 requests came to the service/}.each do |steps, words|
        other = command.with(environment: {**command.environment, "VALIDATION_STEPS" => steps})
        repeats(service, other, "1x2").each { |repeat| assert_match words, repeat["failure"] }
      end
    end
  end
end
