# frozen_string_literal: true

require "etc"

module PumaTuner
  module Predict
    # Simulates a workload in one scenario after the other, each with the same seeds, so that they meet the same
    # requests and their differences are their own. As many simulations run at a time as there are cores.
    class Sweeper
      DEFAULT_SEEDS_COUNT = 10
      DEFAULT_REQUESTS_COUNT = 5_000

      # Two, as the interval needs a spread.
      LEAST_SEEDS_COUNT = 2

      # However short a time is, each simulation counts so many requests, of which ten are beyond the p99: twice what
      # EnoughRequests asks for.
      LEAST_REQUESTS_COUNT = 1_000

      # Steps of the core that a request takes: for each of its waits (a burst ends, a wait ends, the GVL is handed
      # over), and besides; to take a lock, or to let go of it, is one. docs/measured/sim_speed.md has 9.6 of requests
      # with one wait, and 18.2 of others with 3.1.
      STEPS_PER_WAIT = 4
      STEPS_PER_REQUEST = 6

      # Of these each core takes about so many a second, with all that forecasts and advice take beside them. That page
      # has five times as many of simulations alone. But where requests let go of the GVL 190 times, a grid of 16
      # settings took two cores 34 s, which is 11 million a second for each. What they take beside simulations is hardly
      # less with fewer requests in each, and another machine may be slower: this is a plan, and no limit. A judgement.
      STEPS_PER_S = 10_000_000

      # Tells how many requests can be simulated each time where a grid is to be forecast in a given time. It goes by
      # what there is to simulate, and by no clock, so that a recording has the same forecasts again. The self-check
      # simulates as many as were recorded, whatever the time, as its noise is that of so many.
      #
      # @api private
      # @param seconds [Numeric] for all of it
      # @param workload [Model::Workload]
      # @param scenarios_count [Integer] of the grid
      # @param wanted_count [Integer] requests to be counted in each simulation, where there is time
      # @param cores_count [Numeric] that simulate
      # @return [Integer] as many as are wanted; or fewer, in hundreds, but LEAST_REQUESTS_COUNT at least
      def self.requests_within(seconds, workload, scenarios_count, wanted_count, cores_count:)
        steps_of = ->(demand) { demand.wait_kinds.size + (STEPS_PER_WAIT - 1) * demand.releases_count }
        steps_count = STEPS_PER_REQUEST + workload.mean_of { |endpoint| endpoint.mean_of(&steps_of) }
        counted_count = seconds * cores_count * STEPS_PER_S / steps_count / (1 + Plan::WARM_UP_RATIO)
        checked_count = workload.recorded.sum { |one| one.requests_count.clamp(SelfChecker::REQUESTS_COUNTS) }
        ((counted_count / DEFAULT_SEEDS_COUNT - checked_count) / scenarios_count).floor(-2)
          .clamp([LEAST_REQUESTS_COUNT, wanted_count].min, wanted_count)
      end

      # @param workload [Model::Workload]
      # @param machine [Model::Machine]
      # @param seed [Integer] of the first simulation; the others count up from it
      # @param seeds_count [Integer] simulations of each scenario
      # @param requests_count [Integer] counted in each simulation
      # @param past_error [Hash, nil] of this app's earlier forecasts, see TrackRecord
      # @param what_if [Array<String>] changes that the workload has been given, to be told
      # @param remarks [Array<String>] to be told
      # @param limits [Array<Unknown>] see Limits
      # @param stations [Array<Station>]
      # @param percentiles [Array<String>] to tell besides p50, p90 and p99, such as "p99.9"
      # @param goals [Array<Goal>] that forecasts will be held against
      # @param as_recorded [Array(Model::Workload, Model::Machine), nil] before anything was assumed; nil: nothing was
      # @raise [UsageError] when too few requests stand behind a percentile or a goal
      def initialize(workload:, machine:, seed:, seeds_count: DEFAULT_SEEDS_COUNT,
        requests_count: DEFAULT_REQUESTS_COUNT, past_error: nil, what_if: [], remarks: [], limits: [], stations: [],
        percentiles: [], goals: [], as_recorded: nil)
        @workload = workload
        @machine = machine
        @seed = seed
        @seeds_count = [seeds_count, LEAST_SEEDS_COUNT].max
        @requests_count = requests_count
        @past_error = past_error
        @what_if = what_if
        @remarks = remarks
        @limits = limits
        @stations = stations
        enough = EnoughRequests.new(workload, requests_count)
        @percentiles = percentiles_of(percentiles, goals).each { |percentile| enough.ensure_of_all(percentile) }
        @endpoints = goals.select(&:endpoint).to_h { |goal| [goal, enough.ensure_of_endpoint(goal)] }
        @as_recorded = as_recorded || [workload, machine]
        @lock = Mutex.new
        @there, @made = {}, {}
      end

      # @param scenarios [Array<Scenario>] today's is added when its topology is not among them
      # @yield [done_count, total_count] after each scenario
      # @return [Sweep] forecasts by load, then workers, then threads
      def call(scenarios, &progress)
        forecasts = forecasts(with_today(scenarios), &progress).freeze
        @made = @made.merge(forecasts.to_h { |forecast| [forecast.scenario, forecast] })
        Sweep.new(forecasts:, today: @workload.observed_topology, arrivals: @workload.arrivals,
          rule_of_thumb_threads_count: RuleOfThumb.threads_count(@workload.held_ratio), what_if: @what_if, seed: @seed,
          seeds_count: @seeds_count, requests_count: @requests_count, past_error: @past_error, remarks: @remarks,
          limits: @limits, self_check:)
      end

      # @param scenario [Scenario]
      # @return [Forecast]
      def forecast(scenario) = forecasts([scenario]).first

      # What else would be at today's setting, under the recording's load: it meets the same requests as all forecasts.
      #
      # @param what_if [Array<String>] changes to the app, see WhatIf
      # @param settings [Hash] what else differs from today's, see Scenario.of, such as affinity: true
      # @param topology [Topology] today's unless another is given
      # @param arrivals [Model::Arrivals, nil] nil: those of the recording
      # @return [Forecast]
      # @raise [UsageError] for a change that can't be made
      def alternative(what_if: [], topology: @workload.observed_topology, arrivals: nil, **settings)
        workload, machine = WhatIf.parse(what_if).apply(@workload, @machine)
        supposing(workload, machine)
          .forecast(Scenario.as_recorded(workload, topology, arrivals || workload.arrivals, **settings))
      end

      # The recorded settings are simulated once, before anything else; with the stations, as these say how the app is.
      #
      # @return [SelfCheck, nil] nil where the recording does not tell what it saw
      def self_check
        return @self_check if defined?(@self_check)
        workload, machine = @as_recorded
        checker = SelfChecker.new(workload,
          lambda do |scenario, requests_count|
            simulate(scenario, workload, machine, requests_count, seeds_count: checked_seeds_count)
          end)
        settings = in_parallel(workload.recorded) { |recorded| checker.call(recorded) }
        @self_check = (SelfCheck.new(settings: settings.freeze) if settings.any?)
      end

      protected

      # @return [Sweeper] of another app, for which the same self-check holds
      def supposing(workload, machine)
        return self if workload.equal?(@workload) && machine.equal?(@machine)
        uncertainty
        dup.suppose(workload, machine)
      end

      def suppose(workload, machine)
        @workload, @machine = workload, machine
        @lock, @there, @made = Mutex.new, {}, {}
        self
      end

      private

      # Those that are usually told stay so beside those of goals alone.
      def percentiles_of(asked, goals)
        of_goals = goals.reject(&:endpoint).map(&:percentile)
        usual = %w[p50 p99] if asked.empty?
        return asked if of_goals.empty?
        (asked | usual.to_a | of_goals).sort_by { |name| Percentile.ratio(name) }
      end

      def uncertainty = @uncertainty ||= Uncertainty.new(@past_error, self_check)

      def with_today(scenarios)
        today = @workload.observed_topology
        if scenarios.none? { |scenario| scenario.topology == today }
          scenarios += [Scenario.as_recorded(@workload, today)]
        end
        loads = scenarios.map(&:arrivals).uniq
        scenarios.uniq.sort_by do |scenario|
          [loads.index(scenario.arrivals), scenario.timeslice_ms || 0, scenario.affinity ? 1 : 0,
            scenario.io_threads_count, scenario.topology.workers_count, scenario.topology.threads_count]
        end
      end

      # What a sweep has is not simulated again: rules of advice ask for its settings. Whatever else is forecast is not
      # kept, as searches try hundreds of loads, each of which may be a long list of instants.
      def forecasts(scenarios)
        uncertainty
        done_count = 0
        lock = Mutex.new
        in_parallel(scenarios) do |scenario|
          (@made[scenario] || forecast_of(scenario)).tap do
            lock.synchronize { yield(done_count += 1, scenarios.size) } if block_given?
          end
        end
      end

      # The core lets go of the GVL, so threads do.
      def in_parallel(scenarios)
        left = scenarios.each_with_index.to_a
        results = Array.new(scenarios.size)
        lock = Mutex.new
        threads = Array.new([Etc.nprocessors, scenarios.size].min) do
          Thread.new do
            Thread.current.report_on_exception = false
            while (scenario, index = lock.synchronize { left.shift })
              results[index] = yield(scenario)
            end
          end
        end
        threads.each(&:join)
        results
      ensure
        threads&.each(&:kill)&.each { |thread| thread.join unless thread.status.nil? }
      end

      def forecast_of(scenario)
        closed_form = ClosedForm.new(there(scenario, @workload, @machine).first, @machine, scenario)
        fields = {scenario:, memory_bytes: memory_bytes(scenario.topology), bottleneck: closed_form.bottleneck,
                  closed_forms: closed_form.forms}
        if beyond?(scenario, closed_form.capacity_per_s)
          return Forecast.new(**fields, **unsteady(hopeless(scenario, closed_form.capacity_per_s)))
        end
        outcomes = simulate(scenario, @workload, @machine, @requests_count, endpoints: @endpoints.values.uniq)
        reason = growing(scenario, outcomes)
        return Forecast.new(**fields, **unsteady(reason)) if reason
        estimates = uncertainty.estimates(outcomes, open: scenario.arrivals.open?, percentiles: @percentiles,
          endpoints: @endpoints)
        Forecast.new(**fields, unsteady: nil, **estimates, **means(outcomes))
      rescue Deadlock => deadlock
        Forecast.new(**fields, **unsteady(deadlock.statement(@workload.locks)))
      end

      # An interval of two or three is so wide that hardly anything is beyond it.
      def checked_seeds_count = [@seeds_count, DEFAULT_SEEDS_COUNT].max

      def simulate(scenario, workload, machine, requests_count, endpoints: [], seeds_count: @seeds_count)
        changed, requests = there(scenario, workload, machine)
        (@seed...@seed + seeds_count).map do |seed|
          Engine.call(Plan.new(workload: changed, machine:, scenario:, seed:, requests_count:,
            stations: @stations, requests:), endpoints:)
        end
      end

      # Returns what the recordings tell of the app at a topology and under a load, and its requests packed, which takes
      # longer than many a simulation.
      #
      # @return [Array(Model::Workload, RecordedRequests)]
      def there(scenario, workload, machine)
        topology, recorded_on = scenario.topology, @as_recorded.last
        part_load_ratio = workload.part_load_ratio(topology, machine, scenario.arrivals, recorded_on:)
        @lock.synchronize do
          @there[[topology, part_load_ratio, workload.equal?(@workload), machine.equal?(@machine)]] ||=
            workload.at(topology, machine, part_load_ratio:, recorded_on:)
              .then { |changed| [changed, Plan.recorded_requests(changed, machine)] }
        end
      end

      def unsteady(reason)
        figures = %i[throughput_per_s mean_ns p50_ns p90_ns p99_ns budget gvl_wait_ns queue_ns slices_per_request
          cores_used]
        {unsteady: reason, **figures.to_h { |name| [name, nil] }}
      end

      # The formulas' bound is an upper one: what is beyond it can't be served whatever the rest.
      def beyond?(scenario, capacity_per_s) = scenario.arrivals.open? && scenario.arrivals.rate_per_s >= capacity_per_s

      def hopeless(scenario, capacity_per_s)
        Statement.of(:beyond_capacity, rate_per_s: scenario.arrivals.rate_per_s, capacity_per_s:)
      end

      # The queue grows when more requests are under way at the end than at the beginning, in run after run: by over
      # three standard errors, and at least one for each hundred served. (This is a judgement; a queue near its limit
      # grows for long before it is steady.)
      def growing(scenario, outcomes)
        return unless scenario.arrivals.open?
        growth = outcomes.map(&:growth_ratio)
        mean = growth.sum / growth.size
        error = Math.sqrt(growth.sum { |ratio| (ratio - mean)**2 } / (growth.size - 1) / growth.size)
        return if mean < 0.01 || mean < 3 * error
        # The share counts the requests by which the queue has grown for each that was served.
        Statement.of(:queue_grows, rate_per_s: scenario.arrivals.rate_per_s, unserved_ratio: mean / (1 + mean))
      end

      def means(outcomes)
        mean = ->(name) { outcomes.sum { |outcome| outcome.means.fetch(name) } / outcomes.size }
        budget = Probe::Budget.of(Probe::Parts::SIMULATED.to_h { |part| [part, mean.call(part)] })
        {budget:, queue_ns: budget.queue_ns, slices_per_request: mean.call(:slices),
         cores_used: outcomes.sum(&:cores_used) / outcomes.size, lock_waits: lock_waits(outcomes)}
      end

      def lock_waits(outcomes)
        @workload.locks.each_with_index.map do |lock, index|
          counts, waits_ns = outcomes.map { |outcome| outcome.lock_waits.fetch(index) }.transpose
          LockWait.new(name: lock.name, kind: lock.kind, waits_per_request: counts.sum / outcomes.size,
            wait_ns: waits_ns.sum / outcomes.size)
        end.freeze
      end

      # A single process cannot be told from a recorded cluster, nor a cluster from a single process: what a master and
      # its workers share is known only from having seen it.
      def memory_bytes(topology)
        memory = @workload.memory
        return memory.single_bytes if topology.workers_count == 1
        return unless memory.shared_bytes && memory.per_worker_bytes
        memory.shared_bytes + topology.workers_count * memory.per_worker_bytes
      end
    end
  end
end
