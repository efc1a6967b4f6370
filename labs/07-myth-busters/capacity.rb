# frozen_string_literal: true

require_relative "duel"

module PumaTuner
  module Labs
    class MythBusters
      # How much each server can take, with which memory, and what happens on the way there: many clients, then open loops at growing shares of it.
      class Capacity
        # rounds: Duel::Rounds of the closed loads, realistic and level; open: {[path, name] => [[rate_per_s, Turn], …]}
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
          Measured.new(rounds:, open: all_open_loops(rounds), realistic: @realistic, level: @level)
        end

        private

        def all_open_loops(rounds)
          loads = [@realistic, @level].select { |asked| @sizes.open_paths.include?(asked.paths.keys.first) }
          loads.product(self.class.entrants(@sizes)).to_h { |asked, entrant| [[asked.paths.keys.first, entrant.name], open_loops(entrant, asked, rounds)] }
        end

        # Each rate on the same process, the lowest first: what a higher one leaves behind can't hold back a lower one.
        def open_loops(entrant, saturating, rounds)
          capacity_per_s = rounds.estimate("throughput", entrant.name, saturating).value
          Lab::Again.after_void(@run) { at_rates(entrant, saturating, capacity_per_s) }
        end

        def at_rates(entrant, saturating, capacity_per_s)
          @field.serving([entrant]) do |(stand)|
            stand.warm_up(saturating, @sizes.warmup_s)
            @sizes.rate_ratios.map do |ratio|
              rate_per_s = ratio * capacity_per_s
              @run.note("#{entrant.name} at #{Units.rate(rate_per_s)} requests/s")
              [rate_per_s, stand.turn(Asked.open(saturating.paths.keys.first, rate_per_s), @sizes.open_s, seed: @run.seed, strict: false)]
            end
          end
        end
      end
    end
  end
end
