# frozen_string_literal: true

require_relative "../support/script"
require_relative "grid"

module Validation
  # What the command line asks for.
  #
  # workloads: names; pattern: of cells' keys, nil for all; recorded_at: topologies, the first is what the tables are about
  Options = Data.define(:quick, :everything, :workloads, :pattern, :recorded_at, :fresh, :again, :recompute, :list, :write) do
    extend Script::Options

    def self.defaults
      {quick: false, everything: false, workloads: Workloads::NAMES, pattern: nil, recorded_at: [PumaTuner::Topology.parse("1x1")], fresh: false,
       again: false, recompute: false, list: false, write: false}
    end
    private_class_method :defaults

    def self.parser(given)
      OptionParser.new("Usage: ruby -Ilib benchmark/validate.rb [options]") do |parser|
        narrowing(parser, given)
        parser.on("--recorded-at A,B", Array, "topologies of the recordings (default: 1x1); with several, what difference it makes is shown") do |topologies|
          given[:recorded_at] = topologies.map { |text| PumaTuner::Topology.parse(text) }
        end
        parser.on("--fresh", "begin anew; without it, what has been measured before is not measured again") { given[:fresh] = true }
        parser.on("--again", "measure those cells again that failed or that others on the machine disturbed") { given[:again] = true }
        parser.on("--recompute", "measure nothing: predict anew what has been measured") { given[:recompute] = true }
        parser.on("--list", "say what would be measured and how long it takes, and end") { given[:list] = true }
        parser.on("--write", "write docs/validation.md") { given[:write] = true }
      end
    end
    private_class_method :parser

    def self.narrowing(parser, given)
      parser.on("--quick", "#{Grid.quick.size} cells in some ten minutes; QUICK=1 is the same") { given[:quick] = true }
      parser.on("--every-combination", "the whole grid with each Ruby, Puma and time slice: days") { given[:everything] = true }
      parser.on("--only A,B", Array, "some of #{Workloads::NAMES.join(",")}") { |names| given[:workloads] = known(names, Workloads::NAMES) }
      parser.on("--cells PATTERN", "cells whose key matches, e.g. 'a/3.4/8.0/100/1x*/closed-*'") { |pattern| given[:pattern] = pattern }
    end
    private_class_method :narrowing

    # @return [Array<Cell>]
    def cells
      all = quick ? Grid.quick : Grid.full(everything:)
      all.select { |cell| workloads.include?(cell.subject.workload_name) && (pattern.nil? || File.fnmatch(pattern, cell.key, File::FNM_EXTGLOB)) }
    end

    # @return [String] of the grid, and of the folder that holds what was measured
    def grid_name = quick ? "quick" : "full"

    # @return [String] to repeat it
    def command = quick ? "bin/exec rake validate QUICK=1" : "bin/exec rake validate#{" OPTIONS=--every-combination" if everything}"

    # @return [Boolean] whether it is a grid without anything left out
    def whole? = pattern.nil? && workloads == Workloads::NAMES

    # The page is written whole, and people will quote it.
    def insist_on_a_whole_page
      raise OptionParser::InvalidArgument, "--write needs all workloads and cells" if write && !whole?
      raise OptionParser::InvalidArgument, "--fresh throws away what --recompute is about" if fresh && recompute
    end
  end
end
