# frozen_string_literal: true

require_relative "../support/provenance"

module Overhead
  # What is printed, and docs/overhead.md. Generated; nothing in it is written by hand.
  class Page
    # @param machine [PumaTuner::Probe::MachineFacts] before the run
    # @param parts [Array<Cycle, Request>] that ran
    # @param verdicts [Array<Verdict>]
    # @param at [Time]
    def initialize(machine:, parts:, verdicts:, at: Time.now)
      @machine = machine
      @parts = parts
      @verdicts = verdicts
      @at = at
    end

    # @return [String] the tables and what they rest on
    def results = [facts, *@parts.flat_map { |part| tables(part) }, *targets].join("\n\n")

    # @return [String] the whole page
    def to_s
      described = @parts.flat_map { |part| ["## #{part.class::TITLE}", part.class::METHOD.strip, *tables(part)] }
      "#{[INTRO.strip, facts, *targets, *described].join("\n\n")}\n"
    end

    INTRO = <<~TEXT
      # What the probe costs

      Written by `benchmark/overhead.rb`; not to be edited. To repeat it: `bin/exec rake overhead`, which takes a quarter of an
      hour (`--help` tells how to have less of it, `--write` writes this page). On a machine with other work the noise grows,
      and is shown.

      Variants take turns: each round has each of them once, in a fresh process, in changing order. *more than none* is the
      middle (Hodges-Lehmann) of the differences to "none" in the same round, with the interval of the exact signed-rank test;
      beside it, the difference of the fastest processes. "none, again" is "none": what it differs by is noise.

      Everything runs on one core, the client too: what a switch between threads costs depends on their cores, by more than any
      of the tools costs.
    TEXT

    TARGETS = <<~TEXT
      The noise is the far end of the A/A pair's interval. A target is **met** when the whole interval is within it even with the
      noise on top; **missed** when the whole interval lies beyond it even less the noise; all else is **not shown**, which is no success:
      the run then ends with status 3. So noise, or too few rounds, can't make a target met.
    TEXT
    private_constant :INTRO, :TARGETS

    private

    def facts = Provenance.line(@machine, at: @at)

    def tables(part)
      shown = part.series.flat_map { |series| ["### #{series.title.sub(/\A./, &:upcase)}", Table.series(series)] }
      [*shown, Table.level(part.series)]
    end

    def targets
      @verdicts.empty? ? [] : ["## Targets", TARGETS.strip, Table.verdicts(@verdicts)]
    end
  end
end
