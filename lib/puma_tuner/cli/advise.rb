# frozen_string_literal: true

module PumaTuner
  module CLI
    # puma_tuner advise: what to change.
    class Advise < Dry::CLI::Command
      include GridOptions

      desc "Say what to change, what it will bring, what it costs, and how to undo it"
      argument :observation, required: true, desc: "file written by `puma_tuner measure`"
      option :output, default: "advice.json", desc: "file for the advice"
      option :seed, default: "1", desc: "of all that is left to chance"

      def call(observation:, output:, **options)
        Output.check_writable(output)
        advice_list = PumaTuner::Advise::Advisor.new(constraints_of(**options)).call(*sweep_of(observation, **options))
        Output.keep(advice_list, output, out:, err:)
      end
    end
  end
end
