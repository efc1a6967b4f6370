# frozen_string_literal: true

# In a checkout the probe lies beside; installed, it is a gem of its own.
beside = File.expand_path("../probe/lib", __dir__)
$LOAD_PATH.unshift(beside) if File.directory?(beside) && !$LOAD_PATH.include?(beside)

require "puma_tuner/probe"

# Where does a Puma app's time and memory go, what should change, what will it bring, and did it?
# The map, in flow order; each stage turns one frozen value into the next.
module PumaTuner
  # For `ruby -I` of our own children.
  LIBRARY_PATH = [__dir__, Probe::LIBRARY_FOLDER].join(File::PATH_SEPARATOR)

  autoload :Measure, "puma_tuner/measure" # a running app         -> Probe::Observation
  autoload :Model, "puma_tuner/model"     # Observation           -> Workload, Machine
  autoload :Predict, "puma_tuner/predict" # Workload, Scenarios   -> Sweep
  autoload :Advise, "puma_tuner/advise"   # Sweep                 -> AdviceList
  autoload :Prove, "puma_tuner/prove"     # Variants              -> Verdict
  autoload :Report, "puma_tuner/report"   # any of them           -> bytes

  # The ground the stages stand on.
  autoload :AccessLog, "puma_tuner/access_log" # a server's log -> a file of requests
  autoload :AdviceCheck, "puma_tuner/advice_proof"
  autoload :AdviceProof, "puma_tuner/advice_proof" # AdviceList -> Verdict: what is advised, measured
  autoload :AppRoutes, "puma_tuner/app_routes" # the GET routes of an app -> a file of requests
  autoload :Block, "puma_tuner/block"         # a block of Ruby in a process of its own, in the place of an app
  autoload :Calibrate, "puma_tuner/calibrate" # a machine -> Machine
  autoload :CLI, "puma_tuner/cli"           # the command
  autoload :Compare, "puma_tuner/compare"   # two logs of a server -> Compare::Outcome
  autoload :Fleet, "puma_tuner/fleet"       # many servers, by what they exported -> Fleet::Comparison
  autoload :Goal, "puma_tuner/goal"         # of so many requests, each takes less than so long
  autoload :Host, "puma_tuner/host"         # a server under our control, and the machine it runs on
  autoload :HttpExchange, "puma_tuner/http_exchange" # a request to somebody else's server, with bounds
  autoload :Lanes, "puma_tuner/lanes"       # what each thread did when -> profiles and traces that others draw
  autoload :Load, "puma_tuner/load"         # requests to send, and generators that send them
  autoload :Percentile, "puma_tuner/percentile" # "p99.9"
  autoload :Profile, "puma_tuner/profile"   # a running app, a request, a block -> Costs, by method
  autoload :ServerForecast, "puma_tuner/server_forecast" # in a process beside a running server: what to set there
  autoload :Statement, "puma_tuner/statement" # what is said, as data: a kind and facts
  autoload :StateFile, "puma_tuner/state_file" # what is known of apps from run to run
  autoload :Stats, "puma_tuner/stats"       # pure statistics
  autoload :Top, "puma_tuner/top"           # a running server, looked at again and again
  autoload :Tradeoff, "puma_tuner/tradeoff" # settings that buy speed with memory
  autoload :Trial, "puma_tuner/trial" # another number of threads tried on a running server
  autoload :Tuner, "puma_tuner/tuner"       # the whole arrow
  autoload :Tuning, "puma_tuner/tuning"     # the whole arrow's outcome, as one document

  # In a checkout alone: published claims, measured again.
  labs = File.expand_path("../labs/harness.rb", __dir__)
  autoload :Lab, labs if File.file?(labs)

  # Profiles a block of Ruby in this very process, all threads: what they do meanwhile is in it, too.
  #
  # @param with [String] a profiler that is in the bundle, or installed
  # @param mode [String, nil] one of its own, nil: its usual one
  # @param times [Integer] how often the block repeats by itself what it is about
  # @param folder [String] where the profiler's own file goes
  # @param interval_us [Integer, nil] microseconds between two samples; nil: the profiler's usual ones
  # @return [Profile::Costs] `PumaTuner::Document.write(costs, "profile.json")` keeps them
  # @raise [UsageError] when there is no such profiler, or it can't look
  def self.profile(with: "stackprof", mode: nil, interval_us: nil, times: 1, folder: "tmp/puma_tuner/profiles", &)
    Profile.of_block(with:, mode:, interval_us:, times:, folder:, &)
  end
end
