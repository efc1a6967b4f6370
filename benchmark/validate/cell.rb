# frozen_string_literal: true

require_relative "workloads"

module Validation
  # What one recording is made of, and all its cells are predicted from.
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

  # The load on a cell.
  #
  # kind: "closed": as many connections as there are slots, times factor; "clients": as many connections as factor says, whatever
  #   the settings, so that settings can be held against each other; "open": so much of the predicted capacity
  Level = Data.define(:kind, :factor) do
    def self.closed(factor) = new(kind: "closed", factor:)

    def self.clients(count) = new(kind: "clients", factor: count)

    def self.open(factor) = new(kind: "open", factor:)

    # @param text [String] see to_s
    def self.parse(text) = text.split("-", 2).then { |kind, factor| new(kind:, factor: Float(factor)) }

    def open? = kind == "open"

    # @return [Boolean] whether its cells are there to be held against each other (see Picks), not for the wait for the GVL
    def for_picks? = kind == "clients"

    # @return [Integer] connections of a closed loop
    def connections_count(topology) = for_picks? ? factor.to_i : [(factor * topology.slots_count).round, 1].max

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
  end
end
