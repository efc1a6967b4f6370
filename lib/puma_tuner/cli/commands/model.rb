# frozen_string_literal: true

module PumaTuner
  module CLI
    # Tells what the app demands, independent of the settings it was recorded with.
    class Commands::Model < Command
      desc "Turn an observation into a workload: the app's service demand, whatever its settings"
      argument :observation, "file written by `puma_tuner measure` or `tune`"
      options output: {usual: "workload.json in the app's tmp/puma_tuner"}

      def call(observation:, output:)
        output = Results.path(output, "workload.json", err:, recorded: observation)
        Output.check_writable(output)
        workload = RecordedApp.recording(observation) { |recorded| Model::WorkloadFit.workload(recorded) }
        Output.write(workload, **telling, path: output)
      end
    end
  end
end
