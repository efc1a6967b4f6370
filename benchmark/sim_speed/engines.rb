# frozen_string_literal: true

require "json"
require "rbconfig"
require_relative "../support/bench"
require_relative "models"

module SimSpeed
  # One simulation: seconds that it took, requests and events in it (those before the counted ones included), and the mean
  # latency that it found.
  Run = Data.define(:seconds, :requests_count, :events_count, :mean_ns) do
    def requests_per_s = requests_count / seconds

    def events_per_s = events_count / seconds

    def ns_per_event = seconds * 1e9 / events_count
  end

  # All that this benchmark knows of our simulator.
  module Engine
    Predict = PumaTuner::Predict
    private_constant :Predict

    class << self
      # @return [String, nil] why there is nothing to time, as a clause
      def why_not = Predict::Engine.why_not

      # @return [Run] of the M/M/c queue
      def queue(requests_count:, seed:)
        run(Predict::Plan.new(workload: (@queue ||= Models.queue_workload), machine: Models.ideal_machine, scenario: Models.queue_scenario, seed:,
          requests_count:, resample: false))
      end

      # @return [Run] of the web app
      def app(requests_count:, seed:)
        run(Predict::Plan.new(workload: (@app ||= Models.app_workload), machine: Models.machine, scenario: Models.app_scenario, seed:, requests_count:))
      end

      # @param requests_count [Integer] for each scenario, all its simulations together
      # @return [Integer] scenarios forecast
      def sweep(scenarios, requests_count:)
        seeds_count = Predict::Sweeper::DEFAULT_SEEDS_COUNT
        sweeper = Predict::Sweeper.new(workload: Models.app_workload, machine: Models.machine, seed: 1, seeds_count:, requests_count: requests_count / seeds_count)
        sweeper.call(scenarios).forecasts.size
      end

      private

      # Only the core's own time, as SimPy's is only that of its loop: what goes before and after is a few ms for any number of
      # events, and the sweep has it in.
      def run(plan)
        numbers = plan.to_h
        began_s = PumaTuner::Clock.now_s
        result = Predict::Core.run(numbers)
        seconds = PumaTuner::Clock.now_s - began_s
        outcome = Predict::Outcome.of(result)
        Run.new(seconds:, requests_count: numbers.fetch(:requests_count) + numbers.fetch(:warm_up_count), events_count: outcome.events_count, mean_ns: outcome.mean_ns)
      end
    end
  end

  # SimPy, the simulator that most models of queues are written in; Debian's, with Debian's Python.
  class Simpy
    SCRIPT = File.expand_path("simpy_mmc.py", __dir__)

    # Debian's python3-simpy is SimPy 2, of another time; the one that everybody means is packaged beside it.
    PACKAGE = "python3-simpy3"

    # Debian's own Python first: another one on PATH does not see Debian's packages.
    PYTHONS = ["/usr/bin/python3", "python3"].freeze
    LIMIT_S = 300

    # @return [String, nil] why it can't be asked, as a clause
    attr_reader :why_not

    # @param install [Boolean] whether to install what is missing, where that is possible
    def initialize(install: true)
      @python = found || (self.install if install)
      @why_not = "SimPy is not there: sudo apt-get install #{PACKAGE}" unless @python
    end

    # @param queue [Models::Queue]
    # @param requests_count [Integer]
    # @return [Run]
    def call(queue, requests_count:, seed:)
      words = [requests_count, queue.servers_count, queue.rate_per_s, queue.mean_service_s, seed].map(&:to_s)
      output, status = PumaTuner::Host::Child.output_of([@python, SCRIPT, *words], limit_s: LIMIT_S)
      raise PumaTuner::UsageError, "SimPy failed: #{output.to_s.lines.last}" unless status&.success?
      fields = JSON.parse(output.lines.last, symbolize_names: true)
      @version = fields.fetch(:version)
      Run.new(**fields.slice(*Run.members))
    end

    # @return [String, nil] name and version, once it has run
    attr_reader :version

    private

    def found
      PYTHONS.find { |python| system(python, "-c", "import simpy; simpy.Environment", out: File::NULL, err: File::NULL) }
    end

    # As bin/setup does: for root, on Debian.
    def install
      return unless Process.uid.zero? && system("command -v apt-get", out: File::NULL, err: File::NULL)
      warn "installing #{PACKAGE}"
      system({"DEBIAN_FRONTEND" => "noninteractive"}, "apt-get", "install", "-y", "-q", "--no-install-recommends", PACKAGE, out: File::NULL, err: File::NULL) && found
    end
  end

  # Everything that is timed, in rounds, so that what the machine does to one it does to the others.
  class Rounds
    ROUNDS_COUNT = 8
    QUEUE_REQUESTS_COUNT = 1_000_000
    APP_REQUESTS_COUNT = 200_000
    SIMPY_REQUESTS_COUNT = 100_000
    SWEEP_REQUESTS_COUNT = 20_000
    SWEEP_LIMIT_S = 300
    SWEEP = File.expand_path("sweep_child.rb", __dir__)

    # One sweep: its time, and the most memory that its process had at any moment.
    Sweep = Data.define(:seconds, :peak_bytes, :forecasts_count)

    # Each simulator twice: what a pair of equals differs by is noise.
    VARIANTS = {"queue" => "our core, M/M/5", "queue_again" => "our core, M/M/5, again", "simpy" => "SimPy, M/M/5", "simpy_again" => "SimPy, M/M/5, again",
                "app" => "our core, a web app", "app_again" => "our core, a web app, again"}.freeze

    # @return [Hash{String => Array<Run>}] by variant; without SimPy's where it can't be had
    attr_reader :runs

    # @return [Array<Sweep>]
    attr_reader :sweeps

    # @param simpy [Simpy]
    def initialize(rounds_count:, quick:, simpy: Simpy.new)
      @rounds_count = rounds_count || (quick ? 2 : ROUNDS_COUNT)
      @share = quick ? 20 : 1
      @simpy = simpy
      @runs = VARIANTS.keys.reject { |name| name.start_with?("simpy") && simpy.why_not }.to_h { |name| [name, []] }
      @sweeps = []
    end

    def run
      @rounds_count.times do |round|
        warn "sim_speed: round #{round + 1} of #{@rounds_count}"
        Bench.order(@runs.keys, round).each { |name| @runs.fetch(name) << one(name, round + 1) }
        @sweeps << sweep
      end
    end

    private

    def one(name, seed)
      case name.delete_suffix("_again")
      when "queue" then Engine.queue(requests_count: QUEUE_REQUESTS_COUNT / @share, seed:)
      when "app" then Engine.app(requests_count: APP_REQUESTS_COUNT / @share, seed:)
      else @simpy.call(Models::QUEUE, requests_count: SIMPY_REQUESTS_COUNT / @share, seed:)
      end
    end

    def sweep
      command = [RbConfig.ruby, "-I", Bench::LIBRARY_FOLDER, SWEEP, (SWEEP_REQUESTS_COUNT / @share).to_s]
      output, status = PumaTuner::Host::Child.output_of(command, limit_s: SWEEP_LIMIT_S)
      raise PumaTuner::UsageError, "the sweep failed: #{output.to_s.lines.first}" unless status&.success?
      Sweep.new(**JSON.parse(output.lines.last, symbolize_names: true))
    end
  end
end
