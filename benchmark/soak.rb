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
        The requests fork, time out, kill threads, raise, stream, use fibers and mutexes. In one half of the time nothing else happened.
        In the other half this happened to both, in an order by chance: #{@result.events.sort.map { |name, count| "#{name.to_s.tr("_", " ")} #{count}" }.join(", ")}.

        **#{@result.broken.empty? ? "All promises were kept." : "Broken: #{@result.broken.join("; ")}."}**

        | | with the probe | without |
        |---|---|---|
        | requests that clients had answered | #{@result.counts[:probe].answered} | #{@result.counts[:none].answered} |
        | of these, in the quiet half | #{@result.quiet_counts[:probe]} | #{@result.quiet_counts[:none]} |
        | of all, with another status or text than the app gives | #{@result.counts[:probe].wrong} | #{@result.counts[:none].wrong} |
        | connections that broke, as a worker was killed or the server restarted | #{@result.counts[:probe].broken} | #{@result.counts[:none].broken} |
        | requests that the app counted itself | #{@result.counts[:probe].app} | #{@result.counts[:none].app} |
        | requests that the probe recorded | #{@result.recorded_count} | |
        | requests that each worker served in the second half of the quiet time | #{served(:probe)} | #{served(:none)} |
        | growth of its RSS meanwhile, but for its ledger, KiB | #{grown(:probe)} | #{grown(:none)} |
        | bytes of that at each request, by the median slope | #{slopes(:probe)} | #{slopes(:none)} |
        | its CPU time at each request, µs, without that of processes that it forked | #{cpu_us(:probe)} | #{cpu_us(:none)} |

        A worker grew by #{growth.own_bytes.round(1)} bytes more at each request with the probe, by the median of the workers' slopes.
        At most #{growth.most_bytes.round(1)} are promised: half of the #{Pair::ALLOCATION_BYTES} that malloc gives at least (an object of
        Ruby takes 40), or #{Pair::GROWTH_BYTES_MAX / 1024} KiB in all, where that is more. A worker's slope is the median of those between
        any two of #{Pair::STEPS_COUNT + 1} samples (Theil and Sen), as heaps grow in steps. The standard error of the difference is
        #{growth.error_bytes.round(1)} bytes, by how the growth in quarters of that time differs, and at least what workers grew by less
        with the probe, which can be chance alone. So the probe lost at most #{growth.lost_most_bytes} bytes at each request: by that difference
        and its error, or by all that workers with the probe grew by and its error, each with 95% certainty, whichever is less. That is
        at most #{growth.lost_most_bytes * Pair::PATHS.size} at the requests to a single one of the #{Pair::PATHS.size} paths.

        The server with the probe answered #{answered_percent}% as many requests as the other one. Which part of that is due to the probe is
        not known from here: both clusters and all clients share the machine's cores and saturate them, and restarts are in it, too. The CPU
        time above is of the quiet time, with locks watched. What the probe costs is measured by itself, without locks: [overhead](overhead.md).

        Of the ledger, whose size is fixed, #{(@result.ledger_bytes / 1024.0).round} KiB were in a worker's RSS at the end. Recorded and counted may differ by the requests that were under way in
        workers with the probe that were killed: #{@result.killed_count}, #{Pair::THREADS} each at most.

        What else is tried, each in a process or a server of its own, and how: `probe/test/harmless_test.rb` and `probe/test/faults_test.rb`.
      MARKDOWN
    end

    def results = to_s

    private

    def growth = @result.growth

    # Of each worker, as the following ones.
    #
    # @return [String]
    def served(name) = growth.rises(name, :requests_count).map { |count| Bench::Markdown.grouped(count) }.join("; ")

    def grown(name) = growth.rises(name, :rss_bytes).map { |bytes| (bytes / 1024.0).round }.join("; ")

    def slopes(name) = growth.slopes(name).map { |bytes| bytes.round(1) }.join("; ")

    def cpu_us(name)
      growth.rises(name, :cpu_ns).zip(growth.rises(name, :requests_count)).map { |ns, count| ns / 1000 / [count, 1].max }.join("; ")
    end

    def answered_percent = (100.0 * @result.counts[:probe].answered / [@result.counts[:none].answered, 1].max).round
  end
end

Bench.program(__FILE__, Soak::Options) do |options, machine|
  pair = Soak::Pair.new(minutes: options.minutes, seed: options.seed, say: ->(text) { warn "soak: #{text}" })
  Soak::Page.new(machine:, result: pair.run)
end
