# frozen_string_literal: true

require_relative "../overhead/difference"
require_relative "../overhead/verdict"

module SimSpeed
  # The simulator's targets. Pure. What grows when things get better is judged by its inverse.
  module Judge
    EVENTS_PER_S = 10_000_000
    SWEEP_S = 5
    SWEEP_MIB = 200

    class << self
      # @param runs [Hash{String => Array<Run>}]
      # @param sweeps [Array<Rounds::Sweep>]
      # @return [Array<Overhead::Verdict>]
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
        Overhead::Verdict.new(claim:, unit: "ns", target: 1e9 / EVENTS_PER_S, estimate: Overhead::Difference.of(ns), noise: Overhead::Difference.of(again.zip(ns).map { |two, one| two - one }))
      end

      def at_most(claim, unit, target, values)
        Overhead::Verdict.new(claim:, unit:, target:, estimate: Overhead::Difference.of(values), noise: Overhead::Verdict::NO_PAIR)
      end
    end
  end
end
