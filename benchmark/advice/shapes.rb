# frozen_string_literal: true

require_relative "../validate/measurement"

module AdviceCheck
  Topology = PumaTuner::Topology

  # A shape of work that settings are advised for.
  #
  # workload: Validation::Workload, whose app serves it; good: a setting that somebody who knows the work would take
  Shape = Data.define(:name, :title, :workload, :good) do
    # @param routes [Hash{String => String}] steps by path, see validate/apps/steps.rb
    def self.of(name, title, routes, good:, weights: {}, gemfile: nil)
      new(name:, title:, good: Topology.parse(good), workload: Validation::Workload.new(name:, title:, routes:, weights:, nominal_ms: 10, gemfile:))
    end

    # What Validation::Servers asks of a subject.
    def ruby = RUBY_VERSION[/\A\d+\.\d+/]

    def puma = "8.0"

    def timeslice_ms = 100
  end

  # Fixed beforehand, as are the starting points, so that nobody picks those that come out well. One was changed after
  # two runs: the good setting of garbage was 2x3, which did not bear the rate in either of them, so that all three of its
  # starts were bad ones, and no A/A pair could be measured beside them.
  module Shapes
    ALL = [
      Shape.of("cpu", "2 ms of Ruby", {"/" => "c2"}, good: "2x1"),
      Shape.of("io", "three times 0.3 ms, waits 6", {"/" => "c0.3 i6 c0.3 i6 c0.3 i6"}, good: "2x16"),
      Shape.of("realistic", "a list (2 ms, waits 4), pages (1 ms, waits 3, 1 ms, waits 2), a search (5 ms, waits 12, 2 ms), a form (1 ms, waits 6, writes a log, 1 ms): 4, 8, 2 and 2 of 16",
        {"/list" => "c2 i4", "/page" => "c1 i3 c1 i2", "/search" => "c5 i12 c2", "/form" => "c1 i6 w200 c1"}, weights: {"/list" => 4, "/page" => 8, "/search" => 2, "/form" => 2}, good: "2x3"),
      Shape.of("lock", "1 ms, waits 5, 3 ms with a mutex that all requests of a worker want", {"/" => "c1 i5 m1( c3 )"}, good: "2x3"),
      Shape.of("garbage", "4,000 hashes of garbage, waits 2 between, beside 300,000 objects that stay", {"/" => "g2 i2 g2"}, good: "2x5"),
      Shape.of("slow_endpoint", "19 of 20: 1 ms, waits 2; 1 of 20: 40 ms", {"/fast" => "c1 i2", "/slow" => "c40"}, weights: {"/fast" => 19, "/slow" => 1}, good: "2x3")
    ].freeze

    NAMES = ALL.map(&:name).freeze

    # Two places for all threads of a worker.
    STARVED = Shape.of("starved_pool", "0.5 ms, waits 8 with one of 2 connections of a pool", {"/" => "c0.5 p2( i8 )"}, gemfile: "validation_pool", good: "1x5")
    STARVED_AT = %w[1x5 1x16 2x5].map { |text| Topology.parse(text) }.freeze

    # @return [Shape]
    def self.find(name) = ALL.find { |shape| shape.name == name } || raise(KeyError, "no shape #{name}")
  end

  # How much is measured, and for how long.
  #
  # threads: of the grid, with 1 and 2 workers; companions: whether settings are recorded besides today's, as `measure` does
  # warmup_s, record_s: of a recording; pilot_s: of the load that tells what a setting bears; trial_s: of one setting in a round
  # cut_after_counts: rounds after which settings that can't be the best are left out, see Race; trials_count: of a shape, about, which are more rounds
  # of fewer settings; rounds: how few and how many
  Form = Data.define(:name, :threads, :companions, :warmup_s, :record_s, :pilot_s, :trial_s, :trials_count, :cut_after_counts, :rounds) do
    # @return [Array<Topology>]
    def grid = [1, 2].product(threads).map { |workers_count, threads_count| Topology.from(workers_count, threads_count) }

    # @param shape [Shape]
    # @return [Hash{String => Topology}] the starting points: too many threads, one, and a good setting
    def starts(shape) = {"too many threads" => Topology.from(1, threads.max), "one thread" => Topology.from(1, 1), "a good setting" => shape.good}

    # @param shape [Shape]
    # @return [Array<Topology>] that are recorded for a starting point, itself first
    def recorded(start) = [start, *(companions ? PumaTuner::Measure::Companions.of(start, [1, 2]) : [])]

    # Beside what is asked for: a server's start, the generator's, a simulation. Looked at, and rounded up.
    const_set(:BOOT_S, 1.3)
    const_set(:START_S, 0.4)
    const_set(:ADVISE_S, 2.0)

    # @param shape [Shape]
    # @return [Float] seconds, about
    def recordings_s(shape)
      starts(shape).each_value.sum do |start|
        windows = recorded(start).size
        windows * (self.class::BOOT_S + 2 * warmup_s + 5 * self.class::START_S) + record_s * (1 + PumaTuner::Measure::Recordings::BRIEF_RATIO * windows) + self.class::ADVISE_S
      end
    end

    # @return [Float] seconds, about
    def rounds_s
      serving_s = self.class::BOOT_S / 2 + 2 * (pilot_s + self.class::START_S)
      (grid.size + 1) * serving_s + trials_count * (trial_s + self.class::START_S) + trials_count / Measured::LEG_ROUNDS_COUNT * serving_s
    end

    # @return [Float] seconds that the pools take, about
    def starved_s = Shapes::STARVED_AT.size * (self.class::BOOT_S + 2 * warmup_s + 5 * self.class::START_S + record_s + self.class::ADVISE_S)
  end

  FORMS = {
    quick: Form.new(name: "quick", threads: [1, 3, 5, 16], companions: false, warmup_s: 0.9, record_s: 2.5, pilot_s: 0.8, trial_s: 1.5, trials_count: 30, cut_after_counts: [2, 6], rounds: 8..12),
    full: Form.new(name: "full", threads: [1, 2, 3, 5, 8, 16], companions: true, warmup_s: 1.5, record_s: 5.0, pilot_s: 1.5, trial_s: 2.5, trials_count: 240, cut_after_counts: [3, 8], rounds: 10..60)
  }.freeze

  # Of what the setting bears that bears most: there settings differ, and nothing is overloaded that need not be.
  LOAD_RATIO = 0.6
end
