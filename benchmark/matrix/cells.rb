# frozen_string_literal: true

module Matrix
  # What an app runs with: ruby, puma and rack are versions, or their beginnings; framework: a key of Apps::ALL; server: one of SERVERS.
  Cell = Data.define(:ruby, :puma, :rack, :framework, :server) do
    # @return [String] "Ruby 3.4.5, Puma 8.0, Rack 3.2, Sinatra, one process"
    def to_s = "Ruby #{ruby}, Puma #{puma}, Rack #{rack}, #{framework}, #{server}"

    # @return [Array<Array>] each two of its values, with their factors
    def pairs = to_h.to_a.combination(2).to_a
  end

  # Which cells are tried: not each with each, but so many that any two values stand in one of them. Two thirds to nine tenths of the faults of such
  # programs come of one value or two together (Kuhn, Wallace and Gallo, "Software fault interactions and implications for software testing", 2004).
  module Cells
    # Those that bin/setup can build; `--ruby` adds one that is installed.
    RUBIES = %w[3.3.8 3.4.5].freeze
    PUMAS = %w[6.6 7.2 8.0].freeze
    RACKS = %w[2.2 3.1 3.2].freeze
    SERVERS = {"one process" => "1x3", "two workers" => "2x3"}.freeze

    module_function

    # @param rubies [Array<String>] that are here
    # @return [Array<Cell>] of all combinations
    def all(rubies = RUBIES) = rubies.product(PUMAS, RACKS, Apps::ALL.keys, SERVERS.keys).map { |ruby, puma, rack, framework, server| Cell.new(ruby:, puma:, rack:, framework:, server:) }

    # Takes the cell with the most pairs that are in none yet, until there is none left.
    #
    # @param cells [Array<Cell>]
    # @return [Array<Cell>] some of them, with all their pairs; ordered by Ruby
    def pairwise(cells)
      open = cells.flat_map(&:pairs).uniq.to_h { |pair| [pair, true] }
      chosen = []
      while open.any?
        best = cells.max_by { |cell| [cell.pairs.count { |pair| open.key?(pair) }, -cells.index(cell)] }
        best.pairs.each { |pair| open.delete(pair) }
        chosen << best
      end
      chosen.sort_by { |cell| cells.index(cell) }
    end
  end
end
