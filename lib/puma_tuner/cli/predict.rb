# frozen_string_literal: true

module PumaTuner
  module CLI
    # puma_tuner predict: what other topologies would do, without running them.
    class Predict < Dry::CLI::Command
      include GridOptions

      desc "Say what other numbers of workers and threads would do, from one observation"
      argument :observation, required: true, desc: "file written by `puma_tuner measure`"
      option :output, default: "sweep.json", desc: "file for the sweep"
      option :seed, default: "1", desc: "of all that is left to chance"

      def call(observation:, output:, **options)
        Output.check_writable(output)
        _, sweep = sweep_of(observation, **options)
        Output.keep(sweep, output, out:, err:)
      end
    end
  end
end
