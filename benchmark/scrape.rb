# frozen_string_literal: true

# What a scrape of the exporter costs: its own process, by the size of the server; and the server's GVL, of which it should take none.
# Ends with status 1 when a target is missed, and with 3 when noise leaves one open.
#
#   bin/exec rake scrape    (three minutes; figures of use only on a machine with nothing else to do)

require "tmpdir"
require_relative "support/bench"
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

  ROUNDS_COUNT = 10

  Options = Bench::Options.define("scrape", page: "docs/measured/scrape.md", rounds: "scrapes of each size, and rounds of the second part (default: #{ROUNDS_COUNT})")

  # @param machine [PumaTuner::Probe::MachineFacts]
  # @return [Page]
  def self.run(options, machine)
    rounds_count = (options.rounds_count || ROUNDS_COUNT).clamp(3, 1_000)
    cells = SIZES.map { |workers_count, endpoints_count| Cell.new(workers_count, endpoints_count, rounds_count).tap(&:run) }
    held = Held.new(rounds_count).tap(&:run)
    verdicts = [
      Bench::Verdict.new(claim: "#{SIZES.last.join(" workers × ")} endpoints, all new: a response within 1 s", unit: "ms", target: LARGEST_TARGET_MS,
        estimate: Bench::Difference.of(cells.last.new_ms), noise: Bench::Verdict::NO_PAIR),
      Bench::Verdict.new(claim: "a scrape takes at most 1 ms of the server's GVL", unit: "µs", target: HELD_TARGET_US,
        estimate: Bench::Difference.of(held.scraped_us), noise: Bench::Difference.of(held.again_us))
    ]
    Page.new(machine:, verdicts:, rounds_count:, cells:, answered_count: held.answered_count)
  end

  # docs/measured/scrape.md
  class Page < Bench::Page
    # @param cells [Array<Cell>] that ran
    # @param answered_count [Integer] scrapes in the second part
    def initialize(rounds_count:, cells:, answered_count:, **)
      super(**)
      @rounds_count = rounds_count
      @cells = cells
      @answered_count = answered_count
    end

    # @return [String] the tables
    def results
      @results ||= paragraphs(Bench::Markdown.table(Cell::HEADINGS, @cells.map(&:row), left_count: 0), "#{gauges} #{answered}",
        targets { |number, _verdict, signed| format("%#{"+" if signed}.#{(number.abs < 1_000) ? 1 : 0}f", number) })
    end

    # @return [String] the whole page
    def to_s
      paragraphs("# What a scrape costs", "Written by `bin/exec rake scrape OPTIONS=--write`; not to be edited.", "#{facts}\n#{@rounds_count} rounds.", METHOD, results)
    end

    private

    def gauges = "A worker's file of gauges, written every #{PumaTuner::Export::DEFAULTS.interval_s} s: #{Cell.gauges_cost} of its CPU time."

    def answered = "In the second part #{@answered_count} scrapes were answered in #{@rounds_count * Held::BUSY_S} s."
  end
end

Bench.program(__FILE__, Scrape::Options) { |options, machine| Scrape.run(options, machine) }
