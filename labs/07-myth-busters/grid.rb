# frozen_string_literal: true

require_relative "duel"

module PumaTuner
  module Labs
    class MythBusters
      # The story's grid: each kind of request, by 1 to 50 clients, at a Puma with a thread for each client and at Go. And the languages alone.
      class Grid
        # As many threads as there are clients at most: with fewer, it would be measured how Puma queues.
        PUMA = Entrant.puma("1x50")
        GO = Entrant.go
        YJIT = Entrant.puma("1x50", name: "Puma 1x50, YJIT", factors: {"yjit" => "on"})
        TARAI = Asked.closed("/tarai", 1)

        # @param field [Field]
        # @param sizes [Sizes]
        # @param run [Lab::Run]
        def initialize(field, sizes, run)
          @field = field
          @sizes = sizes
          @run = run
        end

        # @return [Duel::Rounds]
        def call = Duel.new(@field, [PUMA, GO], loads, times: @sizes.duel, run: @run, title: "Puma and Go").call

        # @return [Duel::Rounds] of the same function in each language
        def languages = Duel.new(@field, [PUMA, YJIT, GO], [TARAI], times: @sizes.duel, run: @run, title: "tarai").call

        private

        def loads = @sizes.grid.flat_map { |path, counts| counts.map { |count| Asked.closed(path, count) } }
      end
    end
  end
end
