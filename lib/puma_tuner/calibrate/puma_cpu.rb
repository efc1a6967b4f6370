# frozen_string_literal: true

module PumaTuner
  module Calibrate
    # Puma's own CPU: of the reactor for each request, of the acceptor for each connection.
    class PumaCpu
      TURNS_COUNT = 5
      TURN_S = 0.5

      # Each client rests for a millisecond after a response, far longer than Puma looks whether there is more to read:
      # so every request goes through the reactor. Eight of them keep the server about as busy as one whose settings
      # matter. (Alone on a machine that sleeps in between, each request costs two to four times as much: cold caches,
      # and nobody waits for it.)
      CLIENTS_COUNT = 8
      THINK_S = 0.001

      # A new connection for each request.
      CONNECTIONS_PER_S = 1_000

      # The figures are Samples of nanoseconds of CPU. reactor, pool: for each request that goes through the reactor
      Figures = Data.define(:acceptor, :reactor, :pool)

      def self.through_the_reactor = [CLIENTS_COUNT, Load::Arrivals.closed(think_ns: (THINK_S * Units::NS_PER_S).round)]

      def self.expected_s(turns_count = TURNS_COUNT, turn_s = TURN_S) = turns_count * 2 * (turn_s + 0.15)

      # @param app [EmptyApp]
      def initialize(app, turns_count: TURNS_COUNT, turn_s: TURN_S)
        @app = app
        @turns_count = turns_count
        @turn_s = turn_s
      end

      # @return [Figures]
      def call
        requests = turns(*self.class.through_the_reactor, :requests_count)
        connections = turns(1, Load::Arrivals.open(CONNECTIONS_PER_S, kind: "even", reuse: 1..1),
          :connections_made_count)
        Figures.new(acceptor: sample(connections, :acceptor_ns), reactor: sample(requests, :reactor_ns),
          pool: sample(requests, :pool_ns))
      end

      private

      # @return [Array(ThreadCpu, Integer)] used in each turn, and how much was done
      def turns(connections_count, arrivals, counted)
        Array.new(@turns_count) do
          cpu, outcome = ThreadCpu.during(@app.pid) { @app.load(connections_count, arrivals, @turn_s) }
          [cpu, outcome.public_send(counted)]
        end
      end

      def sample(turns, part) = Sample.new(values_ns: turns.map { |cpu, count| cpu.public_send(part) / count })
    end
  end
end
