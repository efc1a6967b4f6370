# frozen_string_literal: true

require_relative "duel"

module PumaTuner
  module Labs
    class MythBusters
      # All that the two forms differ in. Both have each part; the short one has fewer cells, and rounds of half a second on the same processes, so that its
      # intervals are wide and say nothing of how far two starts of one server are apart. In the long one turns are short, too, and rounds many: starts differ by
      # more than the seconds of one start do, and what takes three hours in one piece is rarely measured a second time.
      #
      # duel: of all comparisons in rounds; mixed: of the one whose requests are a mix; grid: clients by path, those that a claim or a row of the page rests on;
      # connections: of the story's grid; topologies: that are held against Go; saturated: clients of what is to be
      # saturated; open_paths, rate_ratios: of a server's throughput, open loops; open_s: of each; ab: requests and clients
      # shares: of IO; threads: of the sweep; whole_s: of a request of it; clients_count: of the sweep; record_s, cell_s, repeats_count, probe_s: of its cells
      # talk: topologies and clients of the talk's own request, the grid's most first
      # seeds_count, requests_count: of each forecast; block: of the proofs of blocks; calibrate: whether to measure the machine where nobody has
      Sizes = Data.define(:duel, :mixed, :grid, :connections, :topologies, :saturated, :open_paths, :rate_ratios, :open_s, :ab, :shares, :threads, :whole_s, :clients_count,
        :record_s, :warmup_s, :cell_s, :repeats_count, :probe_s, :seeds_count, :requests_count, :block, :calibrate, :talk) do
        def self.quick
          duel = Duel::Times.new(rounds_count: 6, seconds: 0.5, warmup_s: 0.3, fresh: false)
          new(duel:, mixed: duel, grid: {"/io-only" => [1, 6], "/cpu-only" => [6], "/realistic" => [1, 6], "/level" => [6]}, connections: [1, 6], topologies: %w[1x5 2x5 3x5], saturated: 6,
            open_paths: %w[/level], rate_ratios: [0.5, 0.9, 1.1], open_s: 0.8, ab: {requests_count: 24, connections: [1, 6]},
            shares: [0.3, 0.7, 0.9], threads: [1, 3, 5, 16], whole_s: 0.02, clients_count: 16, record_s: 2.0, warmup_s: 0.4, cell_s: 1.0, repeats_count: 1, probe_s: 0.5,
            seeds_count: 3, requests_count: 1_500, block: {rounds_count: 6, duration_s: 0.2, warmup_limit_s: 0.1}, calibrate: false,
            talk: {topologies: %w[1x50 2x50 3x50], connections: [50, 64]})
        end

        def self.full
          duel = Duel::Times.new(rounds_count: 8, seconds: 3.0, warmup_s: 2.0, fresh: true)
          new(duel:, mixed: duel.with(rounds_count: 6), grid: {"/io-only" => [1, 50], "/cpu-only" => [50], "/realistic" => [1, 10, 20, 50], "/level" => [1, 10, 50]},
            connections: [1, 10, 20, 50], topologies: %w[1x5 2x5 3x5 4x5], saturated: 50,
            open_paths: %w[/level], rate_ratios: [0.4, 0.7, 0.9, 1.1], open_s: 8.0, ab: {requests_count: 300, connections: [1, 10, 20, 50]},
            shares: [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95], threads: [1, 2, 3, 4, 5, 6, 8, 16, 32], whole_s: 0.02, clients_count: 40,
            record_s: 10.0, warmup_s: 2.0, cell_s: 3.0, repeats_count: 2, probe_s: 2.0, seeds_count: 10, requests_count: 5_000,
            block: {rounds_count: 8, duration_s: 1.0, warmup_limit_s: 6}, calibrate: true,
            talk: {topologies: %w[1x50 2x50 3x50 4x50], connections: [50, 64]})
        end
      end
    end
  end
end
