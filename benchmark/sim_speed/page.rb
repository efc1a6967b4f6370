# frozen_string_literal: true

require_relative "../support/markdown"
require_relative "../support/provenance"
require_relative "judge"
require_relative "rounds"

module SimSpeed
  # What is printed, and docs/sim_speed.md. Generated; nothing in it is written by hand. Pure but for its date.
  class Page
    OUTCOMES = {met: "met", missed: "**missed**", not_shown: "not shown"}.freeze

    # @param machine [PumaTuner::Probe::MachineFacts] before the run
    # @param runs [Hash{String => Array<Run>}]
    # @param sweeps [Array<Rounds::Sweep>]
    # @param verdicts [Array<Overhead::Verdict>]
    # @param simpy [String] its version, or why it is not there
    # @param at [Time]
    def initialize(machine:, runs:, sweeps:, verdicts:, simpy:, at: Time.now)
      @machine = machine
      @runs = runs
      @sweeps = sweeps
      @verdicts = verdicts
      @simpy = simpy
      @at = at
    end

    # @return [String] the tables and what they rest on
    def results = [facts, targets, simulations, *beside_simpy, sweeps].join("\n\n")

    # @return [String] the whole page
    def to_s
      parts = [INTRO.strip, facts, "## Targets", TARGETS.strip, targets, "## Simulations, one core", MODELS.strip, simulations, *beside_simpy, "## A sweep, all cores",
        SWEEP.strip, sweeps]
      "#{parts.join("\n\n")}\n"
    end

    INTRO = <<~TEXT
      # How fast the simulation is

      Written by `benchmark/sim_speed.rb`; not to be edited. To repeat it: `bin/exec rake sim_speed`, which takes a few minutes
      (`OPTIONS=--help` tells how to have less of it, `OPTIONS=--write` writes this page). Whether what it says is right is another
      question: [validation.md](validation.md).
    TEXT

    TARGETS = <<~TEXT
      A target is missed when the whole interval lies beyond it and the noise (the far end of the interval of two equals), met when
      the whole interval is within it, and otherwise not shown either way. Intervals are of the exact signed-rank test over rounds.
    TEXT

    MODELS = <<~TEXT
      *M/M/#{Models::QUEUE.servers_count}*: #{Models::QUEUE.rate_per_s.round} Poisson arrivals a second, #{Models::QUEUE.servers_count} servers, exponential service of
      #{(Models::QUEUE.mean_service_s * 1_000).round} ms on average. In SimPy as its documentation writes it, a process for each customer
      (`benchmark/sim_speed/simpy_mmc.py`); in our simulator a Puma with #{Models::QUEUE.servers_count} threads whose requests only sleep, on a machine where nothing
      else takes time: it goes through accept, GVL, ticks and keep-alive all the same, so it takes more events for a request than the
      queue alone would. Both must find the mean that Erlang's formula gives. *A web app*: three endpoints, 1 to 6 waits in a request,
      garbage collection, 10 connections to `-t 5`. Only the loop itself is timed, what goes before it and after it is not.
    TEXT

    SWEEP = <<~TEXT
      8 thread counts x 4 worker counts x 3 loads of the web app, #{Rounds::SWEEP_REQUESTS_COUNT} requests counted in each, in a process of its own: from the workload in
      memory to the forecasts, intervals and closed forms. Memory is the most that the process ever had (VmHWM), Ruby included.
    TEXT
    private_constant :INTRO, :TARGETS, :MODELS, :SWEEP

    private

    def facts = "#{Provenance.line(@machine, at: @at)}\n#{@simpy}."

    def targets
      rows = @verdicts.map do |verdict|
        figures = [verdict.estimate.value, verdict.estimate.low, verdict.estimate.high, verdict.noise_width].map { |number| PumaTuner::Units.significant(number) }
        [verdict.claim, "#{figures[0]} #{verdict.unit}", figures[1..2].join(" to "), figures[3], OUTCOMES.fetch(verdict.outcome)]
      end
      Accuracy::Markdown.table(["target", "measured", "interval", "noise", "outcome"], rows)
    end

    COLUMNS = {"million events/s" => ->(run) { run.events_per_s / 1e6 }, "thousand requests/s" => ->(run) { run.requests_per_s / 1e3 },
               "thousand arrivals and services/s" => ->(run) { 2 * run.requests_per_s / 1e3 }, "events/request" => ->(run) { run.events_count.fdiv(run.requests_count) },
               "mean latency ms" => ->(run) { run.mean_ns / 1e6 }}.freeze
    private_constant :COLUMNS

    def simulations
      rows = @runs.map { |name, runs| [Rounds::VARIANTS.fetch(name), *COLUMNS.values.map { |figure| range(runs.map(&figure)) }, runs.size.to_s] }
      rows << ["Erlang's formula, M/M/5", *["-"] * (COLUMNS.size - 1), PumaTuner::Units.significant(Models::QUEUE.mean_ns / 1e6), "-"]
      Accuracy::Markdown.table(["", *COLUMNS.keys, "runs"], rows)
    end

    def beside_simpy
      return [] unless @runs.key?("simpy")
      ours = ratio(Judge.times_simpy(@runs))
      pairs = [Judge.times_simpy(@runs, ours: "queue", other: "queue_again"), Judge.times_simpy(@runs, ours: "simpy", other: "simpy_again")].map { |pair| ratio(pair) }
      ["For the same requests SimPy takes #{ours} times as long. Two equals, ours: #{pairs[0]}; SimPy's: #{pairs[1]}."]
    end

    def sweeps
      Accuracy::Markdown.table(["", "seconds", "peak MiB", "scenarios", "runs"],
        [["the sweep", range(@sweeps.map(&:seconds)), range(@sweeps.map { |sweep| sweep.peak_bytes.fdiv(PumaTuner::Units::MIB) }), @sweeps.first.forecasts_count.to_s, @sweeps.size.to_s]])
    end

    def ratio(estimate) = format("%.2f (%.2f to %.2f)", estimate.value, estimate.low, estimate.high)

    def range(values)
      sorted = values.sort
      middle, low, high = [PumaTuner::Stats::Quantile.of(sorted, 0.5), sorted.first, sorted.last].map { |value| PumaTuner::Units.significant(value) }
      "#{middle} (#{low} to #{high})"
    end
  end
end
