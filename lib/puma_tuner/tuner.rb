# frozen_string_literal: true

module PumaTuner
  # The whole arrow on one app: measure -> model -> predict -> advise -> prove.
  class Tuner
    # The plan of a tuning. Durations in seconds; topologies: the grid to predict; settings: topologies to record
    # besides today's, nil: those that tell most; checked_topologies: cells to measure besides today's and the
    # recommended one; rounds_count 0 leaves the proof out, nil: as many as can show something of all settings;
    # calibrate: whether the machine is measured when it has not been; track_record: a Predict::TrackRecord, of how
    # forecasts did; time_limit_s: for all of it, nil: as long as it takes; locks: whether they are watched while it is
    # recorded; arrivals: Model::Arrivals that goals are about and the proof sends, nil: the recording's; proof_record:
    # an Advise::ProofRecord, of what proofs of advice showed, nil: nothing is known or kept; forget: whether these are
    # forgotten first; what_if: Predict::WhatIf, of the machine that is advised for, nil: this one. Of another one
    # nothing is proven. allowed: what may differ between the servers of the proof, see Prove::DeclarationCheck;
    # simulated_requests: how many in each simulation.
    Plan = Data.define(:command, :traffic, :topologies, :today, :settings, :checked_topologies, :constraints, :warmup_s,
      :duration_s, :rounds_count, :trial_duration_s, :boot_limit_s, :seed, :repeat_with, :calibrate, :track_record,
      :time_limit_s, :locks, :arrivals, :proof_record, :forget, :what_if, :allowed, :simulated_requests) do
      def initialize(locks: true, arrivals: nil, proof_record: nil, forget: false, what_if: nil, allowed: [],
        simulated_requests: Predict::Sweeper::DEFAULT_REQUESTS_COUNT, **fields)
        super
      end
    end

    # Recording, at all settings, may take this share of the time that is given.
    MEASURED_RATIO = 0.35

    # Forecasts are planned to take no more than this share of it: the fewest rounds that can show anything of two
    # settings take over half of two minutes.
    PREDICTED_RATIO = 0.1

    # Calibrating must leave this many times as much for all the rest.
    CALIBRATED_SHARE = 4

    # The warm-up of a trial may take so many times as long as the one before the measurement: until YJIT has compiled
    # most of a Rails app.
    WARMUP_LIMIT_FACTOR = 5

    # A shorter time is too short for any proof.
    PROOF_LEAST_S = 10

    TURNS_COUNT = 6
    private_constant :TURNS_COUNT

    # @param warmup_s [Numeric] the least, in seconds
    # @param duration_s [Numeric] of the load that counts
    # @param boot_limit_s [Numeric]
    # @return [Prove::TrialRunner::Times] of a proof of settings
    def self.trial_times(warmup_s:, duration_s:, boot_limit_s:)
      Prove::TrialRunner::Times.new(
        warmup_window_s: warmup_s / Load::WarmupRun::WINDOWS_COUNT, warmup_limit_s: warmup_s * WARMUP_LIMIT_FACTOR,
        duration_s:, turns_count: TURNS_COUNT, probe_s: 1, boot_limit_s:
      )
    end

    # @param plan [Plan]
    # @param progress [#stage] see CLI::Progress
    # @param kept [#call] told of the observation, and of the Tuning as far as it is known, as soon as there is one: an
    #   interruption loses nothing, and nobody waits minutes for what is known after seconds
    def initialize(plan, progress:, kept: ->(_) {})
      @plan = plan
      @progress = progress
      @kept = kept
      @remarks = []
      @output = []
    end

    # @return [Array<String>] the last lines that the app has printed, where it made the proof fail
    attr_reader :output

    # @return [Tuning] with what the proof told until it ended, whatever ended it
    def call
      Predict::Engine.ensure_available # before minutes of measuring
      @clock = Prove::TimeLimit::Clock.new(@plan.time_limit_s) if @plan.time_limit_s
      observation = measure
      recorded = Model::WorkloadFit.workload(observation)
      @as_recorded = [recorded, Model::MachineFit.machine(observation, calibrated: calibrated(observation))].freeze
      workload, machine = @plan.what_if ? @plan.what_if.apply(*@as_recorded) : @as_recorded
      @elsewhere = machine != @as_recorded.last
      @endpoint_names = recorded.endpoints.map(&:name)
      @app_key = Predict::TrackRecord.app_key(observation, @endpoint_names)
      sweep, advice_list = advise(workload, machine, observation)
      tuning = keep(Tuning.new(command: @plan.repeat_with, recorded_at: observation.started_at, observation:, machine:,
        workload:, sweep:, advice_list:, verdict: nil, unproven: Unknown.of(:proof, :not_begun)))
      prove(tuning)
    end

    private

    def keep(value) = value.tap { @kept.call(value) }

    def measure
      plan = Measure::Recordings::Plan.new(command: @plan.command, traffic: @plan.traffic, today: @plan.today,
        settings: @plan.settings, workers: @plan.topologies.map(&:workers_count).uniq,
        times: Measure::LoadedWindow::Times.new(warmup_s: @plan.warmup_s, duration_s: @plan.duration_s),
        boot_limit_s: @plan.boot_limit_s, limit_s: @clock && @clock.left_s * MEASURED_RATIO, locks: @plan.locks)
      recordings = Measure::Recordings.new(plan, kept: @kept)
      @progress.stage("measure", nil) { |stage| recordings.call { |what, left_s| stage.note(what, left_s) } }
    end

    # @return [Model::Machine, nil] measured earlier, or now, as one that others disturbed is measured again
    def calibrated(observation)
      looked_up = Calibrate::Lookup.new.call(observation)
      @remarks << looked_up.remark if looked_up&.remark
      found = looked_up&.machine
      return found if !@plan.calibrate || (found && !found.calibrated&.disturbed?)
      if @clock&.short?(Calibrate::EXPECTED_S * CALIBRATED_SHARE)
        @remarks << "the machine was not calibrated, for want of time"
        return found
      end
      machine = @progress.stage("calibrate", Calibrate::EXPECTED_S) do
        Calibrate.call(ruby: @plan.command.ruby) { |remark| @remarks << "while calibrating: #{remark}" }
      end
      [found, machine].compact.min_by { |one| one.calibrated&.taken_ratio.to_f }.tap { |best| keep_calibration(best) }
    rescue UsageError, MeasurementFailed => error
      @remarks << "calibrating: #{error.kept}"
      found
    end

    def keep_calibration(machine)
      Calibrate::Store.new.write(machine)
    rescue UsageError => error
      @remarks << error.message
    end

    # @return [Array(Predict::Sweep, Advise::AdviceList)]
    def advise(workload, machine, observation)
      constraints = @plan.constraints.inside(observation.machine, elsewhere: @elsewhere)
      sweeper = sweeper(workload, machine, constraints.goals)
      arrivals = @plan.arrivals || workload.arrivals
      experience = Advise::Experience.new(known, today: observation.topology, arrivals:)
      topologies = experience.topologies(@plan.topologies) | @plan.checked_topologies | [observation.topology]
      scenarios = topologies.map { |topology| Predict::Scenario.as_recorded(workload, topology, arrivals) }
      sweep, list = Advise.call(workload, sweeper, scenarios, constraints, observation:) do |wanted|
        @progress.stage("predict", nil) { |stage| sweeper.call(wanted) { |done, total| stage.done(done, total) } }
      end
      [sweep, experience.apply(list)]
    end

    # @return [Array<Advise::Measured>]
    def known
      return [] unless @plan.proof_record
      @plan.proof_record.forget(@app_key) if @plan.forget
      @plan.proof_record.of(@app_key)
    end

    def sweeper(workload, machine, goals)
      requests_count = simulated_requests_count(workload, machine, goals)
      Predict::Sweeper.new(workload:, machine:, seed: @plan.seed, requests_count:, goals:,
        past_error: @plan.track_record.past_error(@app_key), what_if: @plan.what_if.to_a,
        remarks: [*@remarks, *@plan.what_if&.remarks], limits: Predict::Limits.of(workload, machine),
        as_recorded: @as_recorded)
    end

    # No requests are left out with goals, or at a rate, as near the limit queues take long to show that they grow; nor
    # where there is no proof that needs the time.
    #
    # @return [Integer] in each simulation
    def simulated_requests_count(workload, machine, goals)
      wanted_count = @plan.simulated_requests
      return [wanted_count, Predict::CapacitySearch::REQUESTS_COUNT].max if goals.any?
      unproven = @plan.rounds_count&.zero? || @elsewhere
      return wanted_count if @plan.time_limit_s.nil? || unproven || (@plan.arrivals || workload.arrivals).open?
      settings = @plan.topologies | @plan.checked_topologies | [workload.observed_topology]
      count = Predict::Sweeper.requests_within(@plan.time_limit_s * PREDICTED_RATIO, workload, settings.size,
        wanted_count, cores_count: machine.usable_cores)
      if count < wanted_count
        @remarks << "to fit into the time limit, each simulation counts #{Units.counted(count, "request")} instead " \
          "of #{wanted_count}, so that chance makes the intervals of forecasts wider"
      end
      count
    end

    # A forecast that has now been measured tells how good this app's next forecasts are. The same topology twice, for
    # the noise floor, is one check. Where others had the machine, or rounds are missing, it tells of them, and not of
    # the forecast, as it does where the pool had more places than in the forecast. Of the advice it tells nothing where
    # the pool had fewer than are advised.
    def remember(verdict, sweep, observation, machine, advised = nil)
      return unless verdict.quiet? && !observation.load&.disturbed?
      as_forecast = verdict.cells.select { |cell| cell.topology && !Advise::PoolVariable.given?(cell.factors) }
      checks = as_forecast.uniq(&:topology).flat_map do |cell|
        forecast = sweep.at(cell.topology)
        forecast ? Predict::Check.all(forecast, cell.estimates) : []
      end
      app = {endpoint_names: @endpoint_names.to_a}
      @plan.track_record.add(@app_key, checks, machine_key: machine.calibrated&.machine_key, **app)
      recommended = verdict.cells.find { |cell| cell.variant == "recommended" }
      return unless recommended && advised && @plan.proof_record && !advised.starved(recommended.factors)
      measured = AdviceProof.measured(advised, verdict, "recommended", metric: verdict.primary,
        today: sweep.at(sweep.today))
      @plan.proof_record.add(@app_key, [measured].compact, **app)
    end

    # @return [Tuning]
    def prove(tuning)
      return tuning.with(unproven: nil) if @plan.rounds_count&.zero?
      return tuning.with(unproven: Unknown.of(:proof, :other_machine)) if @elsewhere
      setup = setup(variants_of(tuning.sweep, tuning.advice_list), tuning.sweep, tuning.advice_list.constraints)
      if @clock&.short?(PROOF_LEAST_S)
        return tuning.with(unproven: Unknown.of(:proof, :no_time_for_proof, left_s: [@clock.left_s, 0].max,
          wanted_s: setup.proof(time_limit_s: nil).expected_s))
      end
      proof = setup.proof
      proven(tuning, @progress.stage("prove", nil) { |stage| proof.call { |what, left_s| stage.note(what, left_s) } })
    rescue UsageError, MeasurementFailed => error
      @output = error.output
      tuning.with(unproven: Unknown.of(:proof, :failed, detail: error.kept))
    rescue Interrupt
      keep(proven(tuning, proof&.verdict))
      raise
    end

    def proven(tuning, verdict)
      return tuning.with(unproven: Unknown.of(:proof, :interrupted)) unless verdict
      remember(verdict, tuning.sweep, tuning.observation, tuning.machine, tuning.advice_list.recommendation)
      tuning.with(verdict:, advice_list: by_proof(tuning, verdict), unproven: nil)
    end

    # Settings are chosen by these; where an open loop has too few requests for a p99, a p50 says nothing of it.
    CHOSEN_BY = %w[throughput p99].freeze
    private_constant :CHOSEN_BY

    # @return [Advise::AdviceList] with what the rounds showed to be better in the place of what was recommended
    def by_proof(tuning, verdict)
      list = tuning.advice_list
      former = list.advice.find { |advice| advice.rule == "topology" }
      better = CHOSEN_BY.include?(verdict.primary) ? better_topologies(verdict, tuning.sweep.today) : []
      return list if former.nil? || better.empty?
      situation = Advise::Situation.new(tuning.workload, tuning.sweep, constraints: list.constraints,
        observation: tuning.observation)
      advice = Advise::Rules::Topology.new(situation).by_proof(better,
        former: verdict.cells.find { |cell| cell.variant == "recommended" }&.topology,
        former_better: !gain(verdict, "recommended").nil?) or return list
      list.with(advice: list.advice.map { |one| one.equal?(former) ? advice : one }.freeze)
    end

    # Of settings that are as good as the best, that with the fewest slots comes first, as among forecasts.
    #
    # @return [Array<Topology>] what the rounds showed to be better than today's and, where that is better itself, than
    #   the recommended one
    def better_topologies(verdict, today)
      others = verdict.other_cells.reject { |cell| cell.variant == "recommended" || cell.topology == today }
      gains = others.select { |cell| surpasses?(verdict, cell.variant) }
        .to_h { |cell| [cell.topology, gain(verdict, cell.variant)] }.compact
      gains.keys.sort_by do |topology|
        as_good = gains[topology] * (1 + verdict.equivalent_ratio) >= gains.values.max
        [*(as_good ? [0, topology.slots_count] : [1]), -gains[topology]]
      end
    end

    # @return [Float, nil] by what factor a variant is better than today's by the middle; nil where that was not shown
    def gain(verdict, variant)
      comparison = verdict.comparison(variant, verdict.primary)
      [comparison.ratio.value, 1 / comparison.ratio.value].max if comparison&.outcome == :better
    end

    # What takes the place of a recommended setting that is better than today's must be better than both. It is held
    # against both at the level that all variants share (Bonferroni), so that any of them takes it by mistake no more
    # often than 5 times in 100. What is surely better, but within what counts as equal, does not.
    #
    # @return [Boolean] whether a variant is better than the recommended one, or that was not shown to be better itself
    def surpasses?(verdict, variant)
      return true unless gain(verdict, "recommended")
      ratio = verdict.ratio(verdict.primary, of: variant, over: "recommended", level_ratio: verdict.level_ratio) or
        return false
      more_is_better = verdict.metrics.find { |metric| metric.name == verdict.primary }.more_is_better
      Prove::Outcome.of(ratio, more_is_better:, equivalent_ratio: verdict.equivalent_ratio) == :better &&
        (ratio.value - 1).abs > verdict.equivalent_ratio
    end

    # Few metrics besides the primary one, as each makes it harder for the others to be shown.
    METRICS = %w[throughput p50 p99 cpu_per_request gvl_wait_per_request pss].freeze
    private_constant :METRICS

    # The same app at other settings answers the same, whatever its pages look like; and nothing is checked out or
    # installed for it.
    def setup(variants, sweep, constraints)
      Prove::Setup.served(variants, preparation: Prove::Preparation.new(variants:, command: @plan.command, folder: nil),
        traffic: traffic(sweep), times: trial_times(variants, sweep, constraints),
        looks: @plan.rounds_count ? Prove::Looks.fixed(@plan.rounds_count) : Prove::Looks.usual(variants.size - 1),
        spare: spare(variants),
        metrics: Prove::Metric::SERVED.select { |metric| METRICS.include?(metric.name) },
        bodies_may_differ: true, allowed: @plan.allowed, primary: primary(sweep), expectations: expectations(variants),
        time_limit_s: @clock&.left_s, seed: @plan.seed, command: @plan.repeat_with)
    end

    # The proof sends what was forecast: of a rate that goals are about, one machine's share.
    def traffic(sweep)
      return @plan.traffic unless @plan.arrivals
      arrivals = sweep.at(sweep.today).scenario.arrivals
      @plan.traffic.with(arrivals: Load::Arrivals.open(arrivals.rate_per_s, reuse: @plan.traffic.arrivals.reuse),
        connections_count: arrivals.connections_count)
    end

    # In an open loop the throughput is the load's own rate, and the latency decides: the percentile of the first goal,
    # where a trial has enough requests for it.
    def primary(sweep)
      return "throughput" unless @plan.arrivals
      Prove::Metric.of_open_loop(traffic(sweep).arrivals, @plan.trial_duration_s,
        measured_goals.first&.percentile || "p99")
    end

    # @return [Array<Goal>] those that rounds measure: a load does not see which endpoint a request is of
    def measured_goals = @plan.constraints.goals.reject(&:endpoint)

    # @return [Array<Prove::Variant>] likely settings that nobody asked for, the likeliest first
    def spare(variants)
      likely = variants.select { |variant| variant.name == variant.topology.to_s }
      likely.reject { |variant| @plan.checked_topologies.include?(variant.topology) }
    end

    # What is recommended to meet goals, or is the likeliest to, is to be seen to meet those that rounds measure.
    def expectations(variants)
      advised = variants.find { |variant| variant.name == "recommended" } || variants[1]
      Prove::Expectations.parse(measured_goals.map { |goal| "#{advised.name}: #{goal}" })
    end

    # Servers that do not fit beside each other run one at a time.
    def trial_times(variants, sweep, constraints)
      times = Tuner.trial_times(warmup_s: @plan.warmup_s, duration_s: @plan.trial_duration_s,
        boot_limit_s: @plan.boot_limit_s)
      bytes = variants.sum { |variant| sweep.at(variant.topology)&.memory_bytes.to_i }
      (constraints.unasked? && bytes > constraints.max_memory_bytes) ? times.with(turns_count: 1) : times
    end

    # Today's and what is proposed, and what else is to be measured; today's
    # twice tells the noise floor when nothing is.
    def variants_of(sweep, advice_list)
      proposed = proposed(sweep, advice_list)
      proposed = [["today again", sweep.today]] if proposed.empty?
      others = @plan.checked_topologies - [sweep.today, *proposed.map(&:last)]
      named = [["today", sweep.today], *proposed, *others.map { |topology| [topology.to_s, topology] }]
      named.map do |name, topology|
        places = (name == "recommended") ? Advise::PoolVariable.factors(advice_list.recommendation, @plan.command) : {}
        # Forecasts are of the pool as it is.
        Prove::Variant.new(name:, factors: {"topology" => topology.to_s, **places},
          forecast: (sweep.at(topology) if places.empty?))
      end
    end

    # Where the model does not reproduce its recordings the likeliest settings are measured beside what is recommended,
    # if anything is.
    #
    # @return [Array<Array(String, Topology)>] by the variant's name
    def proposed(sweep, advice_list)
      recommended = advice_list.recommendation&.topology
      named = (recommended && recommended != sweep.today) ? [["recommended", recommended]] : []
      return named if sweep.trusted?
      candidates = Advise::Choice.new(sweep, advice_list.constraints).candidates.map(&:topology) - [recommended]
      named + candidates.map { |topology| [topology.to_s, topology] }
    end
  end
end
