# frozen_string_literal: true

module PumaTuner
  module Calibrate
    # The load generator with one connection to an app that does nothing: its own CPU for each request, and the time
    # from one to the other end, against which a simulation of the same can be held.
    class Client
      TURNS_COUNT = 5
      TURN_S = 0.3

      # cpu, round_trip: Samples
      Figures = Data.define(:cpu, :round_trip)

      def self.expected_s(turns_count = TURNS_COUNT, turn_s = TURN_S) = turns_count * (turn_s + 0.15)

      # @param app [EmptyApp]
      def initialize(app, turns_count: TURNS_COUNT, turn_s: TURN_S)
        @app = app
        @turns_count = turns_count
        @turn_s = turn_s
      end

      # @return [Figures]
      def call
        outcomes = Array.new(@turns_count) { @app.load(1, Load::Arrivals.closed, @turn_s) }
        cpu_ns = outcomes.map { |outcome| outcome.generator_cpu_ns / outcome.requests_count }
        Figures.new(cpu: Sample.new(values_ns: cpu_ns), round_trip: Sample.new(values_ns: outcomes.map(&:p50_ns)))
      end
    end
  end
end
