# frozen_string_literal: true

# Which load generators tell the truth about a server that stands still. Ends with status 1 when our own does not.
#
#   bin/exec rake stall    (half a minute)

require_relative "support/bench"
require_relative "support/other_generators"

module StallBenchmark
  Options = Bench::Options.define("stall", page: "docs/measured/stall.md")

  # One generator's account of the server that stands still.
  #
  # name: of the generator, with its version; load: what it was asked to send; at_rate: whether that was at the test's rate
  # percentiles_ns: {"p50" => ns}, nil where it tells none; requests_count: answered, as it says
  # late_ns: how late the server was itself
  Trial = Data.define(:name, :load, :at_rate, :percentiles_ns, :requests_count, :late_ns) do
    # @return [Array<String>] what is wrong with it; empty when nothing is
    def faults
      wrong = lines.reject(&:right?).map(&:name)
      [*("#{wrong.join(", ")} wrong" if wrong.any?), *miscounted]
    end

    def right? = faults.empty?

    # @return [Array<PumaTuner::Load::SelfTest::Line>]
    def lines
      PumaTuner::Load::SelfTest::RATIOS.map do |name, ratio|
        PumaTuner::Load::SelfTest::Line.new(name: name.to_s, true_ns: PumaTuner::Load::SelfTest.true_quantile_ns(ratio), reported_ns: percentiles_ns[name.to_s])
      end
    end

    private

    def miscounted
      return "knows no rate" unless at_rate
      missing_count = PumaTuner::Load::SelfTest::REQUESTS_COUNT - requests_count
      return if missing_count.zero?
      missing_count.positive? ? "#{missing_count} requests missing" : "#{-missing_count} requests too many"
    end
  end

  # Asks all of them.
  module Suite
    CONNECTIONS_COUNT = 20
    SelfTest = PumaTuner::Load::SelfTest
    private_constant :SelfTest

    class << self
      # @param machine [PumaTuner::Probe::MachineFacts]
      # @return [Page]
      def run(options, machine)
        missing, there = [OtherGenerators::Wrk, OtherGenerators::Hey, OtherGenerators::H2load].map(&:new).partition(&:why_not)
        missing.each { |generator| warn "left out: #{generator.why_not}" }
        raise PumaTuner::UsageError, "a page without them is not written" if options.write && missing.any?
        Page.new(machine:, trials: [ours, *there.map { |generator| rival(generator) }])
      end

      private

      def ours
        generator = PumaTuner::Load::Native.new
        result = SelfTest.new.call
        Trial.new(name: generator.name, load: "even arrivals, 200/s", at_rate: true, percentiles_ns: result.lines.to_h { |line| [line.name, line.reported_ns] },
          requests_count: result.answered_count, late_ns: result.server_late_ns)
      end

      # wrk knows no rate; the others get the same one.
      def rival(generator)
        arrivals = generator.is_a?(OtherGenerators::Wrk) ? PumaTuner::Load::Arrivals.closed : PumaTuner::Load::Arrivals.open(SelfTest::RATE_PER_S, kind: "even")
        PumaTuner::Load::StallServer.run do |server|
          outcome = generator.run(mix: PumaTuner::Load::Mix.of_paths(["/"]), url_base: server.url, connections_count: CONNECTIONS_COUNT,
            duration_s: SelfTest::DURATION_S, seed: 1, arrivals:)
          Trial.new(name: generator.name, load: "#{arrivals}, #{CONNECTIONS_COUNT} connections", at_rate: arrivals.open?, requests_count: outcome.requests_count,
            percentiles_ns: {"p50" => outcome.p50_ns, "p90" => outcome.p90_ns, "p99" => outcome.p99_ns}, late_ns: server.finish_ns)
        end
      end
    end
  end

  # docs/measured/stall.md
  class Page < Bench::Page
    SelfTest = PumaTuner::Load::SelfTest
    private_constant :SelfTest

    # @param trials [Array<Trial>] ours first
    def initialize(trials:, **)
      super(**)
      @trials = trials
    end

    # @return [Array<Symbol>]
    def outcomes = [@trials.first.right? ? :met : :missed]

    # @return [String] the table and what it rests on
    def results = paragraphs(facts, table)

    # @return [String] the whole page
    def to_s = paragraphs(INTRO, facts, table, READING)

    INTRO = <<~TEXT
      # Which load generators tell the truth about a server that stands still

      Written by `benchmark/stall.rb`; not to be edited. To repeat it: `bin/exec rake stall`, half a minute (`OPTIONS=--write` writes
      this page). `puma_tuner load --self-test` does the first row on any machine.

      The server (`ext/puma_tuner_load/stall.c`) answers each request #{PumaTuner::Load::StallServer::SERVICE_S * 1_000} ms after it came; but for one second of the six it
      answers nothing, and then all that has gathered. #{SelfTest::RATE_PER_S} requests/s are meant to be sent. The truth follows: one request in six
      is due while nothing is answered, and waits for up to a second, evenly spread; the quantile q above 5/6 is
      (q - 5/6) x 6 s. *Right* is within 2%, or 1 ms.
    TEXT

    READING = <<~TEXT
      - A generator whose connections wait for their responses sends nothing in the second that matters, and then tells of the few
        requests that it did send. wrk was asked for another load, as it knows no rate: its figures are true of what it sent (the
        samples that it invents are taken out again, `benchmark/support/other_generators/wrk_correction.rb`), and say nothing of clients who come
        at their own time.
      - *server late* is how far the server itself was off its plan: more than 1 ms, and the row means nothing.
    TEXT
    private_constant :INTRO, :READING

    private

    def table
      truth = SelfTest::RATIOS.map { |_, ratio| milliseconds(SelfTest.true_quantile_ns(ratio)) }
      rows = @trials.map do |trial|
        [trial.name, trial.load, trial.right? ? "right" : trial.faults.join("; "), *trial.lines.map { |line| milliseconds(line.reported_ns) },
          trial.requests_count.to_s, trial.late_ns ? milliseconds(trial.late_ns) : "-"]
      end
      Bench::Markdown.table(["generator", "load", "verdict", "p50 ms", "p90 ms", "p99 ms", "requests", "server late ms"],
        [["the truth", "even arrivals, 200/s", "", *truth, SelfTest::REQUESTS_COUNT.to_s, "-"], *rows], left_count: 3)
    end

    def milliseconds(ns) = ns ? format("%.2f", ns.fdiv(PumaTuner::Units::NS_PER_MS)) : "-"
  end
end

Bench.program(__FILE__, StallBenchmark::Options) { |options, machine| StallBenchmark::Suite.run(options, machine) }
