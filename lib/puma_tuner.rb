# frozen_string_literal: true

require_relative "puma_tuner/version"

# Where does a Puma app's time and memory go, what should change, what will it bring, and did it?
# The map, in flow order; each stage turns one frozen value into the next.
module PumaTuner
  autoload :Measure, "puma_tuner/measure" # a running app         -> Observation
  autoload :Model, "puma_tuner/model"     # Observation           -> Workload, Machine
  autoload :Predict, "puma_tuner/predict" # Workload, Scenarios   -> Sweep
  autoload :Advise, "puma_tuner/advise"   # Sweep                 -> AdviceList
  autoload :Prove, "puma_tuner/prove"     # Variants              -> Verdict
  autoload :Report, "puma_tuner/report"   # any of them           -> bytes

  # The ground the stages stand on.
  autoload :AccessLog, "puma_tuner/access_log" # a server's log -> a file of requests
  autoload :Block, "puma_tuner/block"         # a block of Ruby in a process of its own, in the place of an app
  autoload :Calibrate, "puma_tuner/calibrate" # a machine -> Machine
  autoload :CLI, "puma_tuner/cli"           # the command
  autoload :Document, "puma_tuner/document" # values to and from JSON
  autoload :Export, "puma_tuner/export"     # a running server's figures, for Prometheus and OpenTelemetry
  autoload :Fleet, "puma_tuner/fleet"       # many servers, by what they exported -> Fleet::Comparison
  autoload :Host, "puma_tuner/host"         # a server under our control, and the machine it runs on
  autoload :Jobs, "puma_tuner/jobs"         # Active Job and Sidekiq
  autoload :Lab, "puma_tuner/lab"           # published claims, measured again
  autoload :Load, "puma_tuner/load"         # requests to send, and generators that send them
  autoload :Profile, "puma_tuner/profile"   # a running app, a request, a block -> Costs, by method
  autoload :Rack, "puma_tuner/rack"         # the middleware
  autoload :RuleOfThumb, "puma_tuner/rule_of_thumb" # threads from the share of CPU
  autoload :Stats, "puma_tuner/stats"       # pure statistics
  autoload :ThreadLine, "puma_tuner/thread_line" # a thread's time in one line
  autoload :Topology, "puma_tuner/topology" # workers x threads
  autoload :Tradeoff, "puma_tuner/tradeoff" # settings that buy speed with memory
  autoload :Tuner, "puma_tuner/tuner"       # the whole arrow
  autoload :Tuning, "puma_tuner/tuning"     # the whole arrow's outcome, as one document
  autoload :Units, "puma_tuner/units"       # numbers as people read them

  require_relative "puma_tuner/error"

  # Prints, from inside Puma, where each pool thread's time goes and which thread count follows from it.
  # Call it in `before_fork` or at the end of `puma.rb`.
  #
  # @param interval_s [Numeric] seconds between two prints, 10 unless PUMA_TUNER_INTERVAL_S says otherwise; nothing is printed for an
  #   interval without requests
  # @param out [IO] where to
  # @param locks [Boolean] whether locks and pools are watched, too, which adds to the cost of each (docs/measure.md)
  # @return [void]
  def self.run(interval_s: Measure::Console.interval_s, out: $stdout, locks: false)
    Measure.start(way_in: "run", console: {interval_s:, out:}, locks:)
  end

  # Records a piece of work that is no request: a job, a task. Inside of a request, or of another job, it only yields.
  #
  # @param name [String] of its kind; few, for each is recorded on its own
  # @return what the block returns
  def self.measure(name, &)
    Measure.begin_recording
    Measure.recorder.job(name, &)
  end

  # Where the time of this server's requests and jobs went, in all its processes, since they started.
  #
  # @return [Measure::Observation]
  # @raise [VoidMeasurement] when none has ended yet
  def self.snapshot = Measure.snapshot.take

  # Profiles a block of Ruby in this very process, all threads: what they do meanwhile is in it, too.
  #
  # @param with [String] a profiler that is in the bundle, or installed
  # @param mode [String, nil] one of its own, nil: its usual one
  # @param times [Integer] how often the block repeats by itself what it is about
  # @param folder [String] where the profiler's own file goes
  # @return [Profile::Costs] `PumaTuner::Document.write(costs, "profile.json")` keeps them
  # @raise [UserMistake] when there is no such profiler, or it can't look
  def self.profile(with: "stackprof", mode: nil, interval_us: nil, times: 1, folder: "tmp/puma_tuner/profiles", &)
    Profile.of_block(with:, mode:, interval_us:, times:, folder:, &)
  end

  # Makes the figures of this server, all its processes together, available to Prometheus: `GET /metrics` at the address.
  # Call it in `puma.rb`; metrics and their names are in docs/exporter.md.
  #
  # @param address [String, nil] "tcp://127.0.0.1:9394", "unix:///path/of/socket"; nil: nothing listens, as where a library of the
  #   app's exports them (Export::PrometheusClient, Export::OpenTelemetry)
  # @param labels [Hash{Symbol => String}] put on every sample, such as {service: "shop", yjit: "on"}
  # @param endpoints_max [Integer] endpoints kept apart, and as many kinds of jobs; all others count together
  # @param interval_s [Numeric] seconds after which each worker tells anew of its heap and of YJIT
  # @return [void]
  # @raise [UserMistake] of an address or a label that can't be
  def self.export(address = "tcp://127.0.0.1:9394", labels: {}, endpoints_max: 200, interval_s: 10)
    wrong = labels.keys.reject { |name| name.match?(/\A[a-zA-Z][a-zA-Z0-9_]*\z/) } + (labels.keys.map(&:to_s) & Export::TAKEN_LABELS)
    raise UserMistake, "#{wrong.first.inspect} can't be a label of the exporter's; take letters, digits and _, and none that is taken: #{Export::TAKEN_LABELS.join(", ")}" if wrong.any?
    settings = Export::Settings.new(labels: labels.to_h { |name, value| [name.to_sym, value.to_s] }.freeze, endpoints_max:, interval_s:)
    Export.start(address:, settings:)
  end

  # Names endpoints as the app wants it, where its routes don't say.
  #
  # @yieldparam env [Hash] the request's Rack environment, after the app has seen it
  # @yieldreturn [String, nil] the endpoint; nil: as usual. At most 200 names are kept apart.
  # @return [void]
  def self.group_endpoints(&grouping)
    Measure.grouping = grouping
  end
end
