# frozen_string_literal: true

require "tmpdir"

module PumaTuner
  module Load
    # Tests whether a generator tells the truth about a server that stands still: it sends 200 requests/s for 6 s, of
    # which the server answers nothing for one.
    #
    # The truth: a request that is due x seconds before the server goes on waits for x. So of all requests 1/6 have a
    # latency spread evenly over 0..1 s, the others 2.5 ms: the quantile q above 5/6 is (q - 5/6) x 6 s.
    class SelfTest
      RATE_PER_S = 200
      DURATION_S = 6
      REQUESTS_COUNT = RATE_PER_S * DURATION_S
      RATIOS = {p50: 0.5, p90: 0.9, p99: 0.99}.freeze

      # Within 2%, or 1 ms where that is more.
      TOLERANCE_RATIO = 0.02
      TOLERANCE_NS = Units::NS_PER_MS

      # One percentile: what it is, and what the generator says.
      Line = Document.define(:name, :true_ns, :reported_ns) do
        def right? = !reported_ns.nil? && (reported_ns - true_ns).abs <= [true_ns * TOLERANCE_RATIO, TOLERANCE_NS].max
      end

      # lines: one per percentile; intended_count, answered_count: of the same requests, when nothing is lost
      # lag_p99_ns: the generator's lateness; server_late_ns: the server's; nil where unknown
      Result = Document.define(:lines, :intended_count, :answered_count, :lag_p99_ns, :server_late_ns,
        kind: :load_self_test, nested: {lines: [Line]}) do
        def right? = lines.all?(&:right?) && complete?

        # @return [Integer] that are due
        def requests_count = REQUESTS_COUNT

        # @return [Boolean] whether every request is accounted for
        def complete? = intended_count == requests_count && answered_count == intended_count

        # @return [Hash{Symbol => Integer}] how late the generator and the server were, in ns, where the machine kept
        #   them from doing as they were meant to, be the generator right or wrong
        def disturbed = {generator: lag_p99_ns, server: server_late_ns}.select { |_, ns| ns && ns > TOLERANCE_NS }
      end

      # @param ratio [Float]
      # @return [Float] nanoseconds
      def self.true_quantile_ns(ratio)
        stalled_ratio = StallServer::STALL_S / DURATION_S
        stall_s = (ratio - (1 - stalled_ratio)) / stalled_ratio * StallServer::STALL_S
        [stall_s, StallServer::SERVICE_S].max * Units::NS_PER_S
      end

      # @return [Result] of our own generator
      def call
        Dir.mktmpdir("puma_tuner") do |folder|
          raw_path = File.join(folder, "responses.csv")
          StallServer.run do |server|
            outcome = send_to(server.url, Native.new(raw_path:))
            result(latencies(raw_path), outcome, server.finish_ns)
          end
        end
      end

      private

      # The first request sets the server's clock going; evenly spaced ones begin a gap after the start.
      def send_to(url, generator)
        generator.run(mix: Mix.of_paths(["/"]), url_base: url, connections_count: 1_000,
          duration_s: DURATION_S + 0.5 / RATE_PER_S, seed: 1, arrivals: Arrivals.open(RATE_PER_S, kind: "even"))
      end

      # Each by itself, as a histogram's buckets would use up most of what is tolerated.
      def latencies(raw_path)
        File.foreach(raw_path).drop(1).map { |line| line.split(",").map(&:to_i).values_at(1, 3) }
          .map { |intended_ns, answered_ns| answered_ns - intended_ns }.sort
      end

      def result(latencies, outcome, server_late_ns)
        lines = RATIOS.map do |name, ratio|
          Line.new(name: name.to_s, true_ns: self.class.true_quantile_ns(ratio),
            reported_ns: Stats::Quantile.of(latencies, ratio))
        end
        Result.new(lines:, intended_count: outcome.intended_count, answered_count: outcome.requests_count,
          lag_p99_ns: outcome.lag_p99_ns, server_late_ns:)
      end
    end
  end
end
