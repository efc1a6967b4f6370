# frozen_string_literal: true

require "support/lane_fixture"
require "support/profiles"
require "support/top_builders"
require "support/tradeoffs"
require "support/trials_made"
require "support/tuning_fixture"
require "report/compare_fixture"
require "report/fleet_fixture"
require "report/proof_fixture"

module Fuzz
  # One document of each kind, small: the fixtures of the tests, with two of what they have many of.
  module Documents
    module_function

    # @return [Hash{String => Data}] by kind
    def all
      {"observation" => observation, "workload" => fewer(TuningFixture.workload), "machine" => TuningFixture.machine, "sweep" => sweep,
       "advice_list" => TuningFixture.advice_list, "verdict" => fewer(TuningFixture.verdict), "tuning" => tuning, "load_outcome" => outcome, "load_self_test" => self_test,
       "profile" => Profiles.costs(Profiles.samples({"App#call" => 5_000_000, "App#call > Store#find" => 7_000_000})), "profile_diff" => Profiles.two_profiles,
       "tradeoff" => Tradeoffs.study({"off" => [1_000, 100], "on" => [600, 130]}, rounds_count: 6), "fleet" => FleetFixture.comparison,
       "lanes" => made(LaneFixture).lane_comparison, "status" => status, "trial" => trial, "log_comparison" => CompareFixture.outcome}
    end

    def made(fixture) = Object.new.extend(fixture)

    # With at most two values in each list of values, however deep; what is no value stays whole.
    def fewer(value)
      case value
      when Array then (value.first.is_a?(PumaTuner::Document::Writing) ? value.first(2) : value).map { |one| fewer(one) }
      when PumaTuner::Document::Writing then value.with(**value.to_h.transform_values { |one| fewer(one) })
      else value
      end
    end

    def observation = fewer(TuningFixture.observation)

    # With as many traces as a model needs.
    def modelled
      endpoint = TuningFixture.observation.endpoints.first
      observation.with(endpoints: [endpoint.with(requests_count: 60, traces: endpoint.traces.first(30))], jobs: [])
    end

    def sweep = TuningFixture.sweep(workers: 1..2, threads: [1, 3, 5])

    def tuning
      TuningFixture.tuning(observation:, workload: fewer(TuningFixture.workload), sweep:, verdict: fewer(TuningFixture.verdict))
    end

    def outcome
      PumaTuner::Load::Outcome.new(generator: "wrk 4.2.0", connections_count: 20, duration_ns: 1_000_000_000, requests_count: 9, throughput_per_s: 9.0, mean_ns: 5, p50_ns: 4,
        p90_ns: 6, p99_ns: 7, statuses: {"200" => 8, "500" => 1}, unexpected_count: 1, socket_errors_count: 0, latency: PumaTuner::Probe::Histogram.of([4_000_000] * 9),
        body_bytes_ranges: [[3, 5], nil], unknown: [PumaTuner::Unknown.of(:lag, :closed_loop)])
    end

    def self_test
      line = PumaTuner::Load::SelfTest::Line
      fields = line.members.to_h { |member| [member, member.end_with?("_ns") ? 5 : nil] }
      PumaTuner::Load::SelfTest::Result.new(lines: [line.new(**fields, name: "p99")], intended_count: 10, answered_count: 10, lag_p99_ns: 3, server_late_ns: nil)
    end

    def status
      build = made(TopBuilders)
      build.status(build.entry("GET /a", [10] * 20, cpu: 100, gvl_wait: 50), build.entry("reindexer", [10], kind: :thread)).with(outlook: build.outlook(["1x5", 20, 11], ["1x4", nil, nil]))
    end

    def trial
      build = made(TrialsMade)
      plan = build.plan(periods_count: 4)
      PumaTuner::Trial::Outcome.of(plan, build.readings(plan, seconds: 12) { {} }, started_at: "2026-01-01T00:00:00Z", server_pid: 7)
    end
  end
end
