# frozen_string_literal: true

module Validation
  # What is served and asked for.
  #
  # routes: {path => steps}, see apps/steps.rb; empty of an application that nobody here wrote
  # weights: {path => how often}, where not all are asked equally often
  # nominal_ms: of a mean request alone, about; how long measuring must take follows from it
  # limit_count: so many requests at a time, of all workers, can be in a step "l"; nil without such a step
  Workload = Data.define(:name, :title, :routes, :weights, :nominal_ms, :limit_count) do
    def initialize(name:, title:, nominal_ms:, routes: {}, weights: {}, limit_count: nil) = super

    # @return [Boolean] whether it is an application of labs/real_apps
    def real? = routes.empty?

    # @return [PumaTuner::Load::Mix]
    def mix
      return PumaTuner::Load::Mix.read(File.join(Workloads::REAL_APPS, name, "requests.txt")) if real?
      PumaTuner::Load::Mix.new(requests: routes.keys.map { |path| PumaTuner::Load::Request.new(path:, weight: weights.fetch(path, 1)) })
    end

    # What a user who knows of the limit tells with `--station sleep=N`: one recorded request at a time can't show it.
    # @return [Array<PumaTuner::Predict::Station>]
    def stations = limit_count ? [PumaTuner::Predict::Station.new(kind: "sleep", servers_count: limit_count)] : []

    # @return [Boolean] whether its CPU is a fixed number of turns of a loop, however it is served
    def fixed_work? = !real? && routes.values.any? { |steps| steps.include?("c") } && routes.values.none? { |steps| steps.include?("g") }

    # @return [String] for the app's environment
    def steps = routes.map { |path, steps| "#{path}=#{steps}" }.join(";")
  end

  # All of them, by name, in the page's order.
  module Workloads
    REAL_APPS = File.expand_path("../../labs/real_apps", __dir__)

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
      Workload.new(name: "gollum", title: "a wiki, labs/real_apps", nominal_ms: 60),
      Workload.new(name: "solidus", title: "a shop, labs/real_apps", nominal_ms: 20)
    ].freeze

    NAMES = ALL.map(&:name).freeze

    # @return [Workload]
    def self.find(name) = ALL.find { |workload| workload.name == name } || raise(KeyError, "no workload #{name}")
  end
end
