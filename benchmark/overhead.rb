# frozen_string_literal: true

# What the probe costs, beside what others cost: CPU ns per release and re-acquisition of the GVL, and CPU us per request.
# Ends with status 1 when the probe misses one of its targets by more than the noise that two equal variants show, and with 3 when
# noise leaves one open: 0 only when all are met.
#
#   bin/exec rake overhead    (about half an hour; of any use only on a machine with nothing else to do)

require "tmpdir"
require_relative "support/bench"
%w[series parts cycle request].each { |name| require_relative "overhead/#{name}" }

module Overhead
  PARTS = {"cycle" => Cycle, "request" => Request}.freeze

  # tools: of Variant::TOOLS
  Options = Bench::Options.define("overhead", page: "docs/measured/overhead.md", needs: "all parts and tools, and no --quick", quick: Bench::Options::QUICK,
    rounds: "every variant this often (default: cycle #{Cycle::ROUNDS_COUNT}, request #{Request::ROUNDS_COUNT})", parts: PARTS.keys, tools: Variant::TOOLS) do |parser, given|
    parser.on("--only PART", PARTS.keys, "cycle or request") { |part| given[:parts] = [part] }
    parser.on("--tools A,B", Array, "some of #{Variant::TOOLS.join(",")}") { |names| given[:tools] = known(names, Variant::TOOLS) }
  end

  class Options
    # @return [Boolean] whether it is worth a page
    def whole? = super && parts == PARTS.keys && tools.sort == Variant::TOOLS.sort
  end

  class << self
    # @param machine [PumaTuner::Probe::MachineFacts]
    # @return [Page]
    def run(options, machine)
      leave_out_what_is_missing(options)
      parts = Dir.mktmpdir("overhead") do |folder|
        stay_on_one_core
        Parts.build(folder) if options.parts.include?("cycle") && options.tools.include?("ours")
        options.parts.map { |name| part(options, name, folder).tap(&:run) }
      end
      Page.new(machine:, parts:, verdicts: Judge.verdicts(parts.flat_map(&:series)))
    end

    private

    def leave_out_what_is_missing(options)
      missing = Variant.missing(options.tools)
      return if missing.empty?
      raise PumaTuner::UsageError, "a page without #{missing.join(", ")} is not written; install gemfiles/rivals.gemfile" if options.write
      warn "not in this bundle, and left out: #{missing.join(", ")}"
    end

    # What a switch between threads costs depends on the cores they happen to be on. With all on one, client included, two
    # equal servers differ by some 2% of the CPU per request where they did by 20%, and 32 threads in one process by 2%
    # where they did by 30%.
    def stay_on_one_core
      require File.join(Cycle.helper, "overhead_cycle")
      OverheadCycle.stay or warn "this process can't be kept on one core; expect more noise"
    end

    def part(options, name, folder)
      part = PARTS.fetch(name)
      rounds_count = options.rounds_count || (options.quick ? 2 : part::ROUNDS_COUNT)
      part.new(variants: Variant.chosen(name, options.tools), rounds_count:, quick: options.quick, folder:)
    end
  end

  # The probe's targets. Pure.
  module Judge
    # Beside a rival, in the same rounds, so that it holds on any machine: the form's key, the rival's, and the share of the rival's
    # cost that ours may be.
    BESIDE = [["c_alone", "gvltools", 0.6], ["pipe_alone", "gvltools", 0.6], ["c_busy", "gvltools", 1.0], ["pipe_busy", "gvltools", 1.0],
      ["request_5", "gvl_timing", 1.0], ["request_1", "gvl_timing", 1.0], ["waiting_5", "gvl_timing", 1.0]].freeze

    # The aim.
    REQUEST_TARGET_US = 1.5
    REQUEST = %w[request_5 request_1].freeze

    # What counts as "no more beside threads that sleep". That two things are equal to the last nanosecond can't be shown.
    GROWTH_TARGET_NS = 25

    # Forms with threads asleep, and the same work without them.
    ASLEEP = {"c_blocked" => "c_alone", "pipe_blocked" => "pipe_alone"}.freeze

    class << self
      # @param all_series [Array<Series>]
      # @return [Array<Bench::Verdict>] none for what was not measured, or not with the probe
      def verdicts(all_series)
        by_key = all_series.select { |series| judged?(series) }.to_h { |series| [series.key, series] }
        [
          *BESIDE.filter_map { |key, rival, share| beside(by_key[key], rival, share) if by_key[key] },
          *ASLEEP.filter_map { |many, single| growth(by_key[many], by_key[single]) if by_key[many] && by_key[single] },
          *by_key.values_at(*REQUEST).compact.map { |series| absolute(series, REQUEST_TARGET_US) }
        ].compact
      end

      private

      # Where the baseline failed, too, the probe is not to blame.
      def judged?(series) = series.variants.include?(Variant::OURS) && series.values(Variant::NONE).any?

      # What ours takes beyond that share of what the rival takes, each less the same round's baseline.
      def beside(series, rival_key, share)
        rival = series.variants.find { |variant| variant.key == rival_key } or return
        rivals = series.differences(rival)
        beyond = series.differences(Variant::OURS).filter_map { |round, value| value - share * rivals[round] if rivals[round] }
        Bench::Verdict.new(claim: "#{series.title}: nothing beyond #{"#{share} times " unless share == 1}what #{rival.label} takes", unit: series.unit, target: 0,
          estimate: Bench::Difference.of(beyond), noise: series.difference(Variant::AGAIN))
      end

      def absolute(series, target)
        Bench::Verdict.new(claim: "#{series.title}: at most #{target} #{series.unit} more", unit: series.unit, target:,
          estimate: series.difference(Variant::OURS), noise: series.difference(Variant::AGAIN))
      end

      def growth(many, single)
        estimate, noise = [Variant::OURS, Variant::AGAIN].map { |variant| Bench::Difference.of(growths(many, single, variant)) }
        Bench::Verdict.new(claim: "#{many.title}: at most #{GROWTH_TARGET_NS} ns more than for #{single.title}", unit: many.unit,
          target: GROWTH_TARGET_NS, estimate:, noise:)
      end

      def growths(many, single, variant)
        alone = single.differences(variant)
        many.differences(variant).filter_map { |round, value| value - alone[round] if alone[round] }
      end
    end
  end

  # Series and verdicts as Markdown tables. Pure.
  module Table
    class << self
      # @param series [Series]
      # @return [String]
      def series(series)
        rows = series.variants.map { |variant| [variant.name, *figures(series, variant), count(series, variant)] }
        headings = ["", "median #{series.unit}", "fastest", "more than none", "interval", "more, by the fastest", "processes"]
        [Bench::Markdown.table(headings, rows), *failures(series)].join("\n\n")
      end

      # What the intervals of these series are.
      # @return [String]
      def level(all_series)
        estimates = all_series.flat_map { |series| series.variants.filter_map { |variant| series.difference(variant) } }
        levels = estimates.map(&:level_ratio).uniq
        return "Intervals are ranges: with so few rounds, 95% can't be had." if levels.include?(nil) || levels.empty?
        format("Intervals cover %.1f%% or more.", levels.min * 100)
      end

      # Tenths where they can be told apart from noise.
      # @return [String]
      def figure(number, signed: false)
        if number
          format("%#{"+" if signed}.#{(number.abs < 1_000) ? 1 : 0}f", number)
        else
          "-"
        end
      end

      private

      def figures(series, variant)
        estimate = (series.difference(variant) unless variant == Variant::NONE)
        fastest = (series.fastest_difference(variant) unless variant == Variant::NONE)
        [figure(series.median(variant)), figure(series.values(variant).min), figure(estimate&.value, signed: true),
          interval(estimate), figure(fastest, signed: true)]
      end

      def count(series, variant)
        done, failed = series.values(variant).size, series.failures(variant).size
        failed.zero? ? done.to_s : "#{done} of #{done + failed}"
      end

      def failures(series)
        series.variants.flat_map do |variant|
          series.failures(variant).tally.map do |reason, times|
            "#{variant.name} failed #{times} time#{"s" if times > 1}: #{reason}."
          end
        end
      end

      def interval(estimate)
        estimate ? "#{figure(estimate.low, signed: true)} to #{figure(estimate.high, signed: true)}" : "-"
      end
    end
  end

  # docs/measured/overhead.md
  class Page < Bench::Page
    # @param parts [Array<Cycle, Request>] that ran
    def initialize(parts:, **)
      super(**)
      @parts = parts
    end

    # @return [String] the tables and what they rest on
    def results = paragraphs(facts, @parts.map { |part| tables(part) }, targets)

    # @return [String] the whole page
    def to_s
      paragraphs(INTRO, facts, targets, @parts.map { |part| ["## #{part.class::TITLE}", part.class::METHOD, tables(part)] })
    end

    INTRO = <<~TEXT
      # What the probe costs

      Written by `benchmark/overhead.rb`; not to be edited. To repeat it: `bin/exec rake overhead`, which takes about half an
      hour (`--help` tells how to have less of it, `--write` writes this page). On a machine with other work the noise grows,
      and is shown.

      Variants take turns: each round has each of them once, in a fresh process, in changing order. *more than none* is the
      middle (Hodges-Lehmann) of the differences to "none" in the same round, with the interval of the exact signed-rank test;
      beside it, the difference of the fastest processes. "none, again" is "none": what it differs by is noise.

      Everything but requests that wait runs on one core, the client too: what a switch between threads costs depends on their
      cores, by more than any of the tools costs.
    TEXT
    private_constant :INTRO

    private

    def tables(part)
      shown = part.series.flat_map { |series| ["### #{series.title.sub(/\A./, &:upcase)}", Table.series(series)] }
      [*shown, Table.level(part.series)]
    end

    def targets = super { |number, _verdict, signed| Table.figure(number, signed:) }
  end
end

Bench.program(__FILE__, Overhead::Options) { |options, machine| Overhead.run(options, machine) }
