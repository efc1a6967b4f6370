# frozen_string_literal: true

module PumaTuner
  module CLI
    # Predicts what other settings, loads or changes to the app would do, without running them.
    class Commands::Predict < Command
      desc "Predict the effect of other settings, loads, or changes to the app, from recordings of it"
      argument :observation, "file written by `puma_tuner measure` or `tune`"
      argument :companions, "recordings of the same app at other settings", required: false, many: true
      options :verbose, :threads, :workers, :html, :what_if, :station, :min_threads, :io_threads, :timeslice, :affinity,
        :queue_requests, :capacity, :slo, :memory, :db_connections, :cores, :percentiles, :seed,
        rate: {type: :rates, takes: "RATE,…", usual: "the recording's load"},
        connections: {type: :counts, takes: "N,…"}, think: {usual: "as recorded"},
        arrivals: {default: nil, usual: "poisson",
                   about: "of an open loop: poisson, even, bursty:N or replay:FILE (one time in seconds per line)"},
        at: {about: "load such as 120/s: of how many machines it is, beside --capacity", usual: nil},
        output: {usual: "sweep.json in the app's tmp/puma_tuner"}, seeds: Predict::Sweeper::DEFAULT_SEEDS_COUNT.to_s,
        simulated_requests: Predict::Sweeper::DEFAULT_REQUESTS_COUNT.to_s
      renamed requests: :simulated_requests
      example [
        "tmp/puma_tuner/observation.json --workers 1..4 --threads 1..16",
        "today.json one_thread.json --threads 1..16",
        "tmp/puma_tuner/observation.json --rate 50,100,200 --timeslice 100,10",
        "tmp/puma_tuner/observation.json --what-if \"cpu(/articles)*0.7\" --what-if traffic*2",
        "tmp/puma_tuner/observation.json --capacity --slo \"99% < 200ms\" --at 500/s"
      ]

      def call(observation:, output:, html:, capacity:, percentiles:, **options)
        output = Results.path(output, "sweep.json", err:, recorded: observation)
        Output.check_writable(output, html)
        wanted = Options::Goals.from(options)
        ensure_search(wanted, capacity)
        if capacity
          options[:simulated_requests] = [options[:simulated_requests], Predict::CapacitySearch::REQUESTS_COUNT].max
        end
        # Somebody may have changed a recording since it was made.
        sweep = Document.fitting(observation, *options[:companions]) do
          forecast = Options::Forecast.from({observation:, **options})
          app = forecast.app(beware, what_if: wanted.what_if)
          loads = loads_of(app, options)
          sweeper = forecast.sweeper(app, percentiles: percentile_names(percentiles), goals: wanted.slo)
          scenarios = Scenarios.new(app.workload, **options.slice(*Scenarios::OPTIONS))
            .of(Options::Grid.from(options).topologies(app.usual_workers), capacity ? [loads.to_search] : loads.to_a)
          capacity ? capacity_sweep(sweeper, scenarios, wanted) : progress.sweep(sweeper, scenarios)
        end
        Output.write(sweep, **telling, path: output, html:)
      end

      private

      def ensure_search(wanted, capacity)
        return if capacity
        given = {"--slo \"#{wanted.slo.first}\"" => wanted.slo.first, "--at" => wanted.at, "--memory" => wanted.memory,
                 "--db-connections" => wanted.db_connections}.compact.keys.first or return
        raise UsageError, "#{given}: that is for a search; add --capacity"
      end

      def loads_of(app, options)
        loads = Loads.new(app.workload, **options.slice(*Loads::OPTIONS))
        if loads.said? && app.what_if.load?
          raise UsageError, "the load is set twice, by --what-if and by --rate, --connections, --arrivals or " \
            "--think; leave one out"
        end
        loads
      end

      def percentile_names(numbers)
        option = "--percentiles #{numbers.join(",")}" if numbers
        numbers.to_a.map { |number| Parse.percentile(option, number.strip.delete_prefix("p")) }.uniq
      end

      # The limits themselves, as a sweep: each is a scenario like any other.
      def capacity_sweep(sweeper, settings, wanted)
        found = affordable(capacities(sweeper, settings, wanted), wanted.constraints.with(goals: []))
        progress.sweep(sweeper, found.filter_map(&:scenario)).with(capacities: found.freeze)
      end

      # Several machines share the database; memory is of each.
      def affordable(found, limits)
        kept, left_out = found.partition do |one|
          one.forecast.nil? || limits.of_each(one.machines_count || 1).affords?(one.forecast)
        end
        return kept if left_out.empty?
        raise UsageError, "nothing is known to keep to #{limits}; predict other --workers or --threads" if kept.empty?
        err.puts("puma_tuner: left out, as not known to keep to #{limits}: #{left_out.map(&:setting).join(", ")}")
        kept
      end

      def capacities(sweeper, settings, wanted)
        search = Predict::CapacitySearch.new(goals: wanted.slo, forecaster: sweeper.method(:forecast),
          asked_per_s: wanted.at)
        progress.stage("search the capacity", nil) do |stage|
          settings.each.with_index(1).map do |setting, number|
            search.call(setting).tap { stage.done(number, settings.size) }
          end
        end
      end
    end
  end
end
