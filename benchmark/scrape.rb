# frozen_string_literal: true

# What a scrape of the exporter costs: its own process, by the size of the server; and the server's GVL, of which it should take none.
# Ends with status 1 when a target is missed, and with 3 when noise leaves one open.
#
#   bin/exec rake scrape    (three minutes; figures of use only on a machine with nothing else to do)

require "optparse"
require "tmpdir"
require_relative "overhead/difference"
require_relative "overhead/table"
require_relative "overhead/verdict"
require_relative "support/markdown"
require_relative "support/provenance"
require_relative "support/script"
require_relative "scrape/cell"
require_relative "scrape/held"

module Scrape
  SIZES = [[2, 10], [4, 50], [8, 200], [64, 200]].freeze
  LARGEST_TARGET_MS = 1_000
  HELD_TARGET_US = 1_000

  METHOD = <<~TEXT
    **By size.** Each worker is a process that has recorded every endpoint, with durations from a millisecond to a second: the most that there can be to
    read. The exporter's process is the real one, asked at its socket. *All new*: between two scrapes every worker has served every endpoint. *Nothing new*: none
    any. CPU is that of the exporter's process by the kernel's clock, memory its resident memory; the median of the rounds.

    **The server's GVL.** A real Puma in single mode, in which #{Held::ENDPOINTS_COUNT} endpoints were asked for, serves a request that computes for #{Held::BUSY_S} s, while
    nobody scrapes, or somebody does #{Held::SCRAPES_PER_S} times a second, or again nobody, in changing order. That request's thread wants the GVL all the time: how long it
    waited for it, by the probe's clock ([accuracy.md](accuracy.md)), is what others had it for.
  TEXT

  Script.run("scrape") do
    rounds_count = 10
    write = false
    OptionParser.new("Usage: ruby -Ilib benchmark/scrape.rb [options]") do |parser|
      parser.on("--rounds N", Integer, "scrapes of each size, and rounds of the second part (default: 10)") { |count| rounds_count = count.clamp(3, 1_000) }
      parser.on("--write", "write docs/scrape.md") { write = true }
    end.parse!(ARGV)
    machine = PumaTuner::Probe::MachineFacts.read
    cells = SIZES.map { |workers_count, endpoints_count| Cell.new(workers_count, endpoints_count, rounds_count).tap(&:run) }
    held = Held.new(rounds_count).tap(&:run)
    verdicts = [
      Overhead::Verdict.new(claim: "#{SIZES.last.join(" workers × ")} endpoints, all new: an answer within 1 s", unit: "ms", target: LARGEST_TARGET_MS,
        estimate: Overhead::Difference.of(cells.last.new_ms), noise: Overhead::Verdict::NO_PAIR),
      Overhead::Verdict.new(claim: "a scrape takes at most 1 ms of the server's GVL", unit: "µs", target: HELD_TARGET_US,
        estimate: Overhead::Difference.of(held.scraped_us), noise: Overhead::Difference.of(held.again_us))
    ]
    sizes = Accuracy::Markdown.table(Cell::HEADINGS, cells.map(&:row), left_count: 0)
    gauges = "A worker's file of gauges, written every #{PumaTuner::Export::DEFAULTS.interval_s} s: #{Cell.gauges_cost} of its CPU time."
    gauges += " In the second part #{held.answered_count} scrapes were answered in #{rounds_count * Held::BUSY_S} s."
    puts text = "#{sizes}\n\n#{gauges}\n\n## Targets\n\n#{Overhead::Table.verdicts(verdicts)}\n"
    if write
      heading = "# What a scrape costs\n\nWritten by `bin/exec rake scrape OPTIONS=--write`; not to be edited.\n\n#{Provenance.line(machine)}\n#{rounds_count} rounds.\n\n#{METHOD}\n"
      File.write(File.expand_path("../docs/scrape.md", __dir__), heading + text)
    end
    Script.status(verdicts.map(&:outcome))
  end
end
