# frozen_string_literal: true

module PumaTuner
  module CLI
    # Says what to change.
    class Commands::Advise < Command
      desc "Recommend changes, with their predicted effect, their cost, and how to undo them"
      argument :observation, "file written by `puma_tuner measure`"
      argument :companions, "recordings of the same app at other settings", required: false, many: true
      options :verbose, :threads, :workers, :what_if, :station, :seed, :slo, :at, :cores, :db_connections,
        output: {usual: "advice.json in the app's tmp/puma_tuner"},
        memory: {usual: "the container's memory limit, where there is one"},
        seeds: Predict::Sweeper::DEFAULT_SEEDS_COUNT.to_s,
        simulated_requests: Predict::Sweeper::DEFAULT_REQUESTS_COUNT.to_s
      renamed requests: :simulated_requests
      example [
        "tmp/puma_tuner/observation.json --memory 2GiB",
        "tmp/puma_tuner/observation.json --slo \"90% < 300ms\" --at 120/s --db-connections 20"
      ]

      def call(observation:, output:, **options)
        output = Results.path(output, "advice.json", err:, recorded: observation)
        Output.check_writable(output)
        wanted = Options::Goals.from(options)
        forecast = Options::Forecast.from({observation:, **options})
        app = forecast.app(->(text) { err.puts("puma_tuner: #{text}") }, what_if: wanted.what_if)
        sweeper = forecast.sweeper(app, goals: wanted.slo)
        constraints = wanted.constraints.inside(app.facts)
        _, list = Advise.call(app.workload, sweeper, scenarios(app, options, wanted), constraints,
          observation: app.observation) { |scenarios| progress.sweep(sweeper, scenarios) }
        Output.keep(list, output, **telling)
      end

      private

      # Today's among them, also under another load than the recording's.
      def scenarios(app, options, wanted)
        topologies = Options::Grid.from(options).topologies(app.usual_workers) | [app.workload.observed_topology]
        Scenarios.new(app.workload).of(topologies, [wanted.arrivals(app.workload.arrivals)])
      end
    end
  end
end
