# frozen_string_literal: true

module PumaTuner
  module CLI
    # What to change.
    class Commands::Advise < Command
      desc "Recommend changes, with their predicted effect, their cost, and how to undo them"
      argument :observation, "file written by `puma_tuner measure`"
      argument :companions, "recordings of the same app at other settings", required: false, many: true
      options :verbose, :threads, :workers, :max_p99, :what_if, :station, :seed,
        output: {usual: "advice.json in the app's tmp/puma_tuner"},
        max_memory: {usual: "the container's memory limit, where there is one"},
        seeds: Predict::Sweeper::DEFAULT_SEEDS_COUNT.to_s,
        simulated_requests: Predict::Sweeper::DEFAULT_REQUESTS_COUNT.to_s
      renamed requests: :simulated_requests
      example ["tmp/puma_tuner/observation.json --max-memory 2048"]

      def call(observation:, output:, **options)
        output = Results.path(output, "advice.json", err:, recorded: observation)
        Output.check_writable(output)
        forecast = Options::Forecast.from({observation:, **options})
        app = forecast.app(->(text) { err.puts("puma_tuner: #{text}") })
        scenarios = Scenarios.new(app.workload)
          .of(Options::Grid.from(options).topologies(app.usual_workers), [app.workload.arrivals])
        sweeper = forecast.sweeper(app)
        constraints = Options::Constraints.from(options).constraints.inside(app.facts)
        sweep = progress.sweep(sweeper, scenarios)
        Output.keep(Advise::Advisor.new(constraints).call(app.workload, sweep, sweeper:, observation: app.observation),
          output, **telling)
      end
    end
  end
end
