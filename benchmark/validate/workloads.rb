# frozen_string_literal: true

module Validation
  # What is served and asked for.
  #
  # kind: class of work, one of Workloads::KINDS: errors are judged by it
  # routes: {path => steps}, see apps/steps.rb; empty of an application that nobody here wrote
  # weights: {path => how often}, where not all are asked equally often
  # nominal_ms: of a mean request alone, about; how long measuring must take follows from it
  # limit_count: so many requests at a time, of all workers, can be in a step "l"; nil without such a step
  # background: steps that a thread of each process does over and over beside the requests; nil without one
  # gemfile: of gemfiles, for an app that needs more than Puma and Rack; nil: that of the Puma
  # own_topology: of a real application, its own settings
  # command: of a real application
  Workload = Data.define(:name, :kind, :title, :routes, :weights, :nominal_ms, :limit_count, :background, :gemfile, :own_topology, :command) do
    def initialize(name:, title:, nominal_ms:, kind: "made", routes: {}, weights: {}, limit_count: nil, background: nil, gemfile: nil, own_topology: nil,
      command: %w[bundle exec puma]) = super

    # @return [Boolean] whether it is an application of labs/real_apps
    def real? = kind == "real"

    # @return [Boolean] whether it is of the grid that the model was made with
    def made? = kind == "made"

    # @return [PumaTuner::Load::Mix]
    def mix
      return PumaTuner::Load::Mix.read(File.join(Workloads::REAL_APPS, name, "requests.txt")) if real?
      PumaTuner::Load::Mix.new(requests: routes.keys.map { |path| PumaTuner::Load::Request.new(path:, weight: weights.fetch(path, 1)) })
    end

    # What a user who knows of the limit tells with `--station sleep=N`: one recorded request at a time can't show it.
    # @return [Array<PumaTuner::Predict::Station>]
    def stations = limit_count ? [PumaTuner::Predict::Station.new(kind: "sleep", servers_count: limit_count)] : []

    # @return [Boolean] whether its CPU is a fixed number of turns of a loop, however it is served
    def fixed_work? = made? && routes.values.any? { |steps| steps.include?("c") } && routes.values.none? { |steps| steps.include?("g") }

    # @return [String] for the app's environment
    def steps = routes.map { |path, steps| "#{path}=#{steps}" }.join(";")
  end

  # All of them, by name, in the page's order.
  module Workloads
    REAL_APPS = File.expand_path("../../labs/real_apps", __dir__)

    # In the page's order, each with what it is.
    KINDS = {
      "made" => "bursts, waits and garbage of known size: the grid that the model was made with",
      "locks" => "requests that wait for each other's locks",
      "handover" => "requests that release the GVL many times",
      "background" => "requests beside a thread that is busy",
      "real" => "applications that nobody here wrote"
    }.freeze

    ALL = [
      Workload.new(name: "empty", title: "nothing: Puma alone", routes: {"/" => ""}, nominal_ms: 0.2),
      Workload.new(name: "cpu", title: "2 ms of Ruby", routes: {"/" => "c2"}, nominal_ms: 2.2),
      Workload.new(name: "a", title: "2 ms, waits 5, 3 ms, waits 10, 1 ms", routes: {"/" => "c2 i5 c3 i10 c1"}, nominal_ms: 21.5),
      Workload.new(name: "many_waits", title: "eight times 0.3 ms, waits 1", routes: {"/" => (["c0.3 i1"] * 8).join(" ")}, nominal_ms: 11.5),
      Workload.new(name: "coarse", title: "twice 30 ms, waits 5", routes: {"/" => "c30 i5 c30 i5"}, nominal_ms: 70),
      Workload.new(name: "long", title: "120 ms, waits 20, 10 ms", routes: {"/" => "c120 i20 c10"}, nominal_ms: 150),
      Workload.new(name: "bimodal", title: "19 of 20: 1 ms, waits 2; 1 of 20: 200 ms", routes: {"/short" => "c1 i2", "/long" => "c200"},
        weights: {"/short" => 19, "/long" => 1}, nominal_ms: 13),
      Workload.new(name: "garbage", title: "5,000 hashes of garbage, waits 2", routes: {"/" => "g2.5 i2 g2.5"}, nominal_ms: 6),
      Workload.new(name: "io_30", title: "3.5 ms, waits 3, 3.5 ms", routes: {"/" => "c3.5 i3 c3.5"}, nominal_ms: 10.5),
      Workload.new(name: "io_50", title: "2.5 ms, waits 5, 2.5 ms", routes: {"/" => "c2.5 i5 c2.5"}, nominal_ms: 10.5),
      Workload.new(name: "io_90", title: "0.5 ms, waits 9, 0.5 ms", routes: {"/" => "c0.5 i9 c0.5"}, nominal_ms: 10.5),
      Workload.new(name: "io_95", title: "0.5 ms, waits 19, 0.5 ms", routes: {"/" => "c0.5 i19 c0.5"}, nominal_ms: 20.5),
      Workload.new(name: "varied", title: "3 of 4: 2 ms, waits 4; 1 of 4: 10 ms, waits 20", routes: {"/small" => "c2 i4", "/large" => "c10 i20"},
        weights: {"/small" => 3, "/large" => 1}, nominal_ms: 12.5),
      Workload.new(name: "limited", title: "1 ms, sleeps 8 where only 4 of all workers' requests can at a time, 1 ms", routes: {"/" => "c1 l8 c1"}, nominal_ms: 10.5,
        limit_count: 4),
      Workload.new(name: "lock_wait", kind: "locks", title: "1 ms, waits 8 with a mutex, 1 ms", routes: {"/" => "c1 m1( i8 ) c1"}, nominal_ms: 10.5),
      Workload.new(name: "lock_cpu", kind: "locks", title: "1 ms, waits 5, 3 ms with a mutex, waits 5", routes: {"/" => "c1 i5 m1( c3 ) i5"}, nominal_ms: 14.5),
      Workload.new(name: "lock_log", kind: "locks", title: "six times 0.5 ms and a line into a log, with a monitor; waits 4 between",
        routes: {"/" => "#{(["c0.5 w200"] * 3).join(" ")} i4 #{(["c0.5 w200"] * 3).join(" ")}"}, nominal_ms: 7.5),
      Workload.new(name: "lock_pool", kind: "locks", title: "1 ms, waits 4, computes 0.5 and waits 4 with one of 3 connections of a pool, 1 ms",
        routes: {"/" => "c1 p3( i4 c0.5 i4 ) c1"}, nominal_ms: 11, gemfile: "validation_pool"),
      Workload.new(name: "lock_nested", kind: "locks", title: "1 ms, 0.5 ms with a mutex, and waits 2 with another one within it; waits 4, 1 ms with the inner one alone",
        routes: {"/" => "c1 m1( c0.5 m2( i2 ) ) i4 m2( c1 )"}, nominal_ms: 8.5),
      Workload.new(name: "lock_cache", kind: "locks", title: "four times 0.5 ms and a look into a cache of all threads, with a mutex; one look in 20 waits 10 to fill it",
        routes: {"/" => (["c0.5 h10"] * 4).join(" ")}, nominal_ms: 4.5),
      Workload.new(name: "files_many", kind: "handover", title: "63 small files read, 0.03 ms after each: some 190 releases of the GVL", routes: {"/" => "f63 i2"},
        nominal_ms: 7),
      Workload.new(name: "files_few", kind: "handover", title: "7 small files read, 0.3 ms before each: some 20 releases of the GVL",
        routes: {"/" => "#{(["c0.3 f1"] * 7).join(" ")} i2"}, nominal_ms: 5),
      Workload.new(name: "beside_bursts", kind: "background", title: "1 ms, waits 5, 2 ms; beside a thread that computes 2 and waits 8", routes: {"/" => "c1 i5 c2"},
        background: "c2 i8", nominal_ms: 9),
      Workload.new(name: "beside_long", kind: "background", title: "1 ms, waits 5, 2 ms; beside a thread that computes 40 and waits 60", routes: {"/" => "c1 i5 c2"},
        background: "c40 i60", nominal_ms: 12),
      Workload.new(name: "gollum", kind: "real", title: "a wiki on Sinatra that keeps its pages in Git", own_topology: "1x5", nominal_ms: 60),
      Workload.new(name: "solidus", kind: "real", title: "a shop on Rails 8.1 with SQLite", own_topology: "1x3", nominal_ms: 20),
      Workload.new(name: "rails8", kind: "real", title: "a catalogue of books on Rails 8.1 with SQLite", own_topology: "1x3", nominal_ms: 6),
      Workload.new(name: "redmine", kind: "real", title: "an issue tracker on Rails 6.1 with SQLite", own_topology: "1x5", nominal_ms: 60),
      Workload.new(name: "redmine_pg", kind: "real", title: "the same with PostgreSQL, 1 ms away in each direction", own_topology: "1x5", nominal_ms: 130,
        command: %w[./serve bundle exec puma])
    ].freeze

    NAMES = ALL.map(&:name).freeze

    # @return [Workload]
    def self.find(name) = ALL.find { |workload| workload.name == name } || raise(KeyError, "no workload #{name}")
  end
end
