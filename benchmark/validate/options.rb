# frozen_string_literal: true

require_relative "../support/script"
require_relative "grid"

module Validation
  # What the command line asks for.
  #
  # form: of Grid::FORMS; workloads: names; pattern: of cells' keys, nil for all; recorded_at: Array<RecordedAt>, nil: as the grid has it
  # held_out: whether the cells that are put aside are judged; generator: "native" or "wrk"
  Options = Data.define(:form, :everything, :workloads, :pattern, :recorded_at, :held_out, :generator, :fresh, :again, :recompute, :list, :write) do
    extend Script::Options

    def self.defaults
      {form: :full, everything: false, workloads: Workloads::NAMES, pattern: nil, recorded_at: nil, held_out: false, generator: "native", fresh: false,
       again: false, recompute: false, list: false, write: false}
    end
    private_class_method :defaults

    def self.parser(given)
      OptionParser.new("Usage: ruby -Ilib benchmark/validate.rb [options]") do |parser|
        narrowing(parser, given)
        measuring(parser, given)
        parser.on("--held-out", "judge those cells of real applications, too, that are put aside (#{Grid::HELD_OUT_SETTINGS.join(", ")}): once, at the end; the page says who looked") { given[:held_out] = true }
        parser.on("--fresh", "begin anew; without it, what has been measured before is not measured again") { given[:fresh] = true }
        parser.on("--again", "measure those cells again that failed or that others on the machine disturbed") { given[:again] = true }
        parser.on("--recompute", "measure nothing: predict anew what has been measured") { given[:recompute] = true }
        parser.on("--list", "say what would be measured and how long it takes, and end") { given[:list] = true }
        parser.on("--write", "write docs/validation.md") { given[:write] = true }
      end
    end
    private_class_method :parser

    def self.narrowing(parser, given)
      parser.on("--quick", "made workloads, #{Grid.cells(:quick).size} cells in some ten minutes; QUICK=1 is the same") { given[:form] = :quick }
      parser.on("--medium", "made workloads to pick from, locks, hand-over and real applications, #{Grid.cells(:medium).size} cells in some forty minutes; MEDIUM=1 is the same") { given[:form] = :medium }
      parser.on("--every-combination", "the whole grid with each Ruby, Puma and time slice: days") { given[:everything] = true }
      parser.on("--only A,B", Array, "some of #{Workloads::NAMES.join(",")}, or a class: #{Workloads::KINDS.keys.join(",")}") { |names| given[:workloads] = known(workloads_of(names), Workloads::NAMES) }
      parser.on("--cells PATTERN", "cells whose key matches, e.g. 'a/3.4/8.0/100/1x*/closed-*'") { |pattern| given[:pattern] = pattern }
    end
    private_class_method :narrowing

    def self.measuring(parser, given)
      parser.on("--recorded-at A,B", Array, "settings of the recordings, e.g. 1x1,1x5+companions (default: by the class of work); errors are told of each") do |texts|
        given[:recorded_at] = texts.map { |text| RecordedAt.parse(text) }
      end
      parser.on("--generator NAME", %w[native wrk], "native or wrk; wrk: measure real applications by it, so that the truth shares no code with us") { |name| given[:generator] = name }
    end
    private_class_method :measuring

    # A class of work stands for all its workloads.
    def self.workloads_of(names)
      names.flat_map { |name| Workloads::KINDS.key?(name) ? Workloads::ALL.select { |workload| workload.kind == name }.map(&:name) : [name] }
    end
    private_class_method :workloads_of

    # @return [Array<Cell>] to measure
    def cells = narrowed((generator == "wrk") ? Grid.by_wrk : Grid.cells(form, everything:))

    # @return [Array<Cell>] to tell of, where they have been measured
    def told_cells = narrowed([*Grid.cells(form, everything:), *Grid.by_wrk])

    # @return [Array<String>] classes of work that are asked for, in the page's order
    def kinds = Workloads::KINDS.keys & cells.map { |cell| cell.subject.workload.kind }

    # @return [String] of the grid, and of the folder that holds what was measured
    def grid_name = form.to_s

    # @return [String] to repeat it
    def command
      variable = (form == :full) ? "" : " #{form.upcase}=1"
      options = [("--every-combination" if everything), ("--held-out" if held_out)].compact.join(" ")
      "bin/exec rake validate#{variable}#{" OPTIONS=\"#{options}\"" unless options.empty?}"
    end

    # @return [Boolean] whether it is a grid without anything left out
    def whole? = pattern.nil? && workloads == Workloads::NAMES && generator == "native"

    # The page is written whole, and people will quote it.
    def insist_on_a_whole_page
      raise OptionParser::InvalidArgument, "--write needs all workloads and cells, by our generator" if write && !whole?
      raise OptionParser::InvalidArgument, "--fresh throws away what --recompute is about" if fresh && recompute
    end

    private

    def narrowed(cells)
      cells.select { |cell| workloads.include?(cell.subject.workload_name) && (pattern.nil? || File.fnmatch(pattern, cell.key, File::FNM_EXTGLOB)) }
    end
  end
end
