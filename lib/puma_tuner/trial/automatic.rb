# frozen_string_literal: true

require "time"

module PumaTuner
  module Trial
    # Forecasts a running server at other numbers of threads again and again, and does what Step decides: says it
    # (:observe), tries it on one worker and undoes it (:trial), or keeps to it where it does no harm (:auto). Each step
    # is tried on one worker for a cool-down before all have it, and when they do they are watched for another one.
    #
    # A process that comes has what is configured. Where it came alone, in the place of one that was killed, it gets the
    # number in force when it is a cool-down old; where more are new it is another server, and all begins anew.
    class Automatic
      MODES = %i[observe trial auto].freeze

      # An order is given again this often, also while forecasts are made, unless this process has stood still for so
      # long that nobody looks at the server any more.
      ORDER_S = 1
      STILL_S = 60

      # Of a core, for forecasts: more than those of `top` may take, as these are acted upon, and would be too late.
      FORECASTS_RATIO = 0.02

      # What happened. kind: of the Statement's words; threads_count: afterwards
      Told = Data.define(:at_s, :statement, :threads_count, :situation)

      # A step that all processes made. from, to: threads; measured: fact of an Estimate, the p99 of the worker that
      # tried it over its fellows', nil of too few looks; before: Array<WorkerReading>, what those did; previous: Given,
      # nil of the first
      Given = Data.define(:from, :to, :measured, :before, :previous)

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
        @lock = Mutex.new
      end

      # @return [Integer] threads that all processes have now
      attr_reader :threads_count

      # @return [Array(Integer, Integer), nil] least and most threads that the server's own puma.rb gives each process
      attr_reader :configured

      # @return [Given, nil] the step by which they have these; nil before any
      attr_reader :given

      # @param duration_s [Numeric, nil] nil: until it is interrupted
      # @yieldparam told [Told]
      # @return [void]
      # @raise [UsageError] where the server does not allow it
      # @raise [MeasurementFailed] where its processes can't be given an order any more
      def call(duration_s: nil, &tell)
        begin_with(@server.fresh_states)
        @began_s = @alive_s = @clock.call
        @server.hold do
          @journal.begin(mode: @mode, cool_down_s: @cool_down_s, started_at: Time.now.utc.iso8601,
            server_pid: @server.leader_pid)
          keeper = Thread.new { keep }
          while @server.there? && (duration_s.nil? || passed_s < duration_s)
            rest(round(&tell), duration_s)
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
        @lock.synchronize do
          @configured = states.first[:configured]
          @threads_count = @configured.last
          @pids = pids_of(states)
        end
        @given = @step_s = @direction = nil
        @refused = {}
        @served_count = 0
        @least = states.first[:least]
        @most = most(states)
      end

      # An app may have its connections only once it serves.
      def most(states) = [states.first[:most], *states.filter_map { |one| one[:connections_count] }].min

      def pids_of(states) = states.map { |state| state[:pid] }

      # The same number for all that are not new; none where it is what is configured. What can't be written once is
      # tried again, until it has expired.
      def keep
        while @server.there?
          begin
            @lock.synchronize { @server.order(order) } if @clock.call - @alive_s < STILL_S
            @failed = nil
          rescue MeasurementFailed => error
            @failed ||= [@clock.call, error]
          end
          sleep(ORDER_S)
        end
      end

      # @raise [MeasurementFailed] where processes have been without an order for so long that they obey none
      def ensure_kept
        since_s, error = @failed
        raise error if since_s && @server.there? && @clock.call - since_s > Server::LEASE_S
      end

      def order = (@threads_count == @configured.last) ? {} : @pids.to_h { |pid| [pid, @threads_count] }

      # Forecasts take a share of a core, and so the next one has to wait.
      def rest(seconds, duration_s)
        until_s = @clock.call + seconds
        while (left_s = until_s - (@alive_s = @clock.call)).positive?
          break if !@server.there? || (duration_s && passed_s >= duration_s)
          ensure_kept
          sleep([ORDER_S, left_s].min)
        end
      end

      # @return [Float] seconds until the next one
      def round(&)
        @alive_s = began_s = @clock.call
        @most = most(@server.ready_states) # while a process boots, a forecast would be for nothing
        @silent_s = nil
        found = @forecast.call(@threads_count, (@least..@most).to_a) { @alive_s = @clock.call }
        ensure_kept
        states = @server.ready_states
        return 0.0 if restarted?(states, &)
        situation = situation(found.except(:cpu_s), states)
        decision = Step.of(situation, cool_down_s: @cool_down_s)
        decision = act(decision) if decision.kind == :step && @mode != :observe
        yield(told(decision, situation))
        watch(&) if decision.kind == :stepped
        ServerForecast.rest_s(found.fetch(:cpu_s), @clock.call - began_s, most_ratio: FORECASTS_RATIO)
      rescue UsageError => error
        raise if @server.there? && !replacing? && !error.is_a?(Server::Silent)
        wait(&)
        ORDER_S
      end

      # Said once, of what may last.
      def wait
        @silent_s ||= @clock.call
        return unless (seconds = @clock.call - @silent_s) > @cool_down_s
        @silent_s = Float::INFINITY # and so for no longer
        yield(told(Statement.of(:silent, seconds:)))
      end

      # @return [Boolean] whether it is another server now: with more than one new process, or configured otherwise
      def restarted?(states)
        come = pids_of(states) - @pids
        if come.size > 1 || (@pids & pids_of(states)).empty? || states.any? { |one| one[:configured] != @configured }
          begin_with(states)
          yield(told(Statement.of(:restarted, come: come.size, all: states.size)))
          return true
        end
        @lock.synchronize { @pids = pids_of(states) } if come.empty? || !replacing?
        false
      end

      def told(statement, situation = nil)
        Told.new(at_s: passed_s, statement:, threads_count: @threads_count, situation:)
          .tap { |told| @journal.told(told) }
      end

      # Processes are there that are new, as in a restart.
      def replacing? = @server.youngest_s < @cool_down_s

      def situation(found, states)
        @served_count += found.fetch(:requests_count)
        limit_bytes = @server.memory_limit_bytes
        Situation.new(at_s: passed_s, threads_count: @threads_count, least: @least, most: @most,
          youngest_s: @server.youngest_s, step_s: @step_s, direction: @direction, served_count: @served_count,
          workers_count: states.size, memory_limit_bytes: limit_bytes,
          memory_bytes: (@server.all_memory_bytes(pids_of(states)) if limit_bytes), refused: @refused.dup, **found)
      end

      # @param step [Statement]
      # @return [Statement] what came of it
      def act(step)
        to = step.facts.fetch("to")
        plan = trial_plan(to)
        ended, readings = run(plan, base: order)
        outcome = Step.outcome(step, mode: @mode, plan:, readings:, ended:)
        if outcome.kind == :stepped
          @direction = to <=> @threads_count
          @given = Given.new(from: @threads_count, to:, measured: outcome.facts["measured"],
            before: Decision.baseline(plan, readings), previous: @given)
          stand_at(to)
        else
          refuse(to, outcome)
        end
        outcome
      end

      # One worker has the new number for a cool-down, its fellows the present one; one process alone has each for half
      # of it.
      def trial_plan(to)
        periods_count = @pids.one? ? 2 : 1
        Plan.new(threads_count: to, configured: [@threads_count, @threads_count], periods_count:,
          period_s: @cool_down_s.fdiv(periods_count), **plan_facts)
      end

      def plan_facts
        {pids: @pids, settle_s: [Plan::SETTLE_S, @cool_down_s / 6.0].min,
         memory_limit_bytes: @server.memory_limit_bytes}
      end

      # What one worker bears not all may: they share a database, and the cores. They are watched for a cool-down beside
      # what the fellows of the first one did. Whatever ends that takes the number back, as it is not known then.
      def watch
        plan = Plan.of_all(@threads_count, period_s: @cool_down_s, **plan_facts)
        ended, readings = run(plan, base: order, before: @given.before)
        @served_count += readings.sum { |reading| reading.workers.sum(&:requests_count) }
        outcome = Step.watched(plan, ended)
        if ended
          refuse(@threads_count, outcome)
          stand_at(@given.from)
          @given = @given.previous
        end
        yield(told(outcome))
      end

      # All have this number from the next order on.
      def stand_at(threads_count)
        @lock.synchronize { @threads_count = threads_count }
        @step_s = passed_s
        @served_count = 0
      end

      # Where it was no fault of the number's it may be tried again at once.
      def refuse(threads_count, outcome)
        kind = outcome.facts.dig("ended", "kind")
        return if kind && Outcome::NO_FAULT.include?(kind.to_sym)
        @refused[threads_count] = passed_s + Step::REFUSED_RESTS * @cool_down_s
      end

      # @param plan [Plan]
      # @param base [Hash{Integer => Integer}] see Run#watch
      # @return [Array(Statement, Array<Reading>)] why it ended before its time, or nil, and what was seen
      def run(plan, base:, before: nil)
        @journal.plan(plan)
        run = Run.new(@server, plan, journal: @journal, clock: @clock)
        # Nobody else orders meanwhile, and orders that could not be written before have come through since.
        ended = @lock.synchronize { run.watch(base:, before:).tap { @failed = nil } }
        raise Interrupt if ended&.kind == :interrupted
        [ended, run.readings]
      ensure
        @alive_s = @clock.call
      end
    end

    # Records a server for a while, and forecasts its present traffic at other numbers of threads.
    #
    # It is computed in a process of its own with the lowest priority: the server comes first, and who gives orders has
    # not to wait for it.
    #
    # What was forecast for a number is held against what is served with it after the step: these errors are this app's
    # own, and make the next intervals shorter or longer, as those of `tune` do (see Predict::Uncertainty).
    class Forecaster
      # Between two words that it is still at work.
      WAIT_S = 1

      # Simulated for a throughput: it is a mean, which needs fewer requests than a p99, and so it takes half the time
      # where requests have many steps.
      THROUGHPUT_REQUESTS_COUNT = ServerForecast::REQUESTS_COUNT / 4

      # So many of the newest steps.
      CHECKS_COUNT = 10

      # Within so much more or less, as many clients wait as did when it was forecast. A judgement.
      ALIKE_RATIO = 1.1

      # What clients who wait would be served. threads_count: that processes had; pids: of these; per_s: {threads =>
      #   requests/s}
      Expected = Data.define(:threads_count, :clients_count, :pids, :per_s)
      private_constant :Expected

      # @param server [Server]
      # @param window_s [Numeric]
      def initialize(server, window_s:)
        @server = server
        @window_s = window_s
        @errors = []
      end

      # @param threads_count [Integer] that processes have now
      # @param counts [Array<Integer>] to forecast
      # @yield each second while it is computed, which takes long on a server that leaves no core free
      # @return [Hash{Symbol => Object}] metric, ratios, requests_count and why_not, see Situation; cpu_s that it took
      def call(threads_count, counts, &waiting)
        @waiting = waiting
        began_s = thread_cpu_s
        @beside_s = 0.0
        found = forecast(threads_count, counts)
        {**found, cpu_s: thread_cpu_s - began_s + @beside_s}
      end

      private

      def thread_cpu_s = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID)

      def forecast(threads_count, counts)
        observation = recorded(threads_count)
        traced_count = observation.endpoints.sum { |endpoint| endpoint.traces.size }
        if traced_count < ServerForecast::LEAST_REQUESTS_COUNT
          return none("few_requests", observation.requests_count)
        end
        check(threads_count, observation)
        found, @expected = beside { ratios(ServerForecast.thinned(observation), counts) }
        found || none("killed", observation.requests_count)
      rescue InvalidMeasurement
        none("few_requests", 0)
      end

      # Of another number of threads in the same processes, under as much load as when it was forecast.
      def check(threads_count, observation)
        return if @expected.nil? || @expected.threads_count == threads_count || @expected.pids != pids_of(observation)
        per_s = @expected.per_s[threads_count] or return
        more = clients_count(observation).fdiv(@expected.clients_count)
        return unless more.between?(1 / ALIKE_RATIO, ALIKE_RATIO)
        @errors = [*@errors, Math.log(observation.throughput_per_s / per_s)].last(CHECKS_COUNT)
      end

      # @return [Hash, nil] see Predict::TrackRecord.error
      def past_error
        Predict::TrackRecord.error("throughput" => @errors) if @errors.any?
      end

      def pids_of(observation) = observation.processes.map(&:pid).sort

      def clients_count(observation) = Model::WorkloadFit.waiting(observation).connections_count

      # @yieldreturn [Object] that can be marshalled
      # @return [Object, nil] the block's, which another process has run; nil when that was killed
      # @raise [InvalidMeasurement, UsageError] what it raised
      def beside
        began_s = Clock.now_s
        reader, writer = IO.pipe(binmode: true)
        pid = fork { answer(writer) { yield } }
        writer.close
        @waiting&.call until reader.wait_readable(WAIT_S)
        text = reader.read
        # That process tells its own CPU time: what this one has waited for has that of others, too. Of one that was
        # killed it was no more than this.
        @beside_s = Clock.now_s - began_s
        found, @beside_s = Marshal.load(text) unless text.empty?
        raise found if found.is_a?(Exception)
        found
      ensure
        [reader, writer].each { |io| io&.close }
        Process.kill(:KILL, pid) && Process.wait(pid) if pid
      end

      # Nothing of the command's own runs at the end of this process.
      def answer(writer)
        trap(:INT, "IGNORE")
        @server.close_lock
        Process.setproctitle("puma_tuner auto, forecasts of #{@server.leader_pid}")
        Process.setpriority(Process::PRIO_PROCESS, 0, ServerForecast::NICEST)
        found = begin
          yield
        rescue => error
          error
        end
        writer.write(Marshal.dump([found, Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)]))
        writer.close
      ensure
        exit!(0)
      end

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

      # Where it does not reproduce what is recorded, intervals are wider by as much: what is surely better all the same
      # is tried on one worker before it is kept. They are not wider by a deadlock.
      #
      # @return [Array(Hash, Expected)] as #call returns it, but for the CPU time; nil in the place of the second where
      #   clients have a rate of their own
      def ratios(observation, counts)
        workload = Model::WorkloadFit.workload(observation)
        sweep = sweep(workload, observation, counts)
        unless sweep.at(sweep.today).steady?
          workload = workload.with(arrivals: Model::WorkloadFit.waiting(observation))
          sweep = sweep(workload, observation, counts)
        end
        if !sweep.at(sweep.today).steady? || sweep.self_check&.deadlock?
          return [none("no_steady_state", observation.requests_count), nil]
        end
        metric = workload.arrivals.open? ? "p99" : "throughput"
        [{metric:, ratios: costs(sweep, observation, metric), requests_count: observation.requests_count, why_not: nil},
          (expected(sweep, observation) if metric == "throughput")]
      end

      def expected(sweep, observation)
        steady = sweep.forecasts.select(&:steady?)
        per_s = steady.to_h { |one| [one.topology.threads_count, one.throughput_per_s.value] }
        Expected.new(threads_count: sweep.today.threads_count, clients_count: clients_count(observation),
          pids: pids_of(observation), per_s:)
      end

      def sweep(workload, observation, counts)
        requests_count = workload.arrivals.open? ? ServerForecast::REQUESTS_COUNT : THROUGHPUT_REQUESTS_COUNT
        topologies = counts.map { |count| Topology.from(workload.observed_topology.workers_count, count) }
        ServerForecast.sweeper(workload, observation, requests_count:, past_error:)
          .call(topologies.map { |topology| Predict::Scenario.as_recorded(workload, topology) })
      end

      # @return [Hash{Integer => Stats::Estimate}] without the present number; what has no steady state is no choice
      def costs(sweep, observation, metric)
        today = sweep.at(sweep.today)
        others = sweep.forecasts.select { |one| one.steady? && one.topology != observation.topology }
        others.to_h do |one|
          ratio = (metric == "p99") ? sweep.ratio(one, today, :p99_ns) : sweep.ratio(today, one, :throughput_per_s)
          [one.topology.threads_count, ratio]
        end
      end
    end
  end
end
