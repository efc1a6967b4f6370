# frozen_string_literal: true

require_relative "../support/bench"

module Validation
  # What is served and asked for.
  #
  # kind: class of work, one of Workloads::KINDS: errors are judged by it
  # routes: {path => steps}, see apps/steps.rb; empty of an application that nobody here wrote
  # weights: {path => how often}, where not all are asked equally often
  # nominal_ms: of a mean request alone, about; how long measuring must take follows from it
  # limit_count: so many requests at a time, of all workers, the service of a step "l" serves, which each request has once; nil: none has
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

    # What a user who knows of the limit tells with `--station io=N`: one recorded request at a time can't show it.
    # @return [Array<PumaTuner::Predict::Station>]
    def stations = limit_count ? [PumaTuner::Predict::Station.new(kind: "io", servers_count: limit_count)] : []

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
      Workload.new(name: "limited", title: "1 ms, asks a service that takes 8 and serves 4 of all workers' requests at a time, 1 ms",
        routes: {"/" => "c1 l8 c1"}, nominal_ms: 10.5, limit_count: 4),
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

  # What recordings are made of, and all cells are predicted from.
  #
  # ruby, puma: "3.4", "8.0"; "own" for an application that brings its Puma; timeslice_ms: RUBY_THREAD_TIMESLICE
  Subject = Data.define(:workload_name, :ruby, :puma, :timeslice_ms) do
    # @param key [String] see key
    def self.parse(key)
      workload_name, ruby, puma, timeslice = key.split("/")
      new(workload_name:, ruby:, puma:, timeslice_ms: Integer(timeslice))
    end

    def workload = Workloads.find(workload_name)

    # @return [String] "a/3.4/8.0/100"
    def key = deconstruct_keys(nil).values.join("/")
  end

  # At which settings a subject was recorded, and what a prediction may use of it.
  #
  # companions: whether with recordings of the same app at other settings (Probe::Observation#companions), as `tune` makes them
  RecordedAt = Data.define(:topology, :companions) do
    def initialize(topology:, companions: false) = super

    # @param text [String] see to_s
    def self.parse(text)
      topology, companions = text.split("+", 2)
      raise PumaTuner::UsageError, "#{text} is no setting to record at; 1x5 is one, and 1x5+companions" unless [nil, "companions"].include?(companions)
      new(topology: PumaTuner::Topology.parse(topology), companions: !companions.nil?)
    end

    def alone = with(companions: false)

    # @return [String] "1x5" or "1x5+companions"
    def to_s = "#{topology}#{"+companions" if companions}"
  end

  # The load on a cell.
  #
  # kind: "closed": as many connections as there are slots, times factor; "clients": as many connections as factor says, whatever
  #   the settings, so that settings can be held against each other; "wrk": the same, sent by wrk in place of our generator;
  #   "open": so much of the predicted capacity
  Level = Data.define(:kind, :factor) do
    def self.closed(factor) = new(kind: "closed", factor:)

    def self.clients(count) = new(kind: "clients", factor: count)

    def self.wrk(count) = new(kind: "wrk", factor: count)

    def self.open(factor) = new(kind: "open", factor:)

    # @param text [String] see to_s
    def self.parse(text) = text.split("-", 2).then { |kind, factor| new(kind:, factor: Float(factor)) }

    def open? = kind == "open"

    def wrk? = kind == "wrk"

    # @return [Boolean] whether as many clients come whatever the settings, so that its cells can be held against each other (see Picks)
    def same_clients? = kind == "clients" || wrk?

    # @return [Integer] connections of a closed loop
    def connections_count(topology) = same_clients? ? factor.to_i : [(factor * topology.slots_count).round, 1].max

    def to_s = "#{kind}-#{format("%g", factor)}"
  end

  # One measurement to be predicted: settings and load.
  Cell = Data.define(:subject, :topology, :level) do
    # @param key [String] see key
    def self.parse(key)
      *subject, topology, level = key.split("/")
      new(subject: Subject.parse(subject.join("/")), topology: PumaTuner::Topology.parse(topology), level: Level.parse(level))
    end

    # @return [String] "a/3.4/8.0/100/2x3/closed-1"
    def key = [subject.key, topology, level].join("/")

    # @return [Boolean] whether the wait for the GVL is measured as well, which takes a load with the probe: not of the made grids to
    #   pick from, as the same workloads meet other cells
    def probed? = !level.wrk? && !(level.same_clients? && subject.workload.made?)
  end

  # Which cells are measured, and from which recordings they are predicted. Fixed beforehand, so that nobody picks those that come out well.
  module Grid
    # quick: some ten minutes; medium: about an hour; full: a day
    FORMS = %i[quick medium full].freeze

    WORKERS = [1, 2].freeze
    THREADS = [1, 2, 3, 5, 8, 16].freeze
    LEVELS = [*[0.5, 1, 2, 4].map { |factor| Level.closed(factor) }, *[0.3, 0.5, 0.7, 0.85].map { |factor| Level.open(factor) }].freeze

    # The others are for picks alone.
    SWEPT_WORKLOADS = %w[empty cpu a many_waits coarse long bimodal garbage].freeze

    # What to pick the best workers x threads from, under the same clients: with enough settings, and on workloads with which
    # formulas pick differently (test/benchmark/validate_test.rb simulates that they do). Shares of IO from 30 to 95%, requests that
    # differ, garbage, and a limit outside of Puma.
    PICK_SETTINGS = %w[1x1 1x2 1x3 1x5 1x8 2x1 2x2 2x3 2x5 2x8].map { |text| PumaTuner::Topology.parse(text) }.freeze
    PICK_LEVEL = Level.clients(24)
    PICK_WORKLOADS = %w[io_30 io_50 a io_90 io_95 varied garbage limited].freeze
    QUICK_PICK_SETTINGS = PICK_SETTINGS.reject { |topology| topology.to_s == "1x3" }.freeze
    QUICK_PICK_WORKLOADS = %w[io_30 varied limited].freeze

    # Ruby, Puma and time slice; Ruby 3.3 knows only 100 ms. The first is the one that the whole grid is measured with.
    COMBINATIONS = %w[8.0 7.2 6.6].flat_map { |puma| [["3.4", puma, 100], ["3.4", puma, 10], ["3.3", puma, 100]] }.freeze

    # With the others, those workloads that can show what differs (Puma's rules for accepting, the slice, the Ruby) meet a few
    # settings: the whole product takes days.
    SPARSE_WORKLOADS = %w[empty a many_waits bimodal].freeze
    SPARSE_THREADS = [3, 8].freeze
    SPARSE_LEVELS = [Level.closed(1), Level.closed(4), Level.open(0.7)].freeze

    # As many clients as a user's load has, whatever the settings.
    USUAL_CLIENTS_COUNT = 20

    # Locks, hand-over and background.
    MEDIUM_KINDS = %w[locks handover].freeze
    MEDIUM_THREADS = [1, 3, 5, 16].freeze

    REAL_COMBINATION = ["3.4", "own", 100].freeze
    REAL_SETTINGS = %w[1x1 1x2 1x3 1x5 1x8 2x1 2x3 2x5 2x8].map { |text| PumaTuner::Topology.parse(text) }.freeze

    # Of each real application. Nobody looks at these errors while the model is worked on: `--held-out` judges them, once at the end.
    HELD_OUT_SETTINGS = %w[1x3 2x5].map { |text| PumaTuner::Topology.parse(text) }.freeze

    QUICK = {
      "empty/3.4/8.0/100" => {"1x3" => "closed-1 open-0.5", "2x5" => "closed-2"},
      "cpu/3.4/8.0/100" => {"1x1" => "closed-1 open-0.7", "1x5" => "closed-2"},
      "a/3.4/8.0/100" => {"1x3" => "closed-1 open-0.7", "1x5" => "closed-2 open-0.5", "1x8" => "closed-1", "2x3" => "closed-1 open-0.85"},
      "many_waits/3.4/8.0/100" => {"1x3" => "closed-1 open-0.7", "1x8" => "closed-1", "2x5" => "closed-1"},
      "coarse/3.4/8.0/100" => {"1x3" => "closed-2"},
      "long/3.4/8.0/100" => {"1x3" => "closed-1"},
      "bimodal/3.4/8.0/100" => {"1x3" => "closed-1 open-0.5", "2x5" => "closed-1"},
      "garbage/3.4/8.0/100" => {"1x1" => "closed-1", "1x5" => "closed-1 open-0.7", "2x3" => "closed-1"},
      "a/3.4/7.2/100" => {"1x3" => "closed-4"},
      "a/3.4/6.6/100" => {"1x3" => "closed-1", "2x3" => "closed-4"}
    }.freeze

    class << self
      # @param form [Symbol] of FORMS
      # @param everything [Boolean] whether, in the long form, all combinations meet all settings
      # @return [Array<Cell>]
      def cells(form, everything: false)
        case form
        when :quick then quick
        when :medium then [*picks(QUICK_PICK_WORKLOADS, QUICK_PICK_SETTINGS), *contended(MEDIUM_KINDS, MEDIUM_THREADS), *real]
        when :full then full(everything)
        end
      end

      # @return [Array<Cell>] of real applications, with wrk as the client
      def by_wrk = real(Level.wrk(USUAL_CLIENTS_COUNT))

      # @param form [Symbol] of FORMS
      # @param workload [Workload]
      # @return [Array<RecordedAt>] from which all cells of the workload are predicted, each by itself
      def recorded_at(form, workload)
        case workload.kind
        when "made" then %w[1x1]
        when "real" then ["1x1#{"+companions" if form == :full}", "#{workload.own_topology}+companions"]
        else (form == :full) ? %w[1x1 1x5 1x16] : %w[1x1 1x5]
        end.map { |text| RecordedAt.parse(text) }
      end

      # With as many clients as threads, one thread means one request at a time; with a user's load, it is as a user records it.
      # @param workload [Workload]
      # @param topology [PumaTuner::Topology] of a recording
      # @return [Integer]
      def recorded_connections_count(workload, topology) = workload.made? ? topology.slots_count : USUAL_CLIENTS_COUNT

      # @param cell [Cell]
      # @return [Boolean]
      def held_out?(cell) = cell.subject.workload.real? && HELD_OUT_SETTINGS.include?(cell.topology)

      private

      def quick
        cells = QUICK.flat_map do |subject_key, topologies|
          topologies.flat_map { |topology, levels| levels.split.map { |level| Cell.parse("#{subject_key}/#{topology}/#{level}") } }
        end
        cells + picks(QUICK_PICK_WORKLOADS, QUICK_PICK_SETTINGS)
      end

      def full(everything)
        made = Workloads::ALL.select { |workload| SWEPT_WORKLOADS.include?(workload.name) }
        first, *others = COMBINATIONS
        [
          *picks(PICK_WORKLOADS, PICK_SETTINGS),
          *product(made, [first], THREADS, LEVELS),
          *contended(Workloads::KINDS.keys - %w[made real], THREADS),
          *real,
          *(everything ? product(made, others, THREADS, LEVELS) : product(made.select { |workload| SPARSE_WORKLOADS.include?(workload.name) }, others, SPARSE_THREADS, SPARSE_LEVELS))
        ]
      end

      def picks(names, topologies) = at_one_level(names.map { |name| Workloads.find(name) }, COMBINATIONS.first, topologies, PICK_LEVEL)

      def contended(kinds, threads)
        workloads = Workloads::ALL.select { |workload| kinds.include?(workload.kind) }
        at_one_level(workloads, COMBINATIONS.first, topologies(threads), Level.clients(USUAL_CLIENTS_COUNT))
      end

      def real(level = Level.clients(USUAL_CLIENTS_COUNT)) = at_one_level(Workloads::ALL.select(&:real?), REAL_COMBINATION, REAL_SETTINGS, level)

      def at_one_level(workloads, combination, topologies, level)
        subjects([combination], workloads).product(topologies).map { |subject, topology| Cell.new(subject:, topology:, level:) }
      end

      def product(workloads, combinations, threads, levels)
        subjects(combinations, workloads).product(topologies(threads))
          .flat_map { |subject, topology| distinct(levels, topology).map { |level| Cell.new(subject:, topology:, level:) } }
      end

      def subjects(combinations, workloads)
        combinations.product(workloads).map { |(ruby, puma, timeslice_ms), workload| Subject.new(workload_name: workload.name, ruby:, puma:, timeslice_ms:) }
      end

      def topologies(threads) = WORKERS.product(threads).map { |workers, count| PumaTuner::Topology.from(workers, count) }

      # Half a connection is none, and a whole one is measured already.
      def distinct(levels, topology)
        levels.reject { |level| !level.open? && level.factor * topology.slots_count < 1 }
      end
    end
  end
end
