# frozen_string_literal: true

# Servers whose pools are resized while they serve: at random, where no request may be lost; and by `auto`, on traffic that changes its shape half way, beside
# fixed numbers of threads. `rake resize`; QUICK=1: a soak of two minutes, and half the time for `auto`. Ends with status 1 when a promise is broken.

require_relative "support/bench"
require_relative "resize/random_sizes"
require_relative "resize/two_shapes"

module Resizing
  Options = Bench::Options.define("resize", page: "docs/measured/resize.md", minutes: (ENV["QUICK"] == "1") ? 2 : 20, seed: 1) do |parser, given|
    parser.on("--minutes N", Float, "how long at random, default: 20; QUICK=1: 2") { |minutes| given[:minutes] = minutes }
    parser.on("--seed N", Integer, "of the sizes") { |seed| given[:seed] = seed }
  end

  # docs/measured/resize.md
  class Page < Bench::Page
    # @param survived [Survived]
    # @param shapes [Array<Shape>]
    def initialize(survived:, shapes:, **)
      super(**)
      @survived = survived
      @shapes = shapes
    end

    # @return [Array<Symbol>]
    def outcomes = [@survived.broken.empty? ? :met : :missed, *@shapes.map(&:outcome)]

    # @return [String] Markdown
    def to_s
      paragraphs("# Resizing: pools of threads that change while they serve", "Written by `benchmark/resize.rb`; not to be edited.", facts,
        "Command: `bin/exec rake resize#{" QUICK=1" if @survived.minutes <= 2}`, seed #{@survived.seed}.", "## At random", at_random, "## By `auto`", by_auto)
    end

    def results = to_s

    private

    def at_random
      kept = @survived.broken.empty? ? "All promises were kept." : "Broken: #{@survived.broken.join("; ")}."
      "For #{@survived.minutes.round(1)} minutes each process of a cluster of #{Server::WORKERS} got 1 to #{Server::MOST} threads every second or so, #{@survived.orders_count} orders in all, one in ten of them " \
        "silence, under the load of #{RandomSizes::CLIENTS} clients whose requests wait, compute, and take 1.5 s now and then. **#{kept}** #{@survived.answered_count} requests had their " \
        "response, #{@survived.lost.size} had none. In #{@survived.readings_count} looks Puma never counted other threads than there were for longer than it takes to look again; after it each process had " \
        "its #{RandomSizes::THREADS} configured threads."
    end

    def by_auto
      rows = @shapes.map do |shape|
        fixed = shape.fixed.map { |count, (per_s, _)| "#{count}: #{per_s.round}" }.join(", ")
        [shape.name, fixed, "#{shape.best.first}: #{shape.best.last.first.round}/s, p99 #{duration(shape.best.last.last)}",
          "#{shape.threads_count}: #{shape.ended.first.round}/s, p99 #{duration(shape.ended.last)}", format("%.2fx", shape.ratio), Bench::OUTCOMES.fetch(shape.outcome)]
      end
      ["A server of #{Server::WORKERS} processes that begins with #{TwoShapes::BEGINS_WITH} threads has traffic of one shape, and then of the other, from #{TwoShapes::CONNECTIONS} clients; `auto` " \
        "finds its way. What it ends each half with is measured as the fixed numbers were. Promised: within #{(TwoShapes::WITHIN_RATIO * 100).round}% of the best fixed number, by requests/s.",
        table(["each request", "fixed: requests/s", "best fixed", "`auto` ended with", "of the best", "outcome"], rows)]
    end

    def duration(ns) = PumaTuner::Units.duration(ns)

    def table(head, rows) = [head, head.map { "---" }, *rows].map { |cells| "| #{cells.join(" | ")} |" }.join("\n")
  end
end

Bench.program(__FILE__, Resizing::Options) do |options, machine|
  say = ->(text) { warn "resize: #{text}" }
  survived = Resizing::RandomSizes.new(minutes: options.minutes, seed: options.seed).run
  say.call("at random: #{survived.answered_count} requests, #{survived.broken}")
  shapes = Resizing::TwoShapes.new(half_s: (ENV["QUICK"] == "1") ? 150 : 300, say:).run
  Resizing::Page.new(machine:, survived:, shapes:)
end
