# frozen_string_literal: true

require "tmpdir"

module PumaTuner
  module Load
    # Whether a generator tells the truth about a server that stands still: 200 requests/s for 6 s, of which the server
    # answers nothing for one.
    #
    # The truth: a request that is due x seconds before the server goes on waits for x. So of all requests 1/6 have a
    # latency spread evenly over 0..1 s, the others 2.5 ms: the quantile q above 5/6 is (q - 5/6) x 6 s.
    class SelfTest
      RATE_PER_S = 200
      DURATION_S = 6
      RATIOS = {p50: 0.5, p90: 0.9, p99: 0.99}.freeze

      # Within 2 %, or 1 ms where that is more.
      TOLERANCE_RATIO = 0.02
      TOLERANCE_NS = Units::NS_PER_MS

      # One percentile: what it is, and what the generator says.
      Line = Data.define(:name, :true_ns, :reported_ns) do
        def right? = (reported_ns - true_ns).abs <= [true_ns * TOLERANCE_RATIO, TOLERANCE_NS].max
      end

      # lines: one per percentile; intended_count, answered_count: of the same requests, when nothing is lost
      Result = Data.define(:lines, :intended_count, :answered_count, :lag_p99_ns) do
        def right? = lines.all?(&:right?) && intended_count == DURATION_S * RATE_PER_S && answered_count == intended_count
      end

      # @param ratio [Float]
      # @return [Float] nanoseconds
      def self.true_quantile_ns(ratio)
        stalled_ratio = StallServer::STALL_S / DURATION_S
        stall_ns = [(ratio - (1 - stalled_ratio)) / stalled_ratio, 0].max * StallServer::STALL_S * Units::NS_PER_S
        [stall_ns, StallServer::SERVICE_S * Units::NS_PER_S].max
      end

      # @return [Result]
      def call
        Dir.mktmpdir("puma_tuner") do |folder|
          raw_path = File.join(folder, "answers.csv")
          outcome = StallServer.run { |url| send_to(url, Native.new(raw_path:)) }
          Result.new(lines: lines(latencies(raw_path)), intended_count: outcome.intended_count, answered_count: outcome.requests_count,
            lag_p99_ns: outcome.lag_p99_ns)
        end
      end

      private

      # The first request sets the server's clock going; evenly spaced ones begin a gap after the start.
      def send_to(url, generator)
        generator.run(mix: Mix.of_paths(["/"]), url_base: url, connections_count: 1_000, duration_s: DURATION_S + 0.5 / RATE_PER_S,
          seed: 1, arrivals: Arrivals.open(RATE_PER_S, kind: "even"))
      end

      # Each by itself, as a histogram's buckets would use up most of what is tolerated.
      def latencies(raw_path)
        File.foreach(raw_path).drop(1).map { |line| line.split(",").map(&:to_i).values_at(1, 3) }
          .map { |intended_ns, answered_ns| answered_ns - intended_ns }.sort
      end

      def lines(latencies)
        RATIOS.map do |name, ratio|
          Line.new(name: name.to_s, true_ns: self.class.true_quantile_ns(ratio), reported_ns: Stats::Quantile.of(latencies, ratio))
        end
      end
    end
  end
end
