# frozen_string_literal: true

# What a scrape of the exporter costs: CPU time of the process that answers, and what a worker pays to tell of its heap and of YJIT.
#
#   bin/exec rake scrape    (half a minute; figures of use only on a machine with nothing else to do)

require "fileutils"
require "optparse"
require "tmpdir"
require_relative "support/markdown"
require_relative "support/provenance"
require_relative "support/script"
require_relative "scrape/cell"

module Scrape
  SIZES = [[2, 10], [4, 50], [8, 200]].freeze

  Script.run("scrape") do
    rounds_count = 20
    write = false
    OptionParser.new("Usage: ruby -Ilib benchmark/scrape.rb [options]") do |parser|
      parser.on("--rounds N", Integer, "scrapes of each size (default: 20)") { |count| rounds_count = count.clamp(3, 1_000) }
      parser.on("--write", "write docs/scrape.md") { write = true }
    end.parse!(ARGV)
    machine = PumaTuner::Probe::MachineFacts.read
    rows = SIZES.map { |workers_count, endpoints_count| Cell.new(workers_count, endpoints_count, rounds_count).row }
    table = Accuracy::Markdown.table(Cell::HEADINGS, rows, left_count: 0)
    text = "#{table}\n\nA worker's file of gauges, written every #{PumaTuner::Export::DEFAULTS.interval_s} s: #{Cell.gauges_cost} of its CPU time.\n"
    puts text
    if write
      heading = "# What a scrape costs\n\nWritten by `bin/exec rake scrape OPTIONS=--write`; not to be edited.\n\n#{Provenance.line(machine)}\nThe median of #{rounds_count}.\n\n"
      File.write(File.expand_path("../docs/scrape.md", __dir__), heading + text)
    end
    0
  end
end
