# frozen_string_literal: true

require_relative "duel"

module PumaTuner
  module Labs
    class MythBusters
      # How much each server can take, with which memory, and what happens on the way there: many clients, then open loops at growing shares of it.
      class Capacity
        # rounds: Duel::Rounds of the closed loads; open: {name => [[rate_per_s, Turn], …]} at /realistic
        Measured = Data.define(:rounds, :open, :realistic, :level)

        def self.entrants(sizes) = [*sizes.topologies.map { |topology| Entrant.puma(topology) }, Entrant.go]

        # @param field [Field]
        # @param sizes [Sizes]
        # @param run [Lab::Run]
        def initialize(field, sizes, run)
          @field = field
          @sizes = sizes
          @run = run
          @realistic, @level = %w[/realistic /level].map { |path| Asked.closed(path, sizes.saturated) }
        end

        # @return [Measured]
        def call
          rounds = Duel.new(@field, self.class.entrants(@sizes), [@realistic, @level], times: @sizes.duel, run: @run, title: "capacity").call
          Measured.new(rounds:, open: self.class.entrants(@sizes).to_h { |entrant| [entrant.name, open_loops(entrant, rounds)] }, realistic: @realistic, level: @level)
        end

        private

        # Each rate on the same process, the lowest first: what a higher one leaves behind can't hold back a lower one.
        def open_loops(entrant, rounds)
          capacity_per_s = rounds.estimate("throughput", entrant.name, @level).value
          @field.serving([entrant]) do |(stand)|
            stand.warm_up(@level, @sizes.warmup_s)
            @sizes.rate_ratios.map do |ratio|
              rate_per_s = ratio * capacity_per_s
              @run.note("#{entrant.name} at #{Units.rate(rate_per_s)} requests/s")
              [rate_per_s, stand.turn(Asked.open("/level", rate_per_s), @sizes.open_s, seed: @run.seed, strict: false)]
            end
          end
        end
      end
    end
  end
end
