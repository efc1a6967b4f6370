# frozen_string_literal: true

# Rubies, Pumas, Racks and frameworks that the command works with: in cells of them, an app is installed, served with the probe under load, measured,
# forecast and advised, and stopped. `bin/test --matrix`; writes its part of docs/compatibility.md when asked to. Ends with status 1 when a cell fails,
# or when they take longer than an hour together.

require_relative "support/bench"
require_relative "matrix/apps"
require_relative "matrix/cells"
require_relative "matrix/ruby_place"
require_relative "matrix/trial"

module Matrix
  Options = Bench::Options.define("matrix", page: "docs/compatibility.md", needs: "all cells", rubies: [], only: nil, list: false) do |parser, given|
    parser.on("--ruby VERSION", "another Ruby that is installed, such as 4.0.1; may be given several times") { |version| given[:rubies] += [version] }
    parser.on("--only WORD", "cells with that word alone, such as \"Rails 8.1\" or 3.3.8") { |word| given[:only] = word }
    parser.on("--list", "tell the cells, and try none") { given[:list] = true }
  end

  class Options
    # @return [Boolean] whether it is worth a page
    def whole? = only.nil? && !list
  end

  class << self
    # @param options [Options]
    # @return [Array<Cell>]
    def cells(options) = Cells.pairwise(Cells.all(Cells::RUBIES | options.rubies)).select { |cell| options.only.nil? || cell.to_s.downcase.include?(options.only.downcase) }

    # @param cells [Array<Cell>]
    # @param say [#call]
    # @return [Array<Found>]
    def run(cells, say:)
      Dir.mktmpdir("puma_tuner-matrix") do |folder|
        packages = pack(folder)
        places = cells.map(&:ruby).uniq.to_h { |version| [version, RubyPlace.new(version, packages:)] }
        places.each_value { |place| say.call("installing the packed gems for Ruby #{place.version}") || place.install }
        cells.each_with_index.map do |cell, index|
          Trial.new(cell, places.fetch(cell.ruby)).call.tap { |found| say.call("#{index + 1} of #{cells.size}, #{cell}: #{found.fine? ? "fine" : found.failures.join("; ")} (#{found.seconds.round} s)") }
        end
      end
    end

    private

    # @return [Array<String>] paths of both gems
    def pack(folder)
      {"puma_tuner-probe" => "probe", "puma_tuner" => "."}.map do |name, place|
        path = File.join(folder, "#{name}-#{PumaTuner::VERSION}.gem")
        output, status = Open3.capture2e(RbConfig.ruby, "-S", "gem", "build", "#{name}.gemspec", "--output", path, chdir: File.join(Bench::PROJECT, place))
        status.success? ? path : raise(PumaTuner::MeasurementFailed, "gem build failed: #{output}")
      end
    end
  end

  # The part of docs/compatibility.md between its marks; the rest of the page is others'.
  class Page < Bench::Page
    BEGINS = "<!-- matrix: written by bin/test --matrix -->"
    ENDS = "<!-- end of matrix -->"
    TITLE = "# What it runs with\n"

    # Of all cells, see bin/test --help.
    TARGET_MINUTES = 60
    PART = /#{Regexp.escape(BEGINS)}.*#{Regexp.escape(ENDS)}\n/m

    # @param found [Array<Found>]
    # @param combinations_count [Integer] of which these are chosen
    # @param seconds [Numeric] that all took
    # @param left_out [Array<String>] Rubies that bin/setup has provided, too
    # @param before [String, nil] the page as it is; nil: there is none
    def initialize(found:, combinations_count:, seconds:, left_out: [], before: nil, **)
      super(**)
      @combinations_count = combinations_count
      @found = found
      @minutes = (seconds / 60.0).round
      @left_out = left_out
      @before = before
    end

    # @return [Array<Symbol>] of each cell; missed, too, where all took too long
    def outcomes = [*@found.map { |one| one.fine? ? :met : :missed }, *(:missed if in_time == :missed)]

    # @return [String] the whole page
    def to_s
      part = "#{BEGINS}\n\n#{results}\n#{ENDS}\n"
      page = @before || "#{TITLE}\n#{BEGINS}\n#{ENDS}\n"
      page = "#{page.chomp}\n\n#{BEGINS}\n#{ENDS}\n" unless page.include?(BEGINS)
      page.sub(PART) { part }
    end

    # @return [String]
    def results = paragraphs("## Rubies, Pumas, Racks and frameworks", "To repeat it: `bin/test --matrix --write`.", facts, outcome, table, method)

    private

    def method
      <<~TEXT
        Cells are chosen pairwise: any two values of Ruby, Puma, Rack, framework and server stand in at least one of these #{@found.size} cells, of #{@combinations_count} that there
        could be. In each, both gems are installed from their packed files by that Ruby, the app's bundle is installed (of a framework, the newest version
        that this Rack allows; Rails without a database, of Hanami its router alone), and `puma_tuner tune` serves the app under load.
        A cell is fine when its endpoints are called by their routes, at least
        #{(Trial::EXPLAINED_RATIO * 100).round}% of the requests' wall time is in its parts (*in parts*: they sum to it by construction, so that this tells that the probe's extension records,
        and no more), their CPU is #{Trial::CPU_RATIO.minmax.map { |ratio| (ratio * 100).round }.join("% to ")}% of what the kernel counts of the server's processes
        (*kernel's CPU*; the rest is Puma's own, so that CPU which is counted twice, or half of which is not, is found, and an error of a tenth is not), settings are
        forecast, there is advice, the probe complains of nothing in the server's output, and no process is left. Rack alone and Roda without our plugin have no routes to tell: their endpoints are paths with `:id` for numbers.

        The Rubies that were tried: #{@found.map { |one| one.cell.ruby }.uniq.join(", ")}; #{others}. `bin/test --matrix --ruby VERSION` adds one that is installed.
      TEXT
    end

    def others = @left_out.empty? ? "`bin/setup` had provided no other" : "left out, though `bin/setup` had provided it: #{@left_out.join(", ")}"

    def in_time = (@minutes > TARGET_MINUTES) ? :missed : :met

    def outcome
      failed = @found.reject(&:fine?)
      took = "It took #{@minutes} minutes, without building the Rubies; the target is #{TARGET_MINUTES}: #{in_time}."
      return "All #{@found.size} cells are fine. #{took}" if failed.empty?
      ["**#{failed.size} of #{@found.size} cells failed.** #{took}", failed.map { |one| "- #{one.cell}: #{one.failures.join("; ")}" }.join("\n")]
    end

    def table
      rows = @found.map do |one|
        cell = one.cell
        [cell.ruby, told(one, "puma", cell.puma), told(one, "rack", cell.rack), framework(one), cell.server, one.explained_ratio ? "#{format("%.2f", one.explained_ratio * 100)}%" : "-",
          one.cpu_ratio ? "#{(one.cpu_ratio * 100).round}%" : "-", one.fine? ? "fine" : "**failed**"]
      end
      Bench::Markdown.table(["Ruby", "Puma", "Rack", "framework", "server", "in parts", "kernel's CPU", "outcome"], rows, left_count: 5)
    end

    def told(one, gem, wanted) = one.versions.fetch(gem, wanted)

    def framework(one)
      gem = Apps.gem_of(one.cell.framework) or return one.cell.framework
      "#{one.cell.framework.sub(/ [\d.]+\z/, "")} #{one.versions.fetch(gem, "")}".strip
    end
  end
end

Bench.program(__FILE__, Matrix::Options) do |options, machine|
  cells = Matrix.cells(options)
  raise PumaTuner::UsageError, "no cell has #{options.only.inspect}; --list tells them" if cells.empty?
  next Struct.new(:results, :outcomes).new(cells.join("\n"), []) if options.list
  path = File.join(Bench::PROJECT, Matrix::Options.page)
  began_s = PumaTuner::Clock.now_s
  found = Matrix.run(cells, say: ->(text) { warn "matrix: #{text}" })
  Matrix::Page.new(machine:, found:, combinations_count: Matrix::Cells.all(Matrix::Cells::RUBIES | options.rubies).size, seconds: PumaTuner::Clock.now_s - began_s,
    left_out: Matrix::RubyPlace.provided - cells.map(&:ruby), before: (File.read(path) if File.file?(path)))
end
