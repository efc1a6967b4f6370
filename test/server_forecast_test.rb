# frozen_string_literal: true

require "test_helper"
require "support/builders"

# The talk that this project began with prints, of a thread that computes for 65.1% of its time, `puma -t 1:3`.
class ServerForecastTest < TunerTest
  include Builders

  # Requests with the shares of the talk's line, each half as long to half as long again.
  def of_the_talk
    random = Random.new(1)
    demands = Array.new(60) do
      times = (0.5 + random.rand) / 5
      demand([33.1 * times, 33.1 * times], [33.7 * times], gc_ms: 1.1 * times)
    end
    workload(endpoints: [endpoint_demand(*demands)], connections_count: 20, observed_topology: topology("1x5"))
  end

  test "the talk's own example: the rule of thumb gives 2 threads, the forecast 3, as the talk prints" do
    assert_equal 2, RuleOfThumb.threads_count(0.651 + 0.011)
    sweeper = Predict::Sweeper.new(workload: of_the_talk, machine: machine(cores_count: 2), seed: 1, seeds_count: 5, requests_count: 1_000)
    sweep = sweeper.call((1..8).map { |threads_count| scenario("1x#{threads_count}", Model::Arrivals.closed(20)) })
    chosen = Advise::Choice.new(sweep, Advise::Constraints.new).forecast.topology
    assert_equal "Recommended config: puma -t 1:3", ThreadLine.recommendation(chosen.threads_count, workers_count: chosen.workers_count)
    # A third thread is worth 3%, and any more nothing.
    per_s = (2..5).map { |threads_count| sweep.at(topology("1x#{threads_count}")).throughput_per_s.value }
    assert_in_delta 1.03, per_s[1] / per_s[0], 0.015
    assert_in_delta 1.0, per_s[3] / per_s[1], 0.005
  end
end
