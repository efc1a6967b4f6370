# frozen_string_literal: true

module PumaTuner
  module CLI
    # puma_tuner predict: what other settings, loads or changes to the app would do, without running them.
    class Predict < Dry::CLI::Command
      include GridOptions
      include ForecastOptions

      desc "Say what other settings, loads, or changes to the app would do, from recordings of it"
      option :rate, desc: "requests per second of open loops to predict, such as 50,100,200"
      option :connections, desc: "clients of closed loops to predict, such as 10,50; with --rate: the most that may be open"
      option :arrivals, desc: "of the open loops: poisson, even, bursty:N or replay:FILE (one time in seconds per line); default: poisson"
      option :think, desc: "seconds that each client of a closed loop waits before its next request"
      option :timeslice, desc: "milliseconds of a thread's time slice to predict (RUBY_THREAD_TIMESLICE), such as 100,10"
      option :io_threads, desc: "Puma's max_io_threads to predict, such as 0,2"
      option :affinity, type: :boolean, default: false, desc: "predict workers that are each bound to a core (`prove --variant bound:affinity=on` measures it)"
      option :queue_requests, type: :boolean, default: true, desc: "--no-queue-requests: predict Puma without its reactor (queue_requests false), where every answer closes its connection"
      option :min_threads, desc: "Puma's minimum of threads, default: as many as --threads"
      option :capacity, type: :flag, default: false, desc: "find the highest rate at which all --max-p hold; the most connections, with --connections"
      option :max_p, desc: "milliseconds a percentile may take, with --capacity: --max-p99 200, --max-p50 80, --max-p99.9 500, any other; several must all hold"
      option :percentiles, desc: "percentiles of the latency to tell, such as 50,95,99.9"
      option :output, desc: "file for the sweep, default: sweep.json in the app's tmp/puma_tuner"
      option :html, desc: "file for an HTML report"
      example [
        "tmp/puma_tuner/observation.json --workers 1..4 --threads 1..16",
        "today.json one_thread.json --threads 1..16",
        "tmp/puma_tuner/observation.json --rate 50,100,200 --timeslice 100,10",
        "tmp/puma_tuner/observation.json --what-if \"cpu(/articles)*0.7\" --what-if traffic*2",
        "tmp/puma_tuner/observation.json --capacity --max-p99 200"
      ]

      # Near the limit queues take long to show that they grow.
      CAPACITY_REQUESTS_COUNT = 10_000

      def call(observation:, companions: [], output: nil, html: nil, capacity: false, **options)
        output = Results.path(output, "sweep.json", err:, recorded: observation)
        Output.check_writable(output, html)
        goal = goal_of(**options)
        raise UserMistake, "#{goal.percentiles.map { |name| "--max-#{name}" }.join(" and ")}: the goal of a search; add --capacity" if goal.latency? && !capacity
        options[:requests] = [requests_count(**options), CAPACITY_REQUESTS_COUNT].max.to_s if capacity
        percentiles = percentiles_of(**options) | goal.percentiles
        app = app_of(observation, *companions, **options)
        loads = loads_of(app, **options)
        sweeper = sweeper_of(app, **options, percentiles:)
        scenarios = Scenarios.new(app.workload, **options).of(topologies_of(app.usual_workers, **options), capacity ? [loads.to_search] : loads.to_a)
        sweep = capacity ? capacity_sweep(sweeper, scenarios, goal) : sweep_of(sweeper, scenarios)
        Output.keep(sweep, output, out:, err:, html:)
      end

      private

      def loads_of(app, **options)
        loads = Loads.new(app.workload, **options)
        raise UserMistake, "--what-if says what load there is, and so do --rate, --connections, --arrivals or --think; leave one out" if loads.said? && app.what_if.load?
        loads
      end

      # Each `--max-pNN VALUE` arrives as a line "NN=VALUE" (see CLI.with_percentile_goals).
      def goal_of(max_p: nil, **)
        limits = max_p.to_s.split("\n").to_h do |line|
          number, milliseconds = line.split("=", 2)
          name = Parse.percentile("--max-p#{number}", number)
          [name, Parse.milliseconds("--max-#{name}", milliseconds.to_s)]
        end
        PumaTuner::Predict::Goal.new(max_ns: limits)
      end

      def percentiles_of(percentiles: nil, **)
        percentiles.to_s.split(",").map { |number| Parse.percentile("--percentiles #{percentiles}", number.strip.delete_prefix("p")) }.uniq
      end

      # The limits themselves, as a sweep: each is a scenario like any other.
      def capacity_sweep(sweeper, settings, goal)
        text = CapacityText.new(capacities(sweeper, settings, goal), settings)
        out.puts(text.to_s)
        sweep = sweep_of(sweeper, text.limits)
        sweep.with(remarks: [*text.sentences, *sweep.remarks].freeze)
      end

      def capacities(sweeper, settings, goal)
        search = PumaTuner::Predict::CapacitySearch.new(goal:, forecaster: sweeper.method(:forecast))
        Progress.new(err).stage("search the capacity", nil) do |stage|
          settings.each.with_index(1).map { |setting, number| search.call(setting).tap { stage.done(number, settings.size) } }
        end
      end
    end
  end
end
