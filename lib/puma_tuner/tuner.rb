# frozen_string_literal: true

module PumaTuner
  # The whole arrow on one app: measure -> model -> predict -> advise -> prove.
  class Tuner
    # What to do. Durations in seconds; topologies: the grid to predict; checked_topologies: cells to measure besides
    # today's and the recommended one; rounds_count 0 leaves the proof out; calibrate: whether the machine is measured when it
    # has not been; track_record: a Predict::TrackRecord, of how forecasts did.
    Plan = Data.define(:command, :traffic, :topologies, :today, :checked_topologies, :constraints, :warmup_s, :duration_s,
      :rounds_count, :trial_duration_s, :boot_limit_s, :seed, :repeat_with, :calibrate, :track_record)

    # @param plan [Plan]
    # @param progress [#stage] see CLI::Progress
    # @param kept [#call] told of each value as soon as there is one, so that an interruption loses nothing
    def initialize(plan, progress:, kept: ->(_) {})
      @plan = plan
      @progress = progress
      @kept = kept
      @remarks = []
    end

    # @return [Tuning]
    def call
      observation = keep(measure)
      workload = Model::Fit.workload(observation)
      machine = Model::Fit.machine(observation, calibrated: calibrated(observation))
      @app_key = Predict::TrackRecord.app_key(observation.command, workload.endpoints.map(&:name))
      sweep = keep(predict(workload, machine, observation.topology))
      advice_list = keep(Advise::Advisor.new(@plan.constraints).call(workload, sweep))
      verdict = prove(sweep, advice_list)
      remember(verdict, sweep, machine) if verdict
      Tuning.new(command: @plan.repeat_with, recorded_at: observation.started_at, observation:, machine:, workload:, sweep:,
        advice_list:, verdict:)
    end

    private

    def keep(value) = value.tap { @kept.call(value) }

    def measure
      window = Measure::LoadedWindow.new(command: @plan.command, traffic: @plan.traffic, topology: @plan.today,
        warmup_s: @plan.warmup_s, duration_s: @plan.duration_s, boot_limit_s: @plan.boot_limit_s)
      @progress.stage("measure today's settings", window.expected_s) { window.call }
    end

    # @return [Model::Machine, nil] measured earlier, or now
    def calibrated(observation)
      found = Calibrate::Lookup.new.call(observation)
      return found.machine if found
      return unless @plan.calibrate
      machine = @progress.stage("calibrate", Calibrate::EXPECTED_S) { Calibrate.call { |remark| @remarks << "while calibrating: #{remark}" } }
      keep_calibration(machine)
      machine
    rescue UserMistake => mistake
      @remarks << "calibrating: #{mistake.message}"
      nil
    end

    def keep_calibration(machine)
      Calibrate::Store.new.write(machine)
    rescue UserMistake => mistake
      @remarks << mistake.message
    end

    def predict(workload, machine, today)
      sweeper = Predict::Sweeper.new(workload:, machine:, seed: @plan.seed, past_error: @plan.track_record.past_error(@app_key),
        remarks: [*@remarks, *Predict::Limits.of(workload, machine)])
      scenarios = (@plan.topologies | @plan.checked_topologies | [today]).map { |topology| Predict::Scenario.of(topology, workload.arrivals) }
      @progress.stage("predict", nil) { |stage| sweeper.call(scenarios) { |done, total| stage.done(done, total) } }
    end

    # What was forecast and has now been measured tells how good this app's next forecasts are. The same topology twice, for the
    # noise floor, is one check.
    def remember(verdict, sweep, machine)
      checks = verdict.cells.select(&:topology).uniq(&:topology).flat_map do |cell|
        forecast = sweep.at(cell.topology)
        forecast ? Predict::Check.all(forecast, cell.estimates) : []
      end
      @plan.track_record.add(@app_key, checks, machine_key: machine.calibrated&.machine_key)
    end

    def prove(sweep, advice_list)
      return if @plan.rounds_count.zero?
      variants = variants_of(sweep, advice_list)
      proof = Prove::Proof.new(proof_plan(variants), trial_runner: trial_runner(variants))
      @progress.stage("prove", proof.expected_s) { |stage| proof.call { |what| stage.note(what) } }
    end

    # Few metrics besides the primary one, as each makes it harder for the others to be shown.
    METRICS = %w[throughput p50 p99 cpu_per_request gvl_wait_per_request pss].freeze
    TURNS_COUNT = 6
    private_constant :METRICS, :TURNS_COUNT

    # The same app at other settings answers the same, whatever its pages look like.
    def proof_plan(variants)
      load = Prove::TrialLoad.new(generator: @plan.traffic.generator_name, connections_count: @plan.traffic.connections_count,
        arrivals: @plan.traffic.arrivals.to_s, duration_ns: (@plan.trial_duration_s * Units::NS_PER_S).round)
      Prove::Proof::Plan.new(variants:, metrics: Prove::Metric::SERVED.select { |metric| METRICS.include?(metric.name) }, looks: Prove::Looks.fixed(@plan.rounds_count), seed: @plan.seed, load:, command: @plan.repeat_with,
        bodies_may_differ: true)
    end

    def trial_runner(variants)
      times = Prove::TrialRunner::Times.new(warmup_window_s: @plan.warmup_s / Prove::WarmupRun::WINDOWS_COUNT, warmup_limit_s: @plan.warmup_s * 3,
        duration_s: @plan.trial_duration_s, turns_count: TURNS_COUNT, probe_s: 1, boot_limit_s: @plan.boot_limit_s)
      # Nothing is checked out or installed for topologies.
      preparation = Prove::Preparation.new(variants:, command: @plan.command, folder: nil)
      # A disturbed round is better than none, at the end of all this: it is remarked on.
      Prove::TrialRunner.new(preparation:, traffic: @plan.traffic, times:, probe: Measure::LateWindow, busy_machine: true)
    end

    # Today's and the recommended topology; the same one twice tells the noise floor when nothing better was found.
    def variants_of(sweep, advice_list)
      recommended = advice_list.recommendation&.topology || sweep.today
      named = [["today", sweep.today], [(recommended == sweep.today) ? "today again" : "recommended", recommended]]
      named += (@plan.checked_topologies - [sweep.today, recommended]).map { |topology| [topology.to_s, topology] }
      named.map { |name, topology| Prove::Variant.new(name:, factors: {"topology" => topology.to_s}, forecast: sweep.at(topology)) }
    end
  end
end
