# frozen_string_literal: true

require "time"

module PumaTuner
  module Trial
    # Forecasts a running server at other numbers of threads again and again, and does what Step decides: says it
    # (:observe), tries it on one worker and undoes it (:trial), or keeps to it where it does no harm (:auto). Each step
    # is tried on one worker for a cool-down before all have it.
    class Automatic
      MODES = %i[observe trial auto].freeze

      # An order is given again this often, also while forecasts are made, unless this process has stood still for so
      # long that nobody looks at the server any more.
      ORDER_S = 1
      STILL_S = 60

      # What happened. kind: of the Statement's words; threads_count: afterwards
      Told = Data.define(:at_s, :statement, :threads_count, :situation)

      # @param server [Server]
      # @param mode [Symbol] of MODES
      # @param cool_down_s [Numeric]
      # @param forecast [#call, nil] of (threads_count, counts): see Forecaster
      # @param journal [AutomaticJournal]
      # @param clock [#call]
      def initialize(server, mode:, cool_down_s:, forecast: nil, journal: AutomaticJournal.new(nil),
        clock: Clock.method(:now_s))
        @server = server
        @journal = journal
        @mode = mode
        @cool_down_s = cool_down_s
        @forecast = forecast || Forecaster.new(server, window_s: [cool_down_s / 2.0, ServerForecast::WINDOW_S].min)
        @clock = clock
        @refused = {}
        @served_count = 0
        @lock = Mutex.new
      end

      # @return [Integer] threads that all processes have now
      attr_reader :threads_count

      # @return [Array(Integer, Integer), nil] least and most threads that the server's own puma.rb gives each process
      attr_reader :configured

      # @param duration_s [Numeric, nil] nil: until it is interrupted
      # @yieldparam told [Told]
      # @return [void]
      # @raise [UsageError] where the server does not allow it
      def call(duration_s: nil, &tell)
        begin_with(@server.ready_states)
        @began_s = @clock.call
        @server.hold do
          @journal.begin(mode: @mode, cool_down_s: @cool_down_s, started_at: Time.now.utc.iso8601,
            server_pid: @server.leader_pid)
          keeper = Thread.new { keep }
          while @server.there? && (duration_s.nil? || passed_s < duration_s)
            @alive_s = @clock.call
            round(&tell)
          end
        ensure
          keeper&.kill&.join
        end
      end

      private

      def passed_s = @clock.call - @began_s

      def begin_with(states)
        if @mode == :auto && !states.all? { |state| state[:automatic] }
          raise UsageError, "the server #{@server.leader_pid} does not allow that; start it with " \
            "`PumaTuner.run(tune: 1..8)`, or with PUMA_TUNER_TUNE=1..8 and `plugin :puma_tuner`"
        end
        @configured = states.first[:configured]
        @threads_count = @configured.last
        @pids = states.map { |state| state[:pid] }
        @step_s = @direction = nil
        @least = states.first[:least]
        @most = [states.first[:most], *states.filter_map { |one| one[:connections_count] }].min
      end

      # The same number for all, whatever process comes; none where it is what is configured.
      def keep
        loop do
          @lock.synchronize { @server.order(order) } if @clock.call - @alive_s.to_f < STILL_S
          sleep(ORDER_S)
        end
      rescue MeasurementFailed
        nil # the server has ended
      end

      def order
        return {} if @threads_count == @configured.last
        @server.pids.to_h { |pid| [pid, @threads_count] }
      end

      def round
        found = @forecast.call(@threads_count, (@least..@most).to_a)
        states = @server.ready_states
        if (@pids & states.map { |state| state[:pid] }).empty?
          begin_with(states)
          return yield(told(Statement.of(:restarted)))
        end
        @pids = states.map { |state| state[:pid] }
        situation = situation(found, states)
        decision = Step.of(situation, cool_down_s: @cool_down_s)
        decision = act(decision) if decision.kind == :step && @mode != :observe
        yield(told(decision, situation))
      rescue UsageError
        raise if @server.there? && !replacing?
        sleep(ORDER_S)
      end

      def told(statement, situation = nil)
        Told.new(at_s: passed_s, statement:, threads_count: @threads_count, situation:)
          .tap { |told| @journal.told(told) }
      end

      # Processes are there that have not begun to tell, as in a restart.
      def replacing? = @server.youngest_s < @cool_down_s

      def situation(found, states)
        @served_count += found.fetch(:requests_count)
        Situation.new(at_s: passed_s, threads_count: @threads_count, least: @least, most: @most,
          youngest_s: @server.youngest_s, step_s: @step_s, direction: @direction, served_count: @served_count,
          refused: @refused.dup, **found)
      end

      # @param step [Statement]
      # @return [Statement] what came of it
      def act(step)
        to = step.facts.fetch("to")
        ended = tried(to)
        raise Interrupt if ended&.kind == :interrupted
        if ended
          @refused[to] = passed_s + Step::REFUSED_RESTS * @cool_down_s unless Outcome::NO_FAULT.include?(ended.kind)
          return Statement.of(:undone, to:, ended:)
        end
        if @mode == :trial
          @refused[to] = passed_s + Step::REFUSED_RESTS * @cool_down_s
          return Statement.of(:tried, to:, ratio: step.facts["ratio"], metric: step.facts["metric"])
        end
        @direction = to <=> @threads_count
        @threads_count, @step_s, @served_count = to, passed_s, 0
        Statement.of(:stepped, to:, ratio: step.facts["ratio"], metric: step.facts["metric"])
      end

      # One worker has the new number for a cool-down, its fellows the present one; one process alone has each for half
      # of it.
      #
      # @return [Statement, nil] what harm it did
      def tried(to)
        periods_count = @pids.one? ? 2 : 1
        plan = Plan.new(threads_count: to, configured: [@threads_count, @threads_count], pids: @pids, periods_count:,
          period_s: @cool_down_s.fdiv(periods_count), settle_s: [Plan::SETTLE_S, @cool_down_s / 6.0].min,
          memory_limit_bytes: @server.memory_limit_bytes)
        base = (@threads_count == @configured.last) ? {} : @pids.to_h { |pid| [pid, @threads_count] }
        @journal.plan(plan)
        # Nobody else orders meanwhile.
        @lock.synchronize { Run.new(@server, plan, journal: @journal, clock: @clock).watch(base:) }
      ensure
        @alive_s = @clock.call
      end
    end

    # Records a server for a while, and forecasts its present traffic at other numbers of threads.
    class Forecaster
      # @param server [Server]
      # @param window_s [Numeric]
      def initialize(server, window_s:)
        @server = server
        @window_s = window_s
      end

      # @param threads_count [Integer] that processes have now
      # @param counts [Array<Integer>] to forecast
      # @return [Hash{Symbol => Object}] metric, ratios, requests_count and why_not, see Situation
      def call(threads_count, counts)
        observation = recorded(threads_count)
        traced_count = observation.endpoints.sum { |endpoint| endpoint.traces.size }
        if traced_count < ServerForecast::LEAST_REQUESTS_COUNT
          return none("few_requests", observation.requests_count)
        end
        ratios(observation, counts)
      rescue InvalidMeasurement
        none("few_requests", 0)
      end

      private

      def none(why_not, requests_count) = {metric: "p99", ratios: {}, requests_count:, why_not:}

      # Of what is served from now on.
      def recorded(threads_count)
        @server.ledgers.begin_window
        since = Probe::Snapshot::Moment.now(@server.read_ledgers)
        sleep(@window_s)
        machine = Probe::MachineFacts.read(@server.leader_pid)
        observation = Probe::Snapshot.of(@server.read_ledgers, machine:, since:)
        workers_count = observation.topology&.workers_count || 1
        observation.with(topology: Topology.from(workers_count, threads_count), min_threads_count: threads_count)
      end

      def ratios(observation, counts)
        workload = Model::WorkloadFit.workload(observation)
        sweep = sweep(workload, observation, counts)
        unless sweep.at(sweep.today).steady?
          workload = workload.with(arrivals: Model::WorkloadFit.waiting(observation))
          sweep = sweep(workload, observation, counts)
        end
        metric = workload.arrivals.open? ? "p99" : "throughput"
        return none("not_reproduced", observation.requests_count) unless sweep.trusted?
        {metric:, ratios: costs(sweep, observation, metric), requests_count: observation.requests_count, why_not: nil}
      end

      def sweep(workload, observation, counts)
        machine = Model::MachineFit.machine(observation, calibrated: Calibrate::Lookup.new.call(observation)&.machine)
        sweeper = Predict::Sweeper.new(workload:, machine:, seed: 1,
          seeds_count: ServerForecast::SEEDS_COUNT, requests_count: ServerForecast::REQUESTS_COUNT)
        topologies = counts.map { |count| Topology.from(workload.observed_topology.workers_count, count) }
        sweeper.call(topologies.map { |topology| Predict::Scenario.of(topology, workload.arrivals) })
      end

      # @return [Hash{Integer => Stats::Estimate}] without the present number; what has no steady state is no choice
      def costs(sweep, observation, metric)
        today = sweep.at(sweep.today)
        return {} unless today.steady?
        others = sweep.forecasts.select { |one| one.steady? && one.topology != observation.topology }
        others.to_h do |one|
          ratio = (metric == "p99") ? sweep.ratio(one, today, :p99_ns) : sweep.ratio(today, one, :throughput_per_s)
          [one.topology.threads_count, ratio]
        end
      end
    end
  end
end
