# frozen_string_literal: true

module PumaTuner
  # What a running server's own processes record for a while, forecast at other settings, in a process beside it that
  # Probe::Forecasting starts: the same forecasts and the same choice as `puma_tuner measure` and `puma_tuner advise`
  # would make of it. What was before is left out: an hour without traffic would make the rate too low, and what it took
  # to boot is no request's.
  class ServerForecast
    # Enough to choose settings by, and little for a machine that serves meanwhile: a tenth of what `advise` simulates.
    SEEDS_COUNT = 5
    REQUESTS_COUNT = 1_000
    THREADS = 1..8

    # Of so many that were recorded step by step, one or two are beyond the p99.
    LEAST_REQUESTS_COUNT = 100

    # Steps of all recorded requests that forecasts are made of: what it takes to prepare them grows with their number,
    # and this many take a second of CPU time. A judgement; and of no endpoint less than so many requests.
    STEPS_MAX = 15_000
    TRACES_MIN = 10

    # So long it is recorded, and longer where there are few requests.
    WINDOW_S = 10
    WINDOW_MAX_S = 60
    LOOK_S = 2

    NICEST = 19

    # Of a core, for forecasts that are made again and again: what takes longer is made less often.
    MOST_RATIO = 0.005

    # @param cpu_s [Float] that a forecast took
    # @param passed_s [Float] since its window began
    # @param most_ratio [Float] of a core, for all of them
    # @return [Float] seconds until the next one, however long, so that they take no more
    def self.rest_s(cpu_s, passed_s, most_ratio: MOST_RATIO) = (cpu_s / most_ratio - passed_s).clamp(0.0, nil)

    # @param observation [Probe::Observation]
    # @return [Probe::Observation] where it has many more steps than that, with every second of an endpoint's recorded
    #   requests, or every tenth
    def self.thinned(observation)
      steps_count = observation.endpoints.sum { |endpoint| endpoint.traces.sum { |trace| trace.steps.size / 2 } }
      return observation if steps_count <= STEPS_MAX
      traces_count = observation.endpoints.sum { |endpoint| endpoint.traces.size }
      ratio = [STEPS_MAX.fdiv(steps_count), LEAST_REQUESTS_COUNT.fdiv(traces_count)].max.clamp(..1)
      endpoints = observation.endpoints.map do |endpoint|
        size = endpoint.traces.size
        count = (size * ratio).ceil.clamp([TRACES_MIN, size].min, size)
        endpoint.with(traces: Array.new(count) { |index| endpoint.traces[index * size / count] }.freeze)
      end
      observation.with(endpoints: endpoints.freeze)
    end

    # @param workload [Model::Workload] of the observation
    # @param observation [Probe::Observation]
    # @param past_error [Hash, nil] see Predict::TrackRecord.error
    # @return [Predict::Sweeper]
    def self.sweeper(workload, observation, requests_count: REQUESTS_COUNT, past_error: nil)
      Predict::Engine.ensure_available
      machine = Model::MachineFit.machine(observation, calibrated: Calibrate::Lookup.new.call(observation)&.machine)
      Predict::Sweeper.new(workload:, machine:, seed: 1, seeds_count: SEEDS_COUNT, requests_count:, past_error:)
    end

    # @param leader_pid [Integer]
    # @param leader [String] Probe::Processes.identity of the process that leads the server
    # @param directory [String] of its ledgers
    def initialize(leader_pid:, leader:, directory:)
      @leader_pid = leader_pid
      @leader = leader
      @directory = directory
    end

    # Leaves a Probe::Recommendation beside the ledgers.
    # @return [void]
    def call
      Probe::Sidecar.settle("forecast", nicer: NICEST, leader_pid: @leader_pid, leader: @leader)
      recommendation = recommendation { recent }
      recommendation.write(@directory)
      return if recommendation.why_not == "few_requests"
      $stdout.puts(Probe::Supervisor::DONE)
      $stdout.flush
    end

    # @yieldreturn [Probe::Observation] of the server
    # @return [Probe::Recommendation]
    def recommendation
      observation = yield
      if observation.why_no_extension
        return none("failed", detail: observation.why_no_extension, requests_count: observation.requests_count)
      end
      requests_count = observation.endpoints.sum { |endpoint| endpoint.traces.size }
      return none("few_requests", requests_count:) if requests_count < LEAST_REQUESTS_COUNT
      advised(self.class.thinned(observation), requests_count)
    rescue InvalidMeasurement, UsageError => error
      none("failed", detail: error.message, requests_count: requests_count.to_i)
    end

    private

    # @return [Probe::Observation] of what is served from now on
    def recent
      ledgers = Probe::Ledgers.new(@directory)
      ledgers.begin_window
      since = Probe::Snapshot::Moment.now(ledgers.read)
      raise InvalidMeasurement, "no process of the server is recorded" if since.ledgers.empty?
      sleep(WINDOW_S)
      sleep(LOOK_S) until Clock.now_ns - since.at_ns > WINDOW_MAX_S * Units::NS_PER_S || enough?(since, ledgers)
      Probe::Snapshot.of(ledgers.read, machine: Probe::MachineFacts.read(@leader_pid), since:)
    end

    def enough?(since, ledgers)
      endpoints = Probe::Account.new(since.ledgers, ledgers.read).endpoints
      endpoints.sum { |endpoint| endpoint.traces.size } >= LEAST_REQUESTS_COUNT
    end

    def none(why_not, **) = Probe::Recommendation.none(why_not, **)

    def advised(observation, requests_count)
      workload = Model::WorkloadFit.workload(observation)
      remember(workload)
      sweep, list = advise(observation, workload)
      recommended = list.recommendation
      return none(why_none(list), requests_count:) unless recommended
      metric = workload.arrivals.open? ? "p99" : "throughput"
      ratio = recommended.public_send(:"#{metric}_ratio") unless recommended.topology == sweep.today
      Probe::Recommendation.new(topology: recommended.topology.to_s, today: sweep.today.to_s, metric:,
        ratio: ratio && [ratio.value, ratio.low, ratio.high], requests_count:, why_not: nil, detail: nil,
        made_at_s: Time.now.to_f, withheld: list.withheld.filter_map(&:topology).map(&:to_s))
    end

    # What the advice says instead of a setting.
    WHY_NONE = {pool_before_threads: "pool", no_topology: "no_steady_state"}.freeze
    private_constant :WHY_NONE

    def why_none(list)
      title = list.advice.find { |advice| advice.rule == "topology" }&.title
      WHY_NONE.fetch(title&.kind, "not_reproduced")
    end

    # What is known of the app from proofs on this machine, by this user: it is read, and never written from here. A
    # server knows no command that it would be known by. Its line could not tell what was worse under another load, so
    # proofs under any load count.
    def remember(workload)
      counts = workload.endpoints.to_h { |endpoint| [endpoint.name, endpoint.requests_count] }
      records = {say: ->(_) {}, read_only: true}
      @past_error = Predict::TrackRecord.new(**records).past_error_by_endpoints(counts)
      @measured = Advise::ProofRecord.new(**records).by_endpoints(counts)
    rescue ArgumentError, KeyError, TypeError, NoMethodError # a user without a home, or somebody else's file
      @past_error, @measured = nil, []
    end

    # @return [Array(Predict::Sweep, Advise::AdviceList)]
    def advise(observation, workload)
      sweeper = self.class.sweeper(workload, observation, past_error: @past_error)
      experience = Advise::Experience.new(@measured, today: observation.topology)
      topologies = experience.topologies(topologies(observation)) | [observation.topology]
      scenarios = topologies.map { |topology| Predict::Scenario.as_recorded(workload, topology) }
      constraints = Advise::Constraints.new.inside(observation.machine)
      sweep, list = Advise.call(workload, sweeper, scenarios, constraints, observation:) do |wanted|
        sweeper.call(wanted)
      end
      [sweep, experience.apply(list)]
    end

    def topologies(observation)
      cores = [observation.machine.cores_count, observation.machine.cpu_quota_cores&.ceil].compact.min
      (1..cores.clamp(1..)).to_a.product(THREADS.to_a).map { |pair| Topology.from(*pair) } | [observation.topology]
    end
  end
end
