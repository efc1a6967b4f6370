# frozen_string_literal: true

require_relative "../support/markdown"
require_relative "../support/provenance"

module StallBenchmark
  # What is printed, and docs/stall.md. Generated; nothing in it is written by hand. Pure but for its date.
  class Page
    SelfTest = PumaTuner::Load::SelfTest
    private_constant :SelfTest

    # @param machine [PumaTuner::Probe::MachineFacts] before the run
    # @param trials [Array<Trial>]
    # @param at [Time]
    def initialize(machine:, trials:, at: Time.now)
      @machine = machine
      @trials = trials
      @at = at
    end

    # @return [String] the table and what it rests on
    def results = [facts, table].join("\n\n")

    # @return [String] the whole page
    def to_s = "#{[INTRO.strip, facts, table, READING.strip].join("\n\n")}\n"

    INTRO = <<~TEXT
      # Which load generators tell the truth about a server that stands still

      Written by `benchmark/stall.rb`; not to be edited. To repeat it: `bin/exec rake stall`, half a minute (`OPTIONS=--write` writes
      this page). `puma_tuner load --self-test` does the first row on any machine.

      The server (`ext/puma_tuner_load/stall.c`) answers each request #{PumaTuner::Load::StallServer::SERVICE_S * 1_000} ms after it came; but for one second of the six it
      answers nothing, and then all that has gathered. #{SelfTest::RATE_PER_S} requests/s are meant to be sent. The truth follows: one request in six
      is due while nothing is answered, and waits for up to a second, evenly spread; the quantile q above 5/6 is
      (q - 5/6) x 6 s. *Right* is within 2 %, or 1 ms.
    TEXT

    READING = <<~TEXT
      - A generator whose connections wait for their answers sends nothing in the second that matters, and then tells of the few
        requests that it did send. wrk was asked for another load, as it knows no rate: its figures are true of what it sent (the
        samples that it invents are taken out again, `lib/puma_tuner/load/wrk_correction.rb`), and say nothing of clients who come
        at their own time.
      - *server late* is how far the server itself was off its plan: more than 1 ms, and the row means nothing.
    TEXT
    private_constant :INTRO, :READING

    private

    def facts = Provenance.line(@machine, at: @at)

    def table
      truth = SelfTest::RATIOS.map { |_, ratio| milliseconds(SelfTest.true_quantile_ns(ratio)) }
      rows = @trials.map do |trial|
        [trial.name, trial.load, trial.right? ? "right" : trial.faults.join("; "), *trial.lines.map { |line| milliseconds(line.reported_ns) },
          trial.requests_count.to_s, trial.late_ns ? milliseconds(trial.late_ns) : "-"]
      end
      Accuracy::Markdown.table(["generator", "load", "verdict", "p50 ms", "p90 ms", "p99 ms", "requests", "server late ms"],
        [["the truth", "even arrivals, 200/s", "", *truth, SelfTest::REQUESTS_COUNT.to_s, "-"], *rows], left_count: 3)
    end

    def milliseconds(ns) = ns ? format("%.2f", ns.fdiv(PumaTuner::Units::NS_PER_MS)) : "-"
  end
end
