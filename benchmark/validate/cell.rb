# frozen_string_literal: true

require_relative "workloads"

module Validation
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
      raise PumaTuner::UserMistake, "#{text} is no setting to record at; 1x5 is one, and 1x5+companions" unless [nil, "companions"].include?(companions)
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
end
