# frozen_string_literal: true

module PumaTuner
  module CLI
    # puma_tuner advise: what to change.
    class Advise < Dry::CLI::Command
      include GridOptions
      include ConstraintOptions
      include ForecastOptions

      desc "Say what to change, what it will bring, what it costs, and how to undo it"
      option :output, desc: "file for the advice, default: advice.json in the app's tmp/puma_tuner"

      def call(observation:, companions: [], output: nil, **options)
        output = Results.path(output, "advice.json", err:, recorded: observation)
        Output.check_writable(output)
        app = app_of(observation, *companions, **options)
        scenarios = Scenarios.new(app.workload).of(topologies_of(app.usual_workers, **options), [app.workload.arrivals])
        sweeper = sweeper_of(app, **options)
        advice_list = PumaTuner::Advise::Advisor.new(constraints_of(**options).inside(app.facts)).call(app.workload, sweep_of(sweeper, scenarios))
        Output.keep(advice_list, output, out:, err:)
      end
    end
  end
end
