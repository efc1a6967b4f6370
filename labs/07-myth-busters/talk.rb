# frozen_string_literal: true

require_relative "duel"
require_relative "inversion"

module PumaTuner
  module Labs
    class MythBusters
      # The request that the talk must have run, as the simulator finds it (Inversion), measured: one process of Puma with a thread for each client, more of
      # them, and Go, by the grid's most clients and by as many as bring Go to what was published.
      class Talk
        PATH = "/talk"

        # inversion: [Inversion::Given], the one that is measured last; overhead_ns: CPU of a request to Puma that computes nothing; units: of work, what is left
        # rounds: Duel::Rounds; most, more: Asked
        Measured = Data.define(:inversion, :overhead_ns, :units, :rounds, :most, :more) do
          # @return [Inversion::Given]
          def chosen = inversion.last
        end

        def self.entrants(sizes) = [*sizes.talk.fetch(:topologies).map { |topology| Entrant.puma(topology) }, Entrant.go]

        # @param field [Field]
        # @param sizes [Sizes]
        # @param run [Lab::Run]
        def initialize(field, sizes, run)
          @field = field
          @sizes = sizes
          @run = run
          @most, @more = sizes.talk.fetch(:connections).map { |count| Asked.closed(PATH, count) }
        end

        # @return [Measured]
        def call
          @run.note("which request the talk must have run, by the simulator")
          inversion = Inversion.new(seed: @run.seed).call
          overhead_ns = Lab::Again.after_void(@run) { overhead_ns() }
          units = self.class.units(inversion.last.reading.cpu_ns, overhead_ns, @field.pace.fetch(:ruby_ns))
          rounds = Duel.new(@field.with_talk(units), self.class.entrants(@sizes), [@most, @more], times: @sizes.duel, run: @run, title: "the talk's request").call
          Measured.new(inversion:, overhead_ns:, units:, rounds:, most: @most, more: @more)
        end

        # What Puma takes for the request itself is part of what the talk's request took.
        # @return [Integer] of work; 0 where Puma alone takes as much
        def self.units(cpu_ns, overhead_ns, unit_ns) = [(cpu_ns - overhead_ns) / unit_ns, 0].max.round

        private

        # With clients enough to keep the process busy, as in what is to be measured.
        def overhead_ns
          entrant = self.class.entrants(@sizes).first
          asked = Asked.closed("/io-only", @sizes.talk.fetch(:connections).first)
          @field.serving([entrant]) do |(stand)|
            stand.warm_up(asked, @sizes.duel.warmup_s)
            turns = Array.new(3) { |number| stand.turn(asked, @sizes.duel.seconds, seed: @run.seed + number).value("cpu") }
            turns.compact.sort[turns.compact.size / 2] or raise InvalidMeasurement, "the CPU time of Puma could not be read"
          end
        end
      end
    end
  end
end
