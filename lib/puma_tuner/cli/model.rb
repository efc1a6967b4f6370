# frozen_string_literal: true

module PumaTuner
  module CLI
    # puma_tuner model: what the app demands, independent of the settings it was recorded with.
    class Model < Dry::CLI::Command
      desc "Turn an observation into a workload: what the app demands, whatever its settings"
      argument :observation, required: true, desc: "file written by `puma_tuner measure`"
      option :output, desc: "file for the workload, default: workload.json in the app's tmp/puma_tuner"

      def call(observation:, output: nil, **)
        output = Results.path(output, "workload.json", err:, recorded: observation)
        Output.check_writable(output)
        workload = PumaTuner::Model::WorkloadFit.workload(Document.read(observation, :observation))
        Output.keep(workload, output, out:, err:)
      end
    end
  end
end
