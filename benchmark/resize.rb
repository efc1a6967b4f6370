# frozen_string_literal: true

# Servers whose pools are resized while they serve: at random, where no request may be lost; and by `auto`, on traffic that
# changes its shape half way, beside fixed numbers of threads. `rake resize`, 70 minutes; QUICK=1: 12, with a soak of two
# minutes and less time for all else. Ends with status 1 when a promise is broken.

require_relative "support/bench"
require_relative "resize/random_sizes"
require_relative "resize/two_shapes"

module Resizing
  QUICK = ENV["QUICK"] == "1"

  # Seconds, see TwoShapes. In ten seconds of a trial, one process may have most of the clients by chance.
  TIMES = QUICK ? {half_s: 90, measure_s: 3, cool_down_s: 10} : {half_s: 900, measure_s: 8, cool_down_s: 20}

  # How long at random, where nothing else is asked for.
  MINUTES = QUICK ? 2 : 15

  Options = Bench::Options.define("resize", page: "docs/measured/resize.md", needs: "a whole run", minutes: MINUTES, seed: 1, beside: nil) do |parser, given|
    parser.on("--minutes N", Float, "how long at random, default: 15; QUICK=1: 2") { |minutes| given[:minutes] = minutes }
    parser.on("--seed N", Integer, "of the sizes") { |seed| given[:seed] = seed }
    parser.on("--beside N,N", Array, "only this: by how much the second number of threads serves less where requests compute") do |counts|
      raise OptionParser::InvalidArgument, "two numbers, such as 1,2" unless counts.size == 2 && counts.all?(/\A[1-9]\z/)
      given[:beside] = counts.map(&:to_i)
    end
  end

  class Options
    # @return [Boolean] whether it is worth a page
    def whole? = beside.nil?
  end

  # What --beside prints.
  class Beside < Bench::Page
    ROUNDS = 24

    # @param found [Hash{Integer => Array<Window>}] see TwoShapes#beside
    def initialize(found:, **)
      super(**)
      @found = found
    end

    def results
      (first, best), (other, others) = *@found
      worse = Window.worse(best, others)
      medians = @found.map { |count, windows| "#{count}: #{Bench.median(windows.map(&:per_s)).round}/s" }.join(", ")
      percent = format("%.1f%% (%.1f to %.1f)", worse.value, worse.low, worse.high)
      paragraphs(facts, "#{other} threads are #{percent} worse than #{first}, in #{best.size} rounds; #{medians}.")
    end
  end

  # docs/measured/resize.md
  class Page < Bench::Page
    # @param survived [Survived]
    # @param shapes [Array<Shape>]
    # @param quick [Boolean] whether that was asked for
    def initialize(survived:, shapes:, quick: QUICK, **)
      super(**)
      @quick = quick
      @survived = survived
      @shapes = shapes
    end

    # @return [Array<Symbol>]
    def outcomes = [@survived.broken.empty? ? :met : :missed, *@shapes.map(&:outcome)]

    # @return [String] Markdown
    def to_s
      paragraphs("# Resizing: pools of threads that change while they serve", "Written by `benchmark/resize.rb`; not to be edited.", facts,
        "Command: `bin/exec rake resize#{" QUICK=1" if @quick}#{options}`.", "## At random", at_random, "## By `auto`", by_auto)
    end

    def results = to_s

    private

    def options
      minutes = "--minutes #{format("%g", @survived.minutes)}" unless @survived.minutes == MINUTES
      seed = "--seed #{@survived.seed}" unless @survived.seed == 1
      given = [minutes, seed].compact
      " OPTIONS=\"#{given.join(" ")}\"" if given.any?
    end

    def at_random
      kept = @survived.broken.empty? ? "All promises were kept." : "Broken: #{@survived.broken.join("; ")}."
      "For #{@survived.minutes.round(1)} minutes each process of a cluster of #{Server::WORKERS} got 1 to #{Server::MOST} threads every second or so, #{@survived.orders_count} orders in all, one in ten of them " \
        "silence, under the load of #{RandomSizes::CLIENTS} clients whose requests wait, compute, and take 1.5 s now and then. **#{kept}** #{@survived.answered_count} requests had their " \
        "response, #{@survived.lost.size} had none. In #{@survived.readings_count} readings, what Puma counts was held against the threads that the kernel has; after it each process had " \
        "its #{RandomSizes::THREADS} configured threads."
    end

    def by_auto
      ["A server of #{Server::WORKERS} processes that begins with #{TwoShapes::BEGINS_WITH} threads has traffic of one shape, from #{TwoShapes::CONNECTIONS} clients, and then of the other; " \
        "`auto` finds its way, in #{TIMES[:half_s]} s for each shape with trials of #{TIMES[:cool_down_s]} s. " \
        "Fixed numbers are measured in #{TwoShapes::FIXED_ROUNDS} interleaved rounds: medians, least to most. What was best there, what `auto` ended with, and " \
        "what doing nothing would have kept are measured anew, side by side in #{TwoShapes::ROUNDS} rounds. Promised: `auto` ends each half within #{TwoShapes::WITHIN_PERCENT}% of the best fixed number, " \
        "by requests/s. It is **met** where the whole interval (95%) is within, **missed** where all of it is beyond.",
        table(["each request", *TwoShapes::FIXED.map(&:to_s)], @shapes.map { |shape| fixed(shape) }),
        table(["each request", "best fixed", "`auto` ended with", "worse than the best", "had it stayed", "worse than the best", "outcome"], @shapes.map { |shape| held(shape) })]
    end

    def fixed(shape)
      [shape.name, *TwoShapes::FIXED.map { |count| spread(shape.fixed[count]) }]
    end

    def spread(windows)
      return "-" unless windows
      per_s = windows.map(&:per_s)
      "#{Bench.median(per_s).round} (#{per_s.minmax.map(&:round).join("–")})"
    end

    def held(shape)
      settled = " (still changing)" unless shape.settled
      [shape.name, with(shape.best_count, shape.rounds.fetch(:best)), "#{with(shape.threads_count, shape.rounds.fetch(:ended))}#{settled}", percent(shape.verdict.estimate),
        with(shape.stay_count, shape.rounds.fetch(:stay)), percent(shape.worse_stay), Bench::OUTCOMES.fetch(shape.outcome)]
    end

    def with(count, windows) = "#{count}: #{Bench.median(windows.map(&:per_s)).round}/s, p99 #{duration(Bench.median(windows.map(&:p99_ns)))}"

    def percent(estimate) = format("%+.0f%% (%+.0f to %+.0f)", estimate.value, estimate.low, estimate.high)

    def duration(ns) = PumaTuner::Units.duration(ns.round)

    def table(head, rows) = [head, head.map { "---" }, *rows].map { |cells| "| #{cells.join(" | ")} |" }.join("\n")
  end
end

Bench.program(__FILE__, Resizing::Options) do |options, machine|
  say = ->(text) { warn "resize: #{text}" }
  if options.beside
    found = Resizing::TwoShapes.new(**Resizing::TIMES, say:).beside(options.beside, rounds_count: Resizing::Beside::ROUNDS)
    next Resizing::Beside.new(machine:, found:)
  end
  survived = Resizing::RandomSizes.new(minutes: options.minutes, seed: options.seed).run
  say.call("at random: #{survived.answered_count} requests, #{survived.broken}")
  shapes = Resizing::TwoShapes.new(**Resizing::TIMES, say:).run
  Resizing::Page.new(machine:, survived:, shapes:)
end
