# frozen_string_literal: true

require "support/builders"

# One rule at a time, asked about a made situation.
module Advising
  include Builders

  # In the place of a sweeper: forecasts what the test says.
  Forecasting = Data.define(:forecasts) do
    def alternative(what_if: [], **settings) = forecasts.call(what_if.first, settings)
  end

  # @param rule [Class]
  # @param observation [Probe::Observation, nil]
  # @param today [String, Predict::Forecast] a topology
  # @yieldparam what_if [String, nil]; settings: what else is asked for
  # @yieldreturn [Predict::Forecast] of the change; without a block nothing can be forecast
  # @return [Array<Advise::Advice>] told
  def ask(rule, observation: nil, of: workload, today: "1x5", constraints: {}, &forecasts)
    today = forecast(today, 100) unless today.is_a?(Predict::Forecast)
    situation = Advise::Situation.new(of, sweep(today), constraints: Advise::Constraints.new(**constraints), observation:, sweeper: forecasts && Forecasting.new(forecasts))
    rule.new(situation).call.map { |advice| told(advice) }
  end

  # @param settings [Hash{String => String}] "puma max_io_threads" => "5"
  def in_force(observation, **others, &)
    settings = {"gem puma" => "8.0.2", **others.transform_keys(&:to_s)}
    observation.with(fingerprint: Probe::Fingerprint.from_document(settings))
  end

  # @return [Probe::Observation] with a master and so many workers
  def cluster(workers_count, pss_bytes: 50 << 20, rss_bytes: 100 << 20, requests: [100] * workers_count, **)
    processes = [process_observation(role: "master", pss_bytes:), *requests.map.with_index { |count, index| process_observation(role: "worker", worker_index: index, pss_bytes:).with(requests_count: count) }]
    observation(processes: processes.map { |process| process.with(rss_bytes:) }, topology: topology("#{workers_count}x3"), **)
  end
end
