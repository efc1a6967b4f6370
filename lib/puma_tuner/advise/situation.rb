# frozen_string_literal: true

module PumaTuner
  module Advise
    # What rules look at: an app as it was recorded, its forecasts, and what else can be forecast of it.
    class Situation
      # What a change brings, over today's: Estimates.
      Effect = Data.define(:throughput_ratio, :p50_ratio, :p99_ratio, :open) do
        # @return [Float] by what it is better, by the middle: throughput; in an open loop, where that is the load's own
        #   rate, p99
        def gain = open ? 1 / p99_ratio.value : throughput_ratio.value

        # @return [Boolean] whether p99 is longer by the middle, by more than what counts as equal
        def longer_tail? = p99_ratio.value > 1 + Choice::EQUAL_P99_WITHIN_RATIO

        # @return [Boolean] whether it is worse by the middle, by more than what counts as equal
        def worse? = gain < 1 - (open ? Choice::EQUAL_P99_WITHIN_RATIO : Choice::EQUAL_WITHIN_RATIO)

        # @return [Boolean] whether it is a gain whatever the model gets wrong
        def gain? = open ? shorter_tail? : throughput_ratio.low > 1

        # @return [Boolean] the same of p99
        def shorter_tail? = p99_ratio.high < 1

        # @return [Hash{Symbol => Stats::Estimate}] what a sentence of evidence tells of it
        def ratios = {throughput_ratio:, p99_ratio:}
      end

      # @return [Model::Workload]
      attr_reader :workload

      # @return [Predict::Sweep]
      attr_reader :sweep

      # @return [Constraints]
      attr_reader :constraints

      # @return [Probe::Observation, nil] nil where forecasts are all that there is
      attr_reader :observation

      # @param sweeper [Predict::Sweeper, nil] that made the sweep; nil: nothing else can be forecast
      def initialize(workload, sweep, constraints: Constraints.new, observation: nil, sweeper: nil)
        @workload = workload
        @sweep = sweep
        @constraints = constraints
        @observation = observation
        @sweeper = sweeper
        @alternatives = {}
      end

      # @return [Topology] today's
      def topology = sweep.today

      # @return [Predict::Forecast] of today's setting
      def today = sweep.at(sweep.today)

      # @return [Boolean] whether requests arrive whatever the server does
      def open? = today.scenario.arrivals.open?

      # @return [Gem::Version, nil] of a gem that the app has loaded
      def gem(name) = version(setting(:gem, name))

      # @return [Gem::Version, nil]
      def puma_version = version(workload.puma_version)

      # @return [String] the hook of puma.rb that a worker runs when it boots; Puma 7 renamed it
      def boot_hook = (puma_version && puma_version < Gem::Version.new("7")) ? "on_worker_boot" : "before_worker_boot"

      # @return [Gem::Version]
      def ruby_version = Gem::Version.new(workload.ruby_version.to_s)

      # @param kind [Symbol] of a fingerprint's keys
      # @return [String, nil] a setting in force, as the server told it; nil where it did not
      def setting(kind, name = nil) = observation&.fingerprint&.dig([kind, name])

      # @return [Probe::MachineFacts, nil]
      def machine = observation&.machine

      # @param part [Symbol] of a budget
      # @param budget [Probe::Budget, nil] of some requests; all without it
      # @return [Float, nil] its share of the requests' time with a thread; nil where it was not told apart
      def share(part, budget = observation&.budget)
        part_ns = budget&.part_ns(part) or return
        time_ns = budget.wall_ns - budget.queue_ns.to_i
        part_ns.fdiv(time_ns) if time_ns.positive?
      end

      # @return [Boolean] whether a master stands above the workers
      def cluster? = observation&.processes.to_a.any? { |process| process.role == "worker" }

      # @return [Float, nil] share of the requests' time that is waits for a connection of a pool
      def pool_ratio = share(:pool) || (demanded { |endpoint| endpoint.mean_of(&:pool_ns) } if observation.nil?)

      # @return [Float] the same of waits for other locks
      def lock_ratio
        locks, pools = share(:lock), share(:pool)
        (locks && pools) ? locks - pools : demanded { |endpoint| other_lock_ns(endpoint) }
      end

      # @return [Array<Array(String, Float, Numeric)>] of each endpoint its name, that share, and the time of a mean
      #   request in nanoseconds
      def lock_ratios
        return lock_ratios_by_demand unless share(:lock) && share(:pool)
        observation.endpoints.map do |endpoint|
          budget = endpoint.budget
          [endpoint.name, share(:lock, budget).to_f - share(:pool, budget).to_f,
            (budget.lock_ns.to_i - budget.pool_ns.to_i).fdiv(endpoint.requests_count)]
        end
      end

      # @param what_if [Array<String>] changes to the app
      # @param settings [Hash] of the server, see Predict::Sweeper#alternative
      # @return [Predict::Forecast, nil] of today's setting with these changes; nil where nothing can be forecast
      def alternative(what_if: [], **settings)
        return unless @sweeper && sweep.trusted?
        settings = {arrivals: today.scenario.arrivals, **settings}
        @alternatives[[what_if, settings]] ||= @sweeper.alternative(what_if:, **settings)
      rescue UsageError
        nil # of this app it can't be assumed, as of an endpoint whose name no expression can hold
      end

      # @return [Effect, nil] of these changes; nil where nothing can be forecast, or one of both has no steady state
      def effect(**changes)
        forecast = alternative(**changes) or return
        return unless forecast.steady? && today.steady?
        Effect.new(open: open?,
          **{throughput_ratio: :throughput_per_s, p50_ratio: :p50_ns, p99_ratio: :p99_ns}
            .transform_values { |name| sweep.ratio(forecast, today, name) })
      end

      # @return [Boolean] whether these changes leave no steady state where today's setting has one
      def overloads?(**changes) = today.steady? && alternative(**changes)&.steady? == false

      # @param factor [Float]
      # @param forecasts [Array<Predict::Forecast>] of the sweep
      # @return [Predict::Sweep, nil] the same settings, and today's, under a load that is so many times as heavy; nil
      #   where nothing can be forecast. Unlike all else it is there of a model that can't be trusted, too.
      def sweep_under(factor, forecasts)
        arrivals = today.scenario.arrivals.times(factor)
        @sweeper&.call([today, *forecasts].uniq.map { |one| one.scenario.with(arrivals:) })
      end

      private

      def version(text) = (Gem::Version.new(text) if text && Gem::Version.correct?(text))

      # Share of something in what a mean request demands, by endpoint in nanoseconds.
      def demanded(&) = workload.mean_ns.positive? ? workload.mean_of(&) / workload.mean_ns : 0.0

      def other_lock_ns(endpoint) = endpoint.mean_lock_ns - endpoint.mean_of(&:pool_ns)

      def lock_ratios_by_demand
        workload.endpoints.map do |endpoint|
          total_ns = endpoint.mean_ns
          [endpoint.name, total_ns.zero? ? 0.0 : other_lock_ns(endpoint) / total_ns, other_lock_ns(endpoint)]
        end
      end
    end
  end
end
