# frozen_string_literal: true

module PumaTuner
  module Labs
    # What the predictor says of Puma under one of the rungs: recorded once as the ladder has it, simulated with other workers
    # and threads, and chosen as `puma_tuner advise` does.
    class CspAdvised
      WORKERS = 1..Etc.nprocessors
      THREADS = 1..5

      # @param commands [Lab::ServedCommands]
      # @param traffic [CspTraffic]
      # @param run [Lab::Run]
      def initialize(commands, traffic, run)
        @commands = commands
        @traffic = traffic
        @run = run
      end

      # @param variant [Prove::Variant]
      # @param warmup_s [Numeric]
      # @param record_s [Numeric]
      # @return [Predict::Sweep]
      # @raise [InvalidMeasurement] when the recording must not count
      def sweep(variant, warmup_s:, record_s:)
        observation = record(variant, warmup_s, record_s)
        workload = Model::WorkloadFit.workload(observation)
        scenarios = WORKERS.to_a.product(THREADS.to_a).map { |workers, threads| Predict::Scenario.of(Topology.from(workers, threads), workload.arrivals) }
        Predict::Sweeper.new(workload:, machine: machine(observation), seed: @run.seed).call(scenarios)
      end

      # @param sweep [Predict::Sweep]
      # @return [Predict::Forecast] of what it advises
      def self.choice(sweep) = Advise::Choice.new(sweep, Advise::Constraints.new).forecast

      private

      def record(variant, warmup_s, record_s)
        ready = @commands.call(variant)
        Measure::LoadedWindow.new(command: ready.command, traffic: @traffic, topology: ready.topology, warmup_s:, duration_s: record_s,
          boot_limit_s: Lab::ServedCommands::BOOT_LIMIT_S).call
      end

      # As `puma_tuner calibrate` has kept it, or measured now.
      def machine(observation)
        kept = Calibrate::Store.new.of(observation)
        @run.note("calibrating the machine") unless kept
        Model::MachineFit.machine(observation, calibrated: kept || Calibrate.call)
      end
    end
  end
end
