# frozen_string_literal: true

module PumaTuner
  module Labs
    # The service under load: how much it takes, what becomes of the goal when a little more than that comes, and what a
    # forecast says that it would be without the lock.
    class GraphqlServiceDay
      GOAL = "90% < 300ms"
      TOPOLOGY = Topology.parse("1x3")

      # The alert's load, over what the service as it was can take.
      LOAD_RATIO = 1.05
      CONNECTIONS_COUNT = 4
      OPEN_CONNECTIONS_COUNT = 400
      BOOT_LIMIT_S = 60

      # A claim is made of the first; the second is told, with its range.
      CAPACITY_ROUNDS_COUNT = 8
      GOAL_ROUNDS_COUNT = 4

      # Fewer make no model.
      RECORDED_MIN = 80

      # For `profile --outliers`.
      PROFILER = "vernier"
      LOCK = /compute_if_absent\z/

      # As in requests.txt.
      WEIGHTS = {"Related" => 3, "Parents" => 1}.freeze

      # rates: variant => Array of requests/s by round; rate_per_s: of the alert; shares: variant => Array of the
      # share of requests that met the goal, by round; p90s_ns: likewise
      # locks_ns: that the map's locks cost a mean request, by counting; foretold: {"throughput" => …, "p90_ns" => …,
      #   "saved" => …}, Arrays of [middle, low, high]
      # outliers: see #outliers
      Day = Data.define(:rates, :rate_per_s, :shares, :p90s_ns, :locks_ns, :foretold, :outliers)

      # @param run [Lab::Run]
      # @param counts [Hash] of counts.rb
      def initialize(run, counts)
        @run = run
        @counts = counts
      end

      # @param variants [Hash{String => Hash}] factors by name, the baseline first
      # @return [Day]
      def call(variants)
        rates = rounds("capacity", variants, CAPACITY_ROUNDS_COUNT) { |server| closed.send_to(server.url, duration_s: seconds).ensure_expected_responses.throughput_per_s }
        rate_per_s = (Stats::Quantile.of(rates.values.first.sort, 0.5) * LOAD_RATIO).round(1)
        alerts = rounds("goal at #{rate_per_s}/s", variants, GOAL_ROUNDS_COUNT) { |server| held(arriving(rate_per_s).send_to(server.url, duration_s: seconds * 2)) }
        Day.new(rates:, rate_per_s:, shares: alerts.transform_values { |list| list.map(&:first) }, p90s_ns: alerts.transform_values { |list| list.map(&:last) },
          locks_ns:, foretold: @run.part("forecast") { foretold(variants.values.first) },
          # A profiler may end the process that it samples.
          outliers: @run.part("outliers") { Lab::Again.after_void(@run) { outliers(variants.values.first) } })
      end

      # @return [Float] nanoseconds that the map's locks cost a mean request
      def locks_ns
        total = WEIGHTS.sum { |name, weight| weight * @counts.dig("queries", name, "locks") }
        total.fdiv(WEIGHTS.values.sum) * @counts.fetch("missed_ns")
      end

      private

      def seconds = @run.quick? ? 2 : 10

      # Each variant once a round, in a fresh server, in turn forwards and backwards.
      def rounds(title, variants, count)
        @run.part(title) do
          lists = variants.transform_values { [] }
          (@run.quick? ? 1 : count).times do |round|
            names = round.odd? ? variants.keys.reverse : variants.keys
            names.each do |name|
              @run.note("#{title}, round #{round + 1}: #{name}")
              serve(variants.fetch(name)) { |server| lists.fetch(name) << yield(server) }
            end
          end
          lists
        end
      end

      def serve(factors)
        Host::ServerProcess.run(command(factors), topology: TOPOLOGY, boot_limit_s: BOOT_LIMIT_S) do |server|
          closed.send_to(server.url, duration_s: seconds / 2.0)
          yield server
        end
      end

      def command(factors)
        base = @run.command_of({**factors, **GraphqlService::SERVER})
        base.with(words: [*base.words, File.join(@run.folder, "serve.rb")], environment: {**base.environment, "RACK_ENV" => "production"})
      end

      def mix = @mix ||= Load::Mix.read(File.join(@run.folder, "requests.txt"), data_path: nil)

      def closed = traffic(CONNECTIONS_COUNT, Load::Arrivals.closed)

      def arriving(rate_per_s) = traffic(OPEN_CONNECTIONS_COUNT, Load::Arrivals.open(rate_per_s))

      def traffic(connections_count, arrivals) = Load::Traffic.new(mix:, generator: Load::Native.new, connections_count:, seed: @run.seed, arrivals:)

      # @return [Array(Float, Integer)] the share of the requests that met the goal, those without a response being late, and p90
      def held(outcome)
        goal = Goal.read(GOAL)
        met = outcome.latency.count_below(goal.limit_ns)
        [met.fdiv(outcome.latency.count + outcome.unanswered_count), outcome.p90_ns]
      end

      # What is recorded of the service as it was, simulated again, and without what the locks cost.
      def foretold(factors)
        observation = Measure::LoadedWindow.new(command: command(factors), traffic: closed, topology: TOPOLOGY, boot_limit_s: BOOT_LIMIT_S,
          times: Measure::LoadedWindow::Times.new(warmup_s: seconds, duration_s: seconds * 2, duration_limit_s: 60, least_requests_count: RECORDED_MIN)).call
        Dir.mktmpdir do |folder|
          path = File.join(folder, "observation.json")
          Document.write(observation, path)
          before, after = [[], ["--what-if", what_if]].map { |words| predict(path, words) }
          {"endpoints" => observation.endpoints.map(&:name), "what_if" => what_if, "before" => before, "after" => after}
        end
      end

      def what_if = format("cpu-%.2fms", locks_ns / Units::NS_PER_MS)

      # @return [Array(Float, Float, Float)] requests/s
      def predict(path, words)
        out = puma_tuner("predict", path, "--workers", "1", "--threads", "3", "--connections", CONNECTIONS_COUNT.to_s, *words, "--output", "-")
        throughput = Document.parse(out, "predict", [:sweep]).forecasts.first.throughput_per_s
        [throughput.value, throughput.low, throughput.high]
      end

      # What the slow requests of the service as it was spend their time on.
      # @return [Hash{String => Object}] "count" of the slow ones; "share": of their time, that the map's locks are in, as
      #   [middle, low, high]; "methods": [name, share] of those that take the most by themselves
      def outliers(factors)
        command = command(factors)
        own = command.environment.reject { |name, value| ENV[name] == value }.map { |name, value| "#{name}=#{value}" }
        out = puma_tuner("profile", "--outliers", "--with", PROFILER, "--requests", File.join(@run.folder, "requests.txt"), "--connections", CONNECTIONS_COUNT.to_s,
          "--topology", TOPOLOGY.to_s, "--warmup", seconds.to_s, "--duration", (seconds * 5).to_s, "--output", "-", "--", "env", *own, *command.words)
        costs = Document.parse(out, "profile", [:profile])
        locks = costs.methods.select { |method| method.name.match?(LOCK) }.map(&:total_amount).max || 0
        {"count" => costs.work_count, "share" => costs.share(locks).to_fact, "methods" => costs.methods.first(5).map { |method| [method.name, costs.share_ratio(method.self_amount)] }}
      end

      # As a user runs it.
      # @return [String] what it printed
      def puma_tuner(*words)
        out, told, status = Open3.capture3(Lab::Commands.clean_environment, Gem.ruby, File.expand_path("../../exe/puma_tuner", __dir__), *words)
        return out if status.success?
        raise MeasurementFailed, "puma_tuner #{words.first} ended with #{status.exitstatus}: #{told.lines.last(3).join}"
      end
    end
  end
end
