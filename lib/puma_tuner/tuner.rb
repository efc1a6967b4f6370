# frozen_string_literal: true

module PumaTuner
  # The whole arrow on one app: measure -> model -> predict -> advise -> prove.
  class Tuner
    # What to do. Durations in seconds; topologies: the grid to predict; checked_topologies: cells to measure besides
    # today's and the recommended one; rounds_count 0 leaves the proof out.
    Plan = Data.define(:command, :traffic, :topologies, :today, :checked_topologies, :constraints, :warmup_s, :duration_s,
      :rounds_count, :trial_duration_s, :boot_limit_s, :seed, :repeat_with)

    # @param plan [Plan]
    # @param progress [#stage] see CLI::Progress
    # @param kept [#call] told of each value as soon as there is one, so that an interruption loses nothing
    def initialize(plan, progress:, kept: ->(_) {})
      @plan = plan
      @progress = progress
      @kept = kept
    end

    # @return [Tuning]
    def call
      observation = keep(measure)
      workload = Model::Fit.workload(observation)
      machine = Model::Fit.machine(observation)
      sweep = keep(predict(workload, machine, observation.topology))
      advice_list = keep(Advise::Advisor.new(@plan.constraints).call(workload, sweep))
      verdict = prove(sweep, advice_list)
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

    def predict(workload, machine, today)
      sweeper = Predict::Sweeper.new(workload:, machine:, seed: @plan.seed)
      @progress.stage("predict", nil) do |stage|
        sweeper.call(@plan.topologies | @plan.checked_topologies | [today]) { |done, total| stage.done(done, total) }
      end
    end

    def prove(sweep, advice_list)
      return if @plan.rounds_count.zero?
      proof = Prove::Proof.new(variants: variants_of(sweep, advice_list), command: @plan.command, traffic: @plan.traffic,
        rounds_count: @plan.rounds_count, warmup_s: @plan.warmup_s, duration_s: @plan.trial_duration_s,
        boot_limit_s: @plan.boot_limit_s, seed: @plan.seed)
      @progress.stage("prove", proof.expected_s) { |stage| proof.call { |what| stage.note(what) } }
    end

    # Today's and the recommended topology; the same one twice tells the noise floor when nothing better was found.
    def variants_of(sweep, advice_list)
      recommended = advice_list.recommendation.topology
      named = [["today", sweep.today], [(recommended == sweep.today) ? "today again" : "recommended", recommended]]
      named += (@plan.checked_topologies - [sweep.today, recommended]).map { |topology| [topology.to_s, topology] }
      named.map { |name, topology| Prove::Variant.new(name:, topology:, forecast: sweep.at(topology)) }
    end
  end
end
