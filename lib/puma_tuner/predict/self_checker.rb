# frozen_string_literal: true

module PumaTuner
  module Predict
    # Makes a SelfCheck: simulates each recorded setting under its load, as often as any scenario.
    #
    # Chance explains some differences: each simulation counts as many requests as were recorded and draws from another
    # resample of them, so that its figures scatter as those of recordings would, and the interval of one more of them
    # is the noise (a parametric bootstrap: Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, 6.5). It
    # does not know that the machine changes from one minute to the next, hence the floors.
    class SelfChecker
      # So many figures are looked at that at 95% some would be beyond by chance alone.
      LEVEL_RATIO = 0.99

      # All intervals already hold the errors that the model is taken to make anyway, and repeated recordings of one
      # setting differ by nearly as much.
      FLOOR_RATIOS = Uncertainty::MODEL_ERROR_RATIOS.slice("throughput", "p50", "p99").freeze

      # The same of a part of the budget, of what it is a share of. A judgement.
      PART_FLOOR_RATIO = 0.05

      # Fewer requests are all warm-up; with more, chance is below the floors.
      REQUESTS_COUNTS = 100..10_000

      SIMULATED = {"throughput" => :throughput_per_s.to_proc, "p50" => ->(outcome) { outcome.quantile_ns(0.5) },
                   "p99" => ->(outcome) { outcome.quantile_ns(0.99) }}.freeze
      private_constant :SIMULATED

      # @param workload [Model::Workload] as it was recorded
      # @param simulate [#call] scenario, number of requests -> Array<Outcome>, one for each seed
      def initialize(workload, simulate)
        @workload = workload
        @simulate = simulate
      end

      # @param recorded [Model::Recorded]
      # @return [CheckedSetting]
      def call(recorded)
        scenario = Scenario.as_recorded(@workload, recorded.topology, recorded.arrivals)
        outcomes = @simulate.call(scenario, recorded.requests_count.clamp(REQUESTS_COUNTS))
        figures = [*wholes(recorded, outcomes), *parts(recorded, outcomes)].freeze
        CheckedSetting.new(scenario:, figures:,
          cause: LikelyCause.of(figures.select(&:beyond_noise), recorded:, locks_watched: locks_watched?,
            taken_ratio: @workload.recorded.filter_map(&:taken_ratio).max))
      rescue Deadlock => deadlock
        stuck(scenario, recorded, deadlock)
      end

      private

      # It served requests, and the simulation comes to serve none. That has no other figures, nor a scatter.
      def stuck(scenario, recorded, deadlock)
        none = Stats::Estimate.new(value: 0.0, low: 0.0, high: 0.0, level_ratio: nil, samples_count: 1)
        figure = CheckedFigure.new(metric: "throughput", recorded: recorded.throughput_per_s, simulated: none,
          error_ratio: -1.0, beyond_noise: true)
        CheckedSetting.new(scenario:, figures: [figure].freeze, cause: deadlock.statement(@workload.locks))
      end

      def wholes(recorded, outcomes)
        Check::FIELDS.filter_map do |metric, field|
          number = recorded.public_send(field)
          if number&.positive?
            figure(metric, number, outcomes.map(&SIMULATED.fetch(metric)), of: number,
              floor_ratio: FLOOR_RATIOS.fetch(metric))
          end
        end
      end

      # A part that is demanded is held against all that is: in a long queue the request itself would be lost. The waits
      # of requests for each other are held against all of their time.
      def parts(recorded, outcomes)
        budget, count = recorded.budget, recorded.requests_count
        return [] unless budget&.wall_ns.to_i.positive? && count.positive?
        demanded_ns = LikelyCause::DEMANDED.sum { |part| budget.part_ns(part).to_i }
        [*LikelyCause::DEMANDED.product([demanded_ns]), *LikelyCause::FOLLOWING.product([budget.wall_ns])]
          .filter_map do |part, of_ns|
          number = recorded_ns(budget, part) or next
          if of_ns.positive?
            figure(part, number.fdiv(count), outcomes.map { |outcome| simulated_ns(outcome, part) },
              of: of_ns.fdiv(count), floor_ratio: PART_FLOOR_RATIO)
          end
        end
      end

      # Beside other busy cores a request holds the GVL for longer. The CPU clock counts that as CPU time where two
      # threads of a core share it, and not where the kernel takes turns; the simulation, which knows no more than how
      # much gets done, counts all of it as preempted. So both count together.
      def recorded_ns(budget, part)
        (part == "cpu") ? budget.cpu_ns && budget.cpu_ns + budget.preempted_ns.to_i : budget.part_ns(part)
      end

      def simulated_ns(outcome, part)
        ns = outcome.means.fetch(part.to_sym)
        (part == "cpu") ? ns + outcome.means.fetch(:preempted) : ns
      end

      def figure(metric, recorded, samples, of:, floor_ratio:)
        simulated = Stats::Estimate.of_prediction(samples, level_ratio: LEVEL_RATIO)
        error_ratio = (simulated.value - recorded).fdiv(of)
        CheckedFigure.new(metric:, recorded:, simulated:, error_ratio:,
          beyond_noise: !simulated.covers?(recorded) && error_ratio.abs > floor_ratio)
      end

      # Only watched locks tell when a thread begins to want them.
      def locks_watched?
        @workload.endpoints.any? { |endpoint| endpoint.demands.any? { |demand| demand.wait_kinds.include?("acquire") } }
      end
    end
  end
end
