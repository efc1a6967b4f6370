# frozen_string_literal: true

require "test_helper"
require "support/builders"
require "support/trials_made"
require "tempfile"

# What `auto` does of what it sees: a server is played, second by second, on a clock of its own.
class TrialAutomaticTest < TunerTest
  include Builders
  include TrialsMade

  COOL_DOWN_S = 20

  # Whoever has such a clock passes time on it, and waits for nothing.
  module Pausing
    def sleep(seconds) = (played = Thread.current[:played]) ? played.pass(seconds) : super
  end
  Trial::Run.prepend(Pausing)
  Trial::Automatic.prepend(Pausing)

  # Obeys at once, and serves what a block says.
  class PlayedServer
    include TrialsMade

    attr_accessor :now_s, :youngest_s, :states, :memory_limit_bytes, :all_bytes, :full
    attr_reader :ordered, :forgotten_count

    # @yieldparam pid [Integer]
    # @yieldparam threads_count [Integer] that it has
    # @yieldreturn [Hash] of TrialsMade#worker
    def initialize(pids, configured: [3, 3], &serves)
      @states = pids.map { |pid| state(pid, configured) }
      @serves = serves
      @now_s, @youngest_s, @ordered, @events, @forgotten_count, @gone = 0.0, 900.0, {}, [], 0, false
    end

    def state(pid, configured = [3, 3]) = {pid:, configured:, least: 1, most: 8, automatic: true, connections_count: nil}

    def pass(seconds)
      @now_s += seconds
      @youngest_s += seconds
      due, @events = @events.partition { |at_s, _| at_s <= @now_s }
      due.each { |_, event| event.call }
    end

    # @param at_s [Numeric] when it is to happen
    def at(at_s, &event) = @events << [at_s, event]

    # @param pids [Hash{Integer => Integer}] who comes in whose place
    def replace(pids)
      @states = @states.map { |one| pids[one[:pid]] ? state(pids[one[:pid]]) : one }
      @youngest_s = 0.0
    end

    # @return [Boolean] whether a worker boots
    attr_writer :boots

    def ready_states = @boots ? raise(Trial::Server::Silent, "a worker boots") : @states

    def fresh_states = ready_states

    def there? = !@gone

    def leader_pid = 7

    def hold = yield

    def order(threads) = @full ? raise(MeasurementFailed, "it can't be given an order: No space left") : @ordered = threads

    def close_lock = nil

    def forget
      @forgotten_count += 1
      @since_s = nil
    end

    def all_memory_bytes(_pids) = @all_bytes

    def take(at_s)
      since_s, @since_s = @since_s || at_s, at_s
      workers = @states.map do |one|
        threads = @ordered[one[:pid]] || one[:configured].last
        worker(one[:pid], threads:, **@serves.call(one[:pid], threads))
      end
      Trial::Reading.new(at_s:, since_s:, workers:, memory_bytes: nil)
    end
  end

  def ratio(value) = Stats::Estimate.new(value:, low: value * 0.9, high: value * 1.1, level_ratio: 0.95, samples_count: 5)

  # @param better [Integer, nil] a number whose forecast is better
  # @return [Hash] as Forecaster has it
  def found(better, cpu_s: 0.0) = {metric: "p99", ratios: better ? {better => ratio(0.5)} : {}, requests_count: 2_000, why_not: nil, cpu_s:}

  # Until the clock has passed so many seconds; a forecast takes ten.
  #
  # @return [Array<Trial::Automatic::Told>] which a replay says, too
  def told(server, seconds:, mode: :auto, better: 4, **)
    forecast = lambda do |count, _|
      server.pass(10)
      found((count < better) ? better : nil, **)
    end
    Tempfile.create("journal") do |file|
      @automatic = Trial::Automatic.new(server, mode:, cool_down_s: COOL_DOWN_S, forecast:, journal: Trial::AutomaticJournal.new(file),
        clock: server.method(:now_s))
      list = []
      Thread.current[:played] = server
      @automatic.call(duration_s: seconds) { |one| list << one }
      assert_equal list, Trial::AutomaticJournal.read(file.path).replay
      @text = File.read(file.path)
      list
    end
  ensure
    Thread.current[:played] = nil
  end

  def kinds(list) = list.map { |one| one.statement.kind }

  test "a number that does one worker no harm is given to all, watched, and kept" do
    server = PlayedServer.new([11, 12]) { {} }
    list = told(server, seconds: 60)
    assert_equal %i[stepped kept], kinds(list).first(2)
    assert_equal [4, 4], list.first(2).map(&:threads_count)
    assert_in_delta COOL_DOWN_S, list[1].at_s - list[0].at_s, 2
    assert_equal 2, server.forgotten_count, "each counts anew"
    assert_equal [3, 4], [@automatic.given.from, @automatic.given.to]
    assert_equal @automatic.given.measured, list.first.statement.facts["measured"]
    assert_match(/Measured on one worker, instead of 3 threads: a p99 of 1.00x \(1.00–1.00\)/, Report::TrialWords.measured(@automatic.given))
  end

  test "where the canary or its fellows have too few requests nothing is adopted, and the number is left for a time" do
    [[20, 1], [1, 20]].each do |mine, others|
      %i[trial auto].each do |mode|
        server = PlayedServer.new([11, 12]) { |pid, _| {latencies_ms: [10] * ((pid == 11) ? mine : others)} }
        list = told(server, seconds: 60, mode:)
        assert_equal %i[undone refused], kinds(list).first(2)
        assert_equal "few_requests", list.first.statement.facts.dig("ended", "kind")
        assert_equal [3], list.map(&:threads_count).uniq
      end
    end
    silent = PlayedServer.new([11, 12]) { {threads: 2} }
    assert_equal :undone, told(silent, seconds: 30).first.statement.kind
  end

  # @yieldparam all [Boolean] whether it is all workers who have more than three
  def harmful_to_all
    server = PlayedServer.new([11, 12]) { yield(server.ordered.values_at(11, 12) == [4, 4]) }
  end

  test "what harms when all workers have it is taken back, and refused" do
    {slow: {latencies_ms: [90] * 20}, errors: {errors: 3}, starved_pool: {pool_ms: 90}, queue: {queued_count: 30}}.each do |kind, harm|
      server = harmful_to_all { |all| all ? harm : {} }
      list = told(server, seconds: 60)
      assert_equal %i[stepped taken_back refused], kinds(list).first(3), kind
      assert_equal kind.name, list[1].statement.facts.dig("ended", "kind")
      assert_equal [4, 3, 3], list.first(3).map(&:threads_count)
      assert_operator list[1].at_s - list[0].at_s, :<, COOL_DOWN_S
      assert_nil @automatic.given
    end
  end

  test "a step that is taken back leaves the one before" do
    server = PlayedServer.new([11, 12]) { (server.ordered.values_at(11, 12) == [5, 5]) ? {errors: 3} : {} }
    list = told(server, seconds: 150, better: 5)
    assert_equal %i[stepped kept stepped taken_back], kinds(list).grep(/stepped|kept|taken_back/)
    assert_equal [4, 4], [@automatic.threads_count, @automatic.given.to]
  end

  test "a journal in which that is otherwise is not taken for the same" do
    told(harmful_to_all { |all| all ? {errors: 3} : {} }, seconds: 60)
    Tempfile.create("journal") do |file|
      lines = @text.lines
      place = lines.index { |line| line.include?('"stepped"') }
      {[lines.first, *lines.drop(place + 1)] => /does not fit together/,
       lines.map { |line| line.gsub('"errors_count":3', '"errors_count":0') } => /ends a trial of 4 threads otherwise/}.each do |other, words|
        File.write(file.path, other.join)
        assert_match(words, assert_raises(InvalidMeasurement) { Trial::AutomaticJournal.read(file.path).replay }.message)
      end
    end
  end

  test "processes that come together are a new server: all have what is configured, and what was learned is forgotten" do
    {[21, 22, 13] => {11 => 21, 12 => 22}, [21, 22, 23] => {11 => 21, 12 => 22, 13 => 23}}.each do |pids, replaced|
      server = PlayedServer.new([11, 12, 13]) { {} }
      server.at(55) { server.replace(replaced) }
      list = told(server, seconds: 80)
      assert_equal %i[stepped kept restarted], kinds(list).first(3)
      assert_equal({"come" => replaced.size, "all" => 3}, list[2].statement.facts)
      assert_equal :deployed, kinds(list)[3]
      assert_equal [3, nil, 0], [list[3].threads_count, list[3].situation.step_s, list[3].situation.served_count - 2_000]
      assert_empty list[3].situation.refused
      assert_equal pids, server.states.map { |one| one[:pid] }
    end
  end

  test "what was refused before a restart may be tried after it" do
    server = harmful_to_all { |all| all ? {errors: 3} : {} }
    server.at(60) { server.replace(11 => 21, 12 => 22) }
    assert_equal %i[stepped taken_back refused], kinds(list = told(server, seconds: 130)).first(3)
    assert_includes kinds(list.drop_while { |one| one.statement.kind != :restarted }), :stepped
  end

  test "a server that is configured otherwise is a new one, too" do
    server = PlayedServer.new([11, 12]) { {} }
    server.at(55) { server.states = [server.state(11, [2, 2]), server.state(12, [2, 2])] }
    list = told(server, seconds: 60)
    assert_equal [%i[stepped kept restarted], 2], [kinds(list), list.last.threads_count]
    assert_equal [2, 2], @automatic.configured
  end

  test "a worker that comes alone gets the number in force when it is a cool-down old" do
    server = PlayedServer.new([11, 12]) { {} }
    orders = {}
    server.at(55) { server.replace(12 => 22) }
    [60, 72, 90].each { |at_s| server.at(at_s) { orders[at_s] = @automatic.send(:order) } }
    list = told(server, seconds: 90)
    assert_equal %i[stepped kept deployed], kinds(list).first(3)
    refute_includes kinds(list), :restarted
    assert_equal [4], list.map(&:threads_count).uniq
    assert_equal({60 => {11 => 4, 12 => 4}, 72 => {11 => 4, 12 => 4}, 90 => {11 => 4, 22 => 4}}, orders)
  end

  test "a phased restart, a worker after the other, ends with what is configured" do
    server = PlayedServer.new([11, 12]) { {} }
    server.at(55) { server.replace(11 => 21) }
    server.at(70) { server.replace(12 => 22) }
    list = told(server, seconds: 90)
    assert_equal %i[stepped kept deployed restarted], kinds(list).first(4)
    assert_equal 3, list[3].threads_count
  end

  test "a worker may tell nothing for longer than a cool-down: that is said once, and no forecast made until it does" do
    server = PlayedServer.new([11, 12]) { {} }
    server.at(10) { server.boots = true }
    server.at(10 + 3 * COOL_DOWN_S) { server.boots = false }
    list = told(server, seconds: 100)
    assert_equal %i[silent stepped], kinds(list).first(2)
    assert_in_delta 10 + COOL_DOWN_S, list[0].at_s, 2
    assert_operator list[1].at_s, :>, 10 + 3 * COOL_DOWN_S
    assert_match(/a process has told nothing of its threads for 2[0-2] s: it boots, or can't write/, Report::TrialWords.step(list[0].statement))
    server = PlayedServer.new([11, 12]) { {} }
    server.boots = true
    assert_raises(UsageError) { told(server, seconds: 10) }
  end

  test "each time that a worker tells nothing for longer than a cool-down it is said, and no shorter one" do
    server = PlayedServer.new([11, 12]) { {} }
    [[15, COOL_DOWN_S - 2], [60, 2 * COOL_DOWN_S], [120, 2 * COOL_DOWN_S]].each do |at_s, seconds|
      server.at(at_s) { server.boots = true }
      server.at(at_s + seconds) { server.boots = false }
    end
    said = told(server, seconds: 180, mode: :observe).select { |one| one.statement.kind == :silent }
    assert_equal [80, 140], said.map { |one| one.at_s.round(-1) }
  end

  test "workers that are replaced while they are watched take the number back, and do not refuse it" do
    server = PlayedServer.new([11, 12]) { {} }
    server.at(38) { server.replace(12 => 22) }
    list = told(server, seconds: 60)
    assert_equal %i[stepped taken_back deployed], kinds(list).first(3)
    assert_equal [3, {}], [list[2].threads_count, list[2].situation.refused]
  end

  test "no more threads are forecast than a process has connections by now" do
    server = PlayedServer.new([11, 12]) { {} }
    server.at(15) { server.states = server.states.map { |one| one.merge(connections_count: 4) } }
    assert_equal [8, 4], told(server, seconds: 60, better: 3).filter_map { |one| one.situation&.most }.uniq
  end

  test "no step is tried that memory is too short for" do
    server = PlayedServer.new([11, 12]) { {} }
    server.memory_limit_bytes, server.all_bytes = 1_000 * Units::MIB, 940 * Units::MIB
    assert_equal %i[memory], kinds(told(server, seconds: 60)).uniq
    server = PlayedServer.new([11, 12]) { {} }
    server.memory_limit_bytes, server.all_bytes = 1_000 * Units::MIB, 935 * Units::MIB
    assert_equal :stepped, kinds(told(server, seconds: 60)).first
  end

  test "forecasts that take long are made less often, and the number in force is ordered meanwhile" do
    server = PlayedServer.new([11, 12]) { {} }
    list = told(server, seconds: 400, mode: :observe, cpu_s: 2.0)
    assert_equal [10, 110, 210, 310], list.map { |one| one.at_s.round }
    assert_in_delta 400, server.now_s, 11
  end

  # @yieldparam orders [Array<Numeric>] when they were given
  def forecasting(seconds, duration_s: 500)
    server = PlayedServer.new([11, 12]) { {} }
    orders = []
    server.define_singleton_method(:order) { |threads| super(threads).tap { orders << now_s } }
    forecast = lambda do |_, _, &still|
      seconds.times do
        server.pass(1)
        still&.call
        yield(server)
      end
      found(nil)
    end
    automatic = Trial::Automatic.new(server, mode: :observe, cool_down_s: COOL_DOWN_S, forecast:, clock: server.method(:now_s))
    automatic.define_singleton_method(:sleep) { |real_s| Thread.current[:played] ? server.pass(real_s) : Kernel.sleep(0.001) }
    Thread.current[:played] = server
    automatic.call(duration_s:) { |_| nil }
    orders
  ensure
    Thread.current[:played] = nil
  end

  test "the number in force is ordered while a forecast takes minutes, as on a server that leaves no core free" do
    orders = forecasting(300) { Kernel.sleep(0.002) }
    assert_operator orders.each_cons(2).map { |one, other| other - one }.max, :<, Trial::Server::LEASE_S * 4
    assert_operator orders.last, :>, 290
  end

  test "an order that can't be written is tried again, and ends it where it fails for as long as an order is good" do
    full_at = lambda do |seconds|
      lambda do |server|
        Kernel.sleep(0.002)
        server.full = seconds.cover?(server.now_s)
      end
    end
    assert_operator forecasting(60, duration_s: 100, &full_at[20..22]).last, :>, 55
    full = assert_raises(MeasurementFailed) { forecasting(60, &full_at[21..]) }
    assert_match(/No space left/, full.message)
  end

  test "so is one of a trial, and of watching all workers" do
    [[12, 15], [31, 34]].each do |full|
      server = PlayedServer.new([11, 12]) { {} }
      [true, false].zip(full) { |full, at_s| server.at(at_s) { server.full = full } }
      assert_equal %i[stepped kept], kinds(told(server, seconds: 60)).first(2)
      server = PlayedServer.new([11, 12]) { {} }
      server.at(full.first) { server.full = true }
      assert_match(/No space left/, assert_raises(MeasurementFailed) { told(server, seconds: 60) }.message)
      assert_in_delta full.first + Trial::Server::LEASE_S, server.now_s, 2
    end
  end

  test "the command says what it has found, too, where it can't go on" do
    server = PlayedServer.new([11, 12]) { {} }
    server.at(31) { server.full = true }
    forecast = ->(count, _) { server.pass(10) && found((count < 4) ? 4 : nil) }
    command = CLI::Commands::Auto.new(out: StringIO.new, err: StringIO.new)
    command.instance_variable_set(:@automatic, Trial::Automatic.new(server, mode: :auto, cool_down_s: COOL_DOWN_S, forecast:, clock: server.method(:now_s)))
    Thread.current[:played] = server
    assert_raises(MeasurementFailed) { command.send(:watch, 60) }
    assert_match(/^It ended with 4 threads\. To keep them: threads 4, 4 in config\/puma\.rb\..* All processes get what is configured again\.$/, command.send(:out).string)
  ensure
    Thread.current[:played] = nil
  end

  test "an order that failed just before a trial ends nothing after it, as others came through meanwhile" do
    server = PlayedServer.new([11, 12]) { {} }
    forecast = ->(count, _) { server.pass(10) && found((count < 4) ? 4 : nil) }
    automatic = Trial::Automatic.new(server, mode: :auto, cool_down_s: COOL_DOWN_S, forecast:, clock: server.method(:now_s))
    automatic.define_singleton_method(:keep) {}
    server.at(9) { automatic.instance_variable_set(:@failed, [9.0, MeasurementFailed.new("No space left")]) }
    list = []
    Thread.current[:played] = server
    automatic.call(duration_s: 60) { |one| list << one }
    assert_equal %i[stepped kept], kinds(list).first(2)
  ensure
    Thread.current[:played] = nil
  end

  def readings_count(file) = Trial::Journal.read(file.path).tap(&:replay).readings.size

  test "a process without fellows has each number in turns, and is watched to the end of both" do
    server = PlayedServer.new([11]) { {} }
    plan = plan(pids: [11], periods_count: 4, period_s: 10.0)
    Thread.current[:played] = server
    ended, readings = Tempfile.create("journal") do |file|
      journal = Trial::Journal.new(file)
      run = Trial::Run.new(server, plan, journal:, clock: server.method(:now_s))
      journal.begin(plan, started_at: "2026-11-25T00:00:00Z", server_pid: 7)
      [run.watch, run.readings].tap { assert_equal readings_count(file), run.readings.size }
    end
    assert_nil ended
    assert_equal [3, 5], readings.map { |reading| reading.workers.first.threads_count }.uniq.sort
    assert_equal %i[stepped kept], kinds(told(PlayedServer.new([11]) { {} }, seconds: 90)).first(2)
  ensure
    Thread.current[:played] = nil
  end

  test "a forecast is computed in a process of its own that gives way, and which may be killed" do
    server = PlayedServer.new([11]) { {} }
    forecaster = Trial::Forecaster.new(server, window_s: 0)
    found = forecaster.send(:beside) { [Process.getpriority(Process::PRIO_PROCESS, 0), Process.pid] }
    assert_equal ServerForecast::NICEST, found.first
    refute_equal Process.pid, found.last
    refute_equal ServerForecast::NICEST, Process.getpriority(Process::PRIO_PROCESS, 0)
    assert_nil forecaster.send(:beside) { Process.kill(:KILL, Process.pid) && sleep }
    assert_raises(InvalidMeasurement) { forecaster.send(:beside) { raise InvalidMeasurement, "no" } }
    assert_raises(Errno::ECHILD) { Process.wait(found.last) }
  end

  test "a forecast is charged the CPU time of its own process and thread, not that of others which end meanwhile" do
    spin = ->(seconds) { nil while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < seconds }
    other = fork { spin.call(1.0) && exit!(0) }
    charged = lambda do |forecast|
      forecaster = Trial::Forecaster.new(PlayedServer.new([11]) { {} }, window_s: 0)
      forecaster.define_singleton_method(:forecast, &forecast)
      forecaster.call(3, [2]).fetch(:cpu_s)
    end
    assert_includes 0.2..0.9, charged.call(->(*) { Process.wait(other) && {why_not: beside { spin.call(0.2) }} })
    assert_operator charged.call(->(*) { {why_not: beside { sleep(0.1) && Process.kill(:KILL, Process.pid) && sleep }} }), :>=, 0.1
  end

  test "a server whose threads are never free is held by its throughput" do
    forecaster = Trial::Forecaster.new(PlayedServer.new([11]) { {} }, window_s: 0)
    {4_000 => "p99", 9_500 => "throughput"}.each do |busy_ms, metric|
      served = endpoint_observation(traces: [trace("held", 1, "io", 9)] * 40, requests_count: 500, budget: {wall_ns: busy_ms * MS})
      recorded = observation(load: nil, topology: topology("1x2"), duration_ns: 5_000 * MS, endpoints: [served])
      assert_equal metric, forecaster.send(:ratios, recorded, [1, 2]).first.fetch(:metric)
    end
  end

  # Five seconds of eight clients who wait.
  def full(threads_count, requests_count:, pid: 100, clients: 8)
    served = endpoint_observation(traces: [trace("held", 1, "io", 9)] * 120, requests_count:,
      budget: {wall_ns: clients * 5_000 * MS, queue_ns: 4 * 5_000 * MS})
    observation(load: nil, topology: topology("1x#{threads_count}"), duration_ns: 5_000 * MS, endpoints: [served],
      processes: [process_observation.with(pid:)])
  end

  test "where the simulation of today's threads has no steady state or ends in a deadlock, that is why there is no forecast" do
    stuck = Statement.of(:deadlock, locks: %w[a b])
    off = Predict::CheckedFigure.new(metric: "throughput", recorded: 200.0, simulated: estimate(0.0), error_ratio: -1.0, beyond_noise: true)
    [->(sweep) { sweep.with(forecasts: sweep.forecasts.map { |one| (one.topology == sweep.today) ? one.with(unsteady: stuck) : one }) },
      ->(sweep) { sweep.with(self_check: Predict::SelfCheck.new(settings: [Predict::CheckedSetting.new(scenario: sweep.forecasts.first.scenario, figures: [off], cause: stuck)])) }].each do |changed|
      forecaster = Trial::Forecaster.new(PlayedServer.new([11]) { {} }, window_s: 0)
      recorded = full(2, requests_count: 1_000)
      forecaster.define_singleton_method(:recorded) { |_| recorded }
      forecaster.define_singleton_method(:sweep) { |*given| changed.call(super(*given)) }
      assert_equal [{}, 1_000, "no_steady_state"], forecaster.call(2, [1, 2, 3]).values_at(:ratios, :requests_count, :why_not)
    end
  end

  # @return [Float] how far the interval of the last forecast reaches, for three threads
  def reach(*windows)
    forecaster = Trial::Forecaster.new(PlayedServer.new([11]) { {} }, window_s: 0)
    forecaster.define_singleton_method(:recorded) { |_| windows.shift }
    found = windows.size.times.map { forecaster.call(windows.first.topology.threads_count, [1, 2, 3]) }.last
    found.fetch(:ratios).fetch(3).then { |ratio| ratio.high / ratio.low }
  end

  test "what is served after a step tells how sure the next forecasts are" do
    # Two threads serve a little less than twice as many: what comes back after a wait in which both slept computes longer.
    as_forecast = full(2, requests_count: 950)
    usual = reach(as_forecast)
    before = full(1, requests_count: 500)
    assert_operator reach(before, as_forecast), :<, usual * 0.99
    assert_operator reach(before, full(2, requests_count: 700)), :>, usual * 1.01
    [full(2, requests_count: 700, pid: 101), full(2, requests_count: 700, clients: 9)].each do |other|
      assert_in_delta reach(other), reach(before, other), 1e-9, "of another server, or another load, it tells nothing"
    end
  end
end
