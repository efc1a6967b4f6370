# frozen_string_literal: true

require_relative "memory"

module PumaTuner
  module Labs
    class MythBusters
      # What is asked of a server: which paths, how often each, and by how many clients or at which rate.
      #
      # paths: {path => weight}; rate_per_s: of an open loop, else nil; kept: whether connections are kept; else each request has a new one, as with `ab`
      Asked = Data.define(:paths, :connections_count, :rate_per_s, :kept) do
        const_set(:ONCE, 1..1)

        # In an open loop, the most that may be open.
        const_set(:OPEN_CONNECTIONS_COUNT, 400)

        # @param path [String, Hash{String => Integer}]
        def self.closed(path, connections_count, kept: false) = new(paths: path.is_a?(Hash) ? path : {path => 1}, connections_count:, rate_per_s: nil, kept:)

        def self.open(path, rate_per_s) = new(paths: {path => 1}, connections_count: self::OPEN_CONNECTIONS_COUNT, rate_per_s:, kept: false)

        # @param drain_s [Numeric] see Load::Native
        # @return [Load::Traffic]
        def traffic(seed, drain_s: Load::Native::DRAIN_S)
          reuse = self.class::ONCE unless kept
          arrivals = rate_per_s ? Load::Arrivals.open(rate_per_s, reuse:) : Load::Arrivals.closed(reuse:)
          requests = paths.map { |path, weight| Load::Request.new(path:, weight:, expected_text: TEXTS.fetch(path)) }
          Load::Traffic.new(mix: Load::Mix.new(requests:), generator: Load::Native.new(drain_s:, drain_limit_s: drain_s), connections_count:, seed:, arrivals:)
        end

        def to_s = "#{paths.keys.join(" and ")}, #{rate_per_s ? "#{Units.rate(rate_per_s)}/s" : "c = #{connections_count}"}"
      end

      # What each answer must hold: so a server that skips the work, or whose query fails, is found out.
      TEXTS = {"/io-only" => "slept 0", "/cpu-only" => "burnt 5", "/realistic" => "slept 0, burnt 5", "/level" => "slept 0, burnt 5", "/tarai" => "tarai 10",
               "/talk" => "slept 0, burnt 5", "/page" => "50 Article 50 2024 7"}.freeze

      # What came of one load on one server.
      #
      # outcome: Load::Outcome; cpu_ns: of the server's processes; memory_bytes: of them at the end, see Memory
      # disturbed: why it should not count, as a clause, or nil
      Turn = Data.define(:outcome, :cpu_ns, :memory_bytes, :disturbed) do
        # @param metric [String] "throughput", "mean", "p50", "p99", "cpu" (ns per request) or "memory" (bytes)
        # @return [Numeric, nil]
        def value(metric)
          case metric
          when "throughput" then outcome.throughput_per_s
          when "cpu" then cpu_ns&.fdiv(outcome.requests_count)
          when "memory" then memory_bytes
          else outcome.public_send(:"#{metric}_ns")
          end
        end
      end

      # A server that is up, and what can be asked of it.
      class Stand
        # @return [Entrant]
        attr_reader :entrant

        # @return [Host::ServerProcess]
        attr_reader :server

        # @param entrant [Entrant]
        # @param server [Host::ServerProcess] that serves
        # @param database [Database] whose CPU is no stranger's
        def initialize(entrant, server, database)
          @entrant = entrant
          @server = server
          @database = database
          @cores_count = Probe::MachineFacts.read.cores_count
        end

        # @param asked [Asked]
        # @raise [InvalidMeasurement] when an answer was not as expected
        def warm_up(asked, seconds)
          outcome = asked.traffic(0).send_to(@server.url, duration_s: seconds)
          outcome.ensure_expected_responses if outcome.counted_count.positive?
        end

        # @param asked [Asked]
        # @param strict [Boolean] whether each request must have been answered, and rightly
        # @return [Turn]
        # @raise [InvalidMeasurement]
        def turn(asked, seconds, seed: 1, strict: true)
          turn = one_turn(asked, seconds, seed, strict)
          # A slow moment, or a machine too slow for such short turns: nothing was answered, and nothing was refused.
          turn = one_turn(asked, seconds * LONGER_FACTOR, seed, strict) if turn.outcome.counted_count.zero? && turn.outcome.socket_errors_count.zero?
          turn.outcome.ensure_expected_responses if strict
          turn
        end

        LONGER_FACTOR = 4
        private_constant :LONGER_FACTOR

        # @return [Probe::Observation, nil] of that load, with the probe put in for good
        def observe(asked, seconds)
          Measure::LateWindow.call(@server, Host::SignalQuery.new(@server.directory)) { asked.traffic(99).send_to(@server.url, duration_s: seconds) }
        end

        private

        def one_turn(asked, seconds, seed, strict)
          before, own_ns = Host::Readings.take(@server, nil), own_cpu_ns
          outcome = asked.traffic(seed, drain_s: strict ? Load::Native::DRAIN_S : 1).send_to(@server.url, duration_s: seconds)
          spent, own_ns = Host::Readings.take(@server, nil) - before, own_cpu_ns - own_ns
          Turn.new(outcome:, cpu_ns: spent.cpu_ns, memory_bytes: Memory.of(@server.pids), disturbed: disturbed(spent, outcome, own_ns))
        end

        def own_cpu_ns = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond) + @database.cpu_ns

        def disturbed(spent, outcome, own_cpu_ns)
          conditions = Prove::Conditions.of(spent:, gauges: [], outcome:, own_cpu_ns:, cores_count: @cores_count, fingerprint: {})
          Prove::Disturbance.of_unpaired(conditions)
        end
      end
    end
  end
end
