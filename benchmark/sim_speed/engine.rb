# frozen_string_literal: true

require_relative "models"

module SimSpeed
  # One simulation: seconds that it took, requests and events in it (those before the counted ones included), and the mean
  # latency that it found.
  Run = Data.define(:seconds, :requests_count, :events_count, :mean_ns) do
    def requests_per_s = requests_count / seconds

    def events_per_s = events_count / seconds

    def ns_per_event = seconds * 1e9 / events_count
  end

  # All that this benchmark knows of our simulator.
  module Engine
    Predict = PumaTuner::Predict
    private_constant :Predict

    class << self
      # @return [String, nil] why there is nothing to time, as a clause
      def why_not
        "the simulation's core is not compiled: rake compile" unless Predict::Engine.native?
      end

      # @return [Run] of the M/M/c queue
      def queue(requests_count:, seed:)
        run(Predict::Plan.new(workload: (@queue ||= Models.queue_workload), machine: Models.ideal_machine, scenario: Models.queue_scenario, seed:,
          requests_count:, resample: false))
      end

      # @return [Run] of the web app
      def app(requests_count:, seed:)
        run(Predict::Plan.new(workload: (@app ||= Models.app_workload), machine: Models.machine, scenario: Models.app_scenario, seed:, requests_count:))
      end

      # @param requests_count [Integer] for each scenario, all its simulations together
      # @return [Integer] scenarios forecast
      def sweep(scenarios, requests_count:)
        seeds_count = Predict::Sweeper::DEFAULT_SEEDS_COUNT
        sweeper = Predict::Sweeper.new(workload: Models.app_workload, machine: Models.machine, seed: 1, seeds_count:, requests_count: requests_count / seeds_count)
        sweeper.call(scenarios).forecasts.size
      end

      private

      # Only the core's own time, as SimPy's is only that of its loop: what goes before and after is a few ms for any number of
      # events, and the sweep has it in.
      def run(plan)
        numbers = plan.to_h
        began_s = now_s
        result = Predict::Core.run(numbers)
        seconds = now_s - began_s
        outcome = Predict::Outcome.of(result)
        Run.new(seconds:, requests_count: numbers.fetch(:requests_count) + numbers.fetch(:warm_up_count), events_count: outcome.events_count, mean_ns: outcome.mean_ns)
      end

      def now_s = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
