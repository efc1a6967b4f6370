# frozen_string_literal: true

require "test_helper"

PumaTuner::Lab.find("myth_busters")

# What the lab would have measured, had it been so.
module MythBustersFixture
  Lab = PumaTuner::Labs::MythBusters
  Outcome = Data.define(:requests_count, :throughput_per_s, :mean_ns, :p50_ns, :p99_ns, :unanswered_count, :socket_errors_count)
  ROUNDS_COUNT = 6
  MS = 1_000_000

  module_function

  # @return [String, nil] what is not here, for tests that start servers
  def why_not
    missing = Lab::Packages.missing
    return "not installed: #{missing.join(", ")}; bin/setup --labs installs them" if missing.any?
    "run first: puma_tuner lab setup myth_busters" unless Lab::GoServer.built? && PumaTuner::Lab::Gems.missing(Lab::Pins.all).empty?
  end

  # @param per_s [Numeric] throughput
  # @param cpu_ms, mib [Numeric] of a request, of the server
  # @return [Array<Lab::Turn>] rounds that differ by a per cent
  def turns(per_s, cpu_ms: 20, mib: 50, mean_ms: 1_000 / per_s)
    Array.new(ROUNDS_COUNT) do |number|
      factor = 1 + (number - 2.5) / 500
      outcome = Outcome.new(requests_count: 100, throughput_per_s: per_s * factor, mean_ns: mean_ms * MS / factor, p50_ns: mean_ms * MS, p99_ns: mean_ms * 2 * MS,
        unanswered_count: 0, socket_errors_count: 0)
      Lab::Turn.new(outcome:, cpu_ns: (cpu_ms * 100 * MS).round, memory_bytes: (mib * PumaTuner::Units::MIB * factor**(mib / 10 - 3)).round, disturbed: nil)
    end
  end

  # @param turns [Hash{Array(String, Lab::Asked) => Array<Lab::Turn>}]
  def rounds(turns) = Lab::Duel::Rounds.new(turns:, disturbed_count: 0, void_count: 0)

  def sizes = Lab::Sizes.quick

  # @param puma_per_s [Hash{String => Numeric}] by path, where Go has 100
  def grid(puma_per_s = {})
    loads = [*%w[/io-only /realistic].product(sizes.connections).map { |path, count| Lab::Asked.closed(path, count) },
      *%w[/cpu-only /level].map { |path| Lab::Asked.closed(path, sizes.connections.last) }]
    rounds(loads.flat_map { |asked|
      path = asked.paths.keys.first
      clients = (path == "/io-only") ? asked.connections_count : 1
      [[["Puma 1x50", asked], turns(puma_per_s.fetch(path, 70) * clients)], [["Go", asked], turns(100 * clients)]]
    }.to_h)
  end

  def languages(factor)
    rounds({"Puma 1x50" => factor, "Puma 1x50, YJIT" => factor / 3.0, "Go" => 1}.to_h { |name, times| [[name, Lab::Grid::TARAI], turns(100, mean_ms: times)] })
  end

  # @param per_s [Hash{String => Numeric}] by server
  def capacity(per_s = {"Puma 1x5" => 45, "Puma 2x5" => 85, "Puma 3x5" => 95, "Go" => 100})
    realistic, level = %w[/realistic /level].map { |path| Lab::Asked.closed(path, sizes.saturated) }
    mib = {"Go" => 17, "Puma 3x5" => 51}
    all = [realistic, level].product(per_s.to_a).to_h { |asked, (name, number)| [[name, asked], turns(number, mib: mib.fetch(name, 40), cpu_ms: (name == "Go") ? 2 : 21)] }
    Lab::Capacity::Measured.new(rounds: rounds(all), realistic:, level:, open: per_s.to_h { |name, number| [["/level", name], [[number / 2.0, turns(number / 2.0).first]]] })
  end

  # @param per_s [Hash{String => Numeric}] by server
  def talk(per_s = {"Puma 1x50" => 620, "Puma 2x50" => 1_000, "Puma 3x50" => 1_240, "Go" => 1_240})
    most, more = sizes.talk.fetch(:connections).map { |count| Lab::Asked.closed("/talk", count) }
    Lab::Talk::Measured.new(inversion: [Lab::Inversion::LITERAL].map { |reading| given(reading) } << given(Lab::Inversion::SHORTER), overhead_ns: 400_000, units: 350,
      rounds: of_loads(per_s, most, more, cpu_ms: 1.65), most:, more:)
  end

  def given(reading) = Lab::Inversion::Given.new(reading:, puma_per_s: 47.0, go_per_s: 466.0, share_ratio: 0.1, processes_count: nil)

  def of_loads(per_s, *loads, **more) = rounds(loads.product(per_s.to_a).to_h { |asked, (name, number)| [[name, asked], turns(number, **more)] })

  def trilogy = of_loads({Lab::Trilogy::MYSQL2.name => 100, Lab::Trilogy::TRILOGY.name => 110}, Lab::Asked.closed("/page", 5), Lab::Asked.closed("/realistic", 5))

  def of_entrants(entrants, asked, per_s = {}) = rounds(entrants.to_h { |entrant| [[entrant.name, asked], turns(per_s.fetch(entrant.name, 50))] })

  def variants
    asked = Lab::Asked.closed("/realistic", sizes.saturated)
    Lab::Variants::Measured.new(realistic: of_entrants(Lab::Variants::REALISTIC, asked, "YJIT" => 150), waiting: of_entrants(Lab::Variants::WAITING, asked),
      mixed: of_entrants(Lab::Variants::MIXED, Lab::Asked.closed(Lab::Variants::MIX, 6)))
  end

  # @param per_s [Hash{Integer => Numeric}] by threads
  def cells(io_ratio, per_s)
    per_s.map do |threads, number|
      Lab::Sweep::Cell.new(io_ratio:, threads:, forecast: nil, gvl_wait_ns: 1.0e6, disturbed: nil,
        **{throughput_per_s: number, p50_ns: 20 * MS, p99_ns: 40 * MS}.transform_values { |value| PumaTuner::Stats::Estimate.of_range([value]) })
    end
  end

  def measured(**parts)
    pace = {ruby_ns: 3_600.0, go_ns: 180.0}
    asked = Lab::Asked.closed("/realistic", sizes.clients_count, kept: true)
    Lab::Measured.new(sizes:, pace:, amounts: Lab::Amounts.of_sleep(0.05, io_ratio: 0.7, **pace), go: "go1.19", grid: grid("/io-only" => 100), languages: languages(10),
      threads: of_entrants([Lab::ThreadsDuel::RULE, Lab::ThreadsDuel::RAILS, Lab::ThreadsDuel::MANY], asked, "Puma 1x3" => 40),
      capacity: capacity, checks: [], cells: cells(0.7, {1 => 50, 3 => 110, 5 => 130, 16 => 131}), variants:, verdicts: {}, talk:, trilogy:, **parts)
  end
end
