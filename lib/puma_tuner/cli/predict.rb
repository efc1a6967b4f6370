# frozen_string_literal: true

module PumaTuner
  module CLI
    # puma_tuner predict: what other settings, loads or changes to the app would do, without running them.
    class Predict < Dry::CLI::Command
      include GridOptions
      include ForecastOptions

      desc "Say what other settings, loads, or changes to the app would do, from one observation"
      argument :observation, required: true, desc: "file written by `puma_tuner measure`"
      option :rate, desc: "requests per second of open loops to predict, such as 50,100,200"
      option :connections, desc: "clients of closed loops to predict, such as 10,50; with --rate: the most that may be open"
      option :arrivals, desc: "of the open loops: poisson, even, bursty:N or replay:FILE (one time in seconds per line); default: poisson"
      option :think, desc: "seconds that each client of a closed loop waits before its next request"
      option :timeslice, desc: "milliseconds of a thread's time slice to predict (RUBY_THREAD_TIMESLICE), such as 100,10"
      option :io_threads, desc: "Puma's max_io_threads to predict, such as 0,2"
      option :min_threads, desc: "Puma's minimum of threads, default: as many as --threads"
      option :capacity, type: :flag, default: false, desc: "find the highest rate at which --max-p99 and --max-p50 hold; the most connections, with --connections"
      option :max_p99, desc: "milliseconds the 99th percentile may take, with --capacity"
      option :max_p50, desc: "milliseconds the median may take, with --capacity"
      option :output, desc: "file for the sweep, default: sweep.json in the app's tmp/puma_tuner"
      option :html, desc: "file for an HTML report"
      example [
        "tmp/puma_tuner/observation.json --workers 1..4 --threads 1..16",
        "tmp/puma_tuner/observation.json --rate 50,100,200 --timeslice 100,10",
        "tmp/puma_tuner/observation.json --what-if \"cpu(/articles)*0.7\" --what-if traffic*2",
        "tmp/puma_tuner/observation.json --capacity --max-p99 200"
      ]

      # Near the limit queues take long to show that they grow.
      CAPACITY_REQUESTS_COUNT = 10_000

      def call(observation:, output: nil, html: nil, capacity: false, **options)
        output = Results.path(output, "sweep.json", err:, recorded: observation)
        Output.check_writable(output, html)
        refuse_without_capacity(**options) unless capacity
        options[:requests] = [requests_count(**options), CAPACITY_REQUESTS_COUNT].max.to_s if capacity
        app = app_of(observation, **options)
        loads = loads_of(app, **options)
        sweeper = sweeper_of(app, **options)
        scenarios = Scenarios.new(app.workload, **options).of(topologies_of(**options), capacity ? [loads.to_search] : loads.to_a)
        sweep = capacity ? capacity_sweep(sweeper, scenarios, goal_of(**options)) : sweep_of(sweeper, scenarios)
        Output.keep(sweep, output, out:, err:, html:)
      end

      private

      def refuse_without_capacity(max_p99: nil, max_p50: nil, **)
        raise UserMistake, "--max-p99 and --max-p50 are goals of a search; add --capacity" if max_p99 || max_p50
      end

      def loads_of(app, **options)
        loads = Loads.new(app.workload, **options)
        raise UserMistake, "--what-if says what load there is, and so do --rate, --connections, --arrivals or --think; leave one out" if loads.said? && app.what_if.load?
        loads
      end

      def goal_of(max_p99: nil, max_p50: nil, **)
        PumaTuner::Predict::Goal.new(max_p50_ns: Parse.milliseconds("--max-p50", max_p50), max_p99_ns: Parse.milliseconds("--max-p99", max_p99))
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
