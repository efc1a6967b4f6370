# frozen_string_literal: true

# Two servers side by side for an hour, the same app under the same load, one with the probe: what it makes a worker's memory grow by, and whether
# any request is lost or counted twice while things happen to them. `rake soak`; QUICK=1: three minutes. Ends with status 1 when a promise is broken.

require_relative "support/bench"
require_relative "soak/pair"

module Soak
  MINUTES = 60

  Options = Bench::Options.define("soak", page: "docs/measured/reliability.md", needs: "an hour",
    minutes: (ENV["QUICK"] == "1") ? 3 : MINUTES, seed: 1) do |parser, given|
    parser.on("--minutes N", Float, "how long, default: 60; QUICK=1: 3") { |minutes| given[:minutes] = minutes }
    parser.on("--seed N", Integer, "of what happens when") { |seed| given[:seed] = seed }
  end

  class Options
    # @return [Boolean] whether it is worth a page
    def whole? = minutes >= MINUTES
  end

  # docs/measured/reliability.md
  class Page < Bench::Page
    # @param result [Result]
    def initialize(result:, **)
      super(**)
      @result = result
    end

    # @return [Array<Symbol>]
    def outcomes = [@result.broken.empty? ? :met : :missed]

    # @return [String] Markdown
    def to_s
      <<~MARKDOWN
        # Reliability: the probe in a server to which things happen

        Written by `benchmark/soak.rb`; not to be edited.

        #{facts}
        Command: `bin/exec rake soak`; #{@result.minutes.round(1)} minutes, seed #{@result.seed}.

        Two clusters of #{Pair::WORKERS} workers with #{Pair::THREADS} threads each served the same app side by side, saturated by #{Pair::CLIENTS} clients each, one of them with the probe (locks watched, too).
        The requests fork, time out, kill threads, raise, stream, use fibers and mutexes. In rough phases this happened to both, in an order by chance: #{@result.events.sort.map { |name, count| "#{name.to_s.tr("_", " ")} #{count}" }.join(", ")}.

        **#{@result.broken.empty? ? "All promises were kept." : "Broken: #{@result.broken.join("; ")}."}**

        | | with the probe | without |
        |---|---|---|
        | requests that clients had answered | #{@result.counts[:probe].answered} | #{@result.counts[:none].answered} |
        | connections that broke, as a worker was killed or the server restarted | #{@result.counts[:probe].broken} | #{@result.counts[:none].broken} |
        | requests that the app counted itself | #{@result.counts[:probe].app} | #{@result.counts[:none].app} |
        | requests that the probe recorded | #{@result.recorded_count} | |
        | growth of a worker's RSS but for its ledger in a quiet phase after its warm-up, KiB | #{growth(:probe)} | #{growth(:none)} |

        A worker grew by #{(@result.own_growth_bytes / 1024.0).round} KiB more with the probe, by the middle one of each (1,024 are promised).
        Meanwhile it served #{Bench::Markdown.grouped(@result.quiet_requests_count)} requests: memory that is lost at each of them is seen here from #{@result.seen_bytes_least || "-"} bytes on.
        Of the ledger, whose size is fixed, #{(@result.ledger_bytes / 1024.0).round} KiB were in a worker's RSS at the end. Recorded and counted may differ by the requests that were under way in
        workers that were killed: #{@result.killed_count} workers, #{Pair::THREADS} each at most.

        What else is tried, each in a process or a server of its own, and how: `probe/test/harmless_test.rb` and `probe/test/faults_test.rb`.
      MARKDOWN
    end

    def results = to_s

    private

    # @return [String] KiB of each worker
    def growth(name) = @result.growth_bytes[name].map { |before, after| ((after - before) / 1024.0).round }.join(", ")
  end
end

Bench.program(__FILE__, Soak::Options) do |options, machine|
  pair = Soak::Pair.new(minutes: options.minutes, seed: options.seed, say: ->(text) { warn "soak: #{text}" })
  Soak::Page.new(machine:, result: pair.run)
end
