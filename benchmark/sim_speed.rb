# frozen_string_literal: true

# How fast the simulation is: events per second on one core, a whole sweep on all of them, and SimPy on the same queue.
# Ends with status 1 when it misses one of its targets by more than the noise that was measured, with 3 when noise leaves one open.
#
#   bin/exec rake sim_speed    (a few minutes; of any use only on a machine with nothing else to do)

require_relative "support/bench"
require_relative "sim_speed/engines"

module SimSpeed
  Options = Bench::Options.define("sim_speed", page: "docs/measured/sim_speed.md", needs: "whole rounds: no --quick", quick: "two rounds of a twentieth, to see whether it works; its numbers mean nothing",
    rounds: "everything this often (default: #{Rounds::ROUNDS_COUNT})")

  # @param machine [PumaTuner::Probe::MachineFacts]
  # @return [Page]
  def self.run(options, machine)
    raise PumaTuner::UsageError, Engine.why_not if Engine.why_not
    simpy = Simpy.new
    warn "left out: #{simpy.why_not}" if simpy.why_not
    raise PumaTuner::UsageError, "a page without SimPy is not written" if options.write && simpy.why_not
    rounds = Rounds.new(rounds_count: options.rounds_count, quick: options.quick, simpy:).tap(&:run)
    measured = {runs: rounds.runs, sweeps: rounds.sweeps}
    Page.new(machine:, **measured, verdicts: Judge.verdicts(**measured), simpy: simpy.version || simpy.why_not)
  end

  # The simulator's targets. Pure. What grows when things get better is judged by its inverse.
  module Judge
    EVENTS_PER_S = 10_000_000
    SWEEP_S = 5
    SWEEP_MIB = 200

    class << self
      # @param runs [Hash{String => Array<Run>}]
      # @param sweeps [Array<Rounds::Sweep>]
      # @return [Array<Bench::Verdict>]
      def verdicts(runs:, sweeps:)
        [
          event(runs, "queue", "an event of M/M/5: at most 100 ns on one core (10 million/s)"),
          event(runs, "app", "an event of the web app: at most 100 ns on one core (10 million/s)"),
          at_most("a sweep of 96 scenarios: below #{SWEEP_S} s", "s", SWEEP_S, sweeps.map(&:seconds)),
          at_most("its memory at the most: below #{SWEEP_MIB} MiB", "MiB", SWEEP_MIB, sweeps.map { |sweep| sweep.peak_bytes.fdiv(PumaTuner::Units::MIB) })
        ]
      end

      # @return [PumaTuner::Stats::Estimate] of the same rounds: SimPy's time for a request over ours
      def times_simpy(runs, ours: "queue", other: "simpy")
        per_request = ->(name) { runs.fetch(name).map { |run| run.seconds / run.requests_count } }
        PumaTuner::Stats::PairedRatio.of(per_request.call(ours), per_request.call(other))
      end

      private

      def event(runs, name, claim)
        ns = runs.fetch(name).map(&:ns_per_event)
        again = runs.fetch("#{name}_again").map(&:ns_per_event)
        Bench::Verdict.new(claim:, unit: "ns", target: 1e9 / EVENTS_PER_S, estimate: Bench::Difference.of(ns), noise: Bench::Difference.of(again.zip(ns).map { |two, one| two - one }))
      end

      def at_most(claim, unit, target, values)
        Bench::Verdict.new(claim:, unit:, target:, estimate: Bench::Difference.of(values), noise: Bench::Verdict::NO_PAIR)
      end
    end
  end

  # docs/measured/sim_speed.md
  class Page < Bench::Page
    # @param runs [Hash{String => Array<Run>}]
    # @param sweeps [Array<Rounds::Sweep>]
    # @param simpy [String] its version, or why it is not there
    def initialize(runs:, sweeps:, simpy:, **)
      super(**)
      @runs = runs
      @sweeps = sweeps
      @simpy = simpy
    end

    # @return [String] the tables and what they rest on
    def results = paragraphs(facts, targets, simulations, beside_simpy, sweeps)

    # @return [String] the whole page
    def to_s
      paragraphs(INTRO, facts, targets, "## Simulations, one core", MODELS, simulations, beside_simpy, "## A sweep, all cores", SWEEP, sweeps)
    end

    INTRO = <<~TEXT
      # How fast the simulation is

      Written by `benchmark/sim_speed.rb`; not to be edited. To repeat it: `bin/exec rake sim_speed`, which takes a few minutes
      (`OPTIONS=--help` tells how to have less of it, `OPTIONS=--write` writes this page). Whether what it says is right is another
      question: [validation.md](validation.md).
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
    private_constant :INTRO, :MODELS, :SWEEP

    private

    def facts = "#{super}\n#{@simpy}."

    def targets = super { |number| PumaTuner::Units.significant(number) }

    COLUMNS = {"million events/s" => ->(run) { run.events_per_s / 1e6 }, "thousand requests/s" => ->(run) { run.requests_per_s / 1e3 },
               "thousand arrivals and services/s" => ->(run) { 2 * run.requests_per_s / 1e3 }, "events/request" => ->(run) { run.events_count.fdiv(run.requests_count) },
               "mean latency ms" => ->(run) { run.mean_ns / 1e6 }}.freeze
    private_constant :COLUMNS

    def simulations
      rows = @runs.map { |name, runs| [Rounds::VARIANTS.fetch(name), *COLUMNS.values.map { |figure| range(runs.map(&figure)) }, runs.size.to_s] }
      rows << ["Erlang's formula, M/M/5", *["-"] * (COLUMNS.size - 1), PumaTuner::Units.significant(Models::QUEUE.mean_ns / 1e6), "-"]
      Bench::Markdown.table(["", *COLUMNS.keys, "runs"], rows)
    end

    def beside_simpy
      return [] unless @runs.key?("simpy")
      ours = ratio(Judge.times_simpy(@runs))
      pairs = [Judge.times_simpy(@runs, ours: "queue", other: "queue_again"), Judge.times_simpy(@runs, ours: "simpy", other: "simpy_again")].map { |pair| ratio(pair) }
      ["For the same requests SimPy takes #{ours} times as long. Two equals, ours: #{pairs[0]}; SimPy's: #{pairs[1]}."]
    end

    def sweeps
      Bench::Markdown.table(["", "seconds", "peak MiB", "scenarios", "runs"],
        [["the sweep", range(@sweeps.map(&:seconds)), range(@sweeps.map { |sweep| sweep.peak_bytes.fdiv(PumaTuner::Units::MIB) }), @sweeps.first.forecasts_count.to_s, @sweeps.size.to_s]])
    end

    def ratio(estimate) = format("%.2f (%.2f to %.2f)", estimate.value, estimate.low, estimate.high)

    def range(values)
      sorted = values.sort
      middle, low, high = [Bench.median(sorted), sorted.first, sorted.last].map { |value| PumaTuner::Units.significant(value) }
      "#{middle} (#{low} to #{high})"
    end
  end
end

Bench.program(__FILE__, SimSpeed::Options) { |options, machine| SimSpeed.run(options, machine) }
