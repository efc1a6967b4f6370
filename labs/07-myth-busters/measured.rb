# frozen_string_literal: true

module PumaTuner
  module Labs
    class MythBusters
      # All that a run has measured.
      #
      # sizes: Sizes; pace, amounts: of Field; go: Go's version
      # grid, languages, threads: Duel::Rounds; capacity: Capacity::Measured; checks: [ApacheBench::Check]; cells: [Sweep::Cell]
      # talk: Talk::Measured, trilogy: Duel::Rounds of the database clients in the app
      # variants: Variants::Measured; verdicts: of Blocks
      Measured = Data.define(:sizes, :pace, :amounts, :go, :grid, :languages, :threads, :capacity, :checks, :cells, :variants, :verdicts, :talk, :trilogy) do
        # @return [Array<Duel::Rounds>]
        def duels = [grid, languages, threads, capacity.rounds, talk.rounds, trilogy, variants.realistic, variants.waiting, variants.mixed]

        # @return [Asked] the story's grid: that path by the most clients, or by one
        def most(path) = Asked.closed(path, sizes.connections.last)

        def one(path) = Asked.closed(path, sizes.connections.first)
      end
    end
  end
end
