# frozen_string_literal: true

module PumaTuner
  module CLI
    # The loads to predict, from the words --rate, --connections, --arrivals and
    # --think; with none of them the recording's.
    class Loads
      ARRIVALS = /\A(?:(?<kind>poisson|even)|bursty:(?<burst>\d+)|replay:(?<path>.+))\z/
      BURST_COUNTS = 2..10_000
      OPTIONS = %i[rate connections arrivals think].freeze

      # More requests than a simulation counts are of no use.
      REPLAYED_MAX = 20_000

      # @param workload [Model::Workload]
      # @param rate [Array<Float>, nil] per second
      # @param connections [Array<Integer>, nil]
      # @param think [Float, nil] seconds
      def initialize(workload, rate: nil, connections: nil, arrivals: nil, think: nil)
        @recorded = workload.arrivals
        @observed_per_s = workload.observed_throughput_per_s
        @rates = rate
        @connections = connections
        @think_ns = think && (think * Units::NS_PER_S).round
        @words = arrivals
        @way = way(arrivals) if arrivals
        refuse_contradictions
      end

      # @return [Array<Model::Arrivals>]
      def to_a
        return open_loops if @rates || @way
        (@connections || @think_ns) ? closed_loops : [@recorded]
      end

      # @return [Model::Arrivals] what a search for the capacity begins with: an
      #   open loop, unless connections are asked for
      def to_search
        loads = to_a
        raise UsageError, "--capacity: give one --rate or one --connections, where the search begins" if loads.size > 1
        return loads.first if loads.first.open? || @connections || @think_ns
        open_loop(@observed_per_s || 1)
      end

      # @return [Boolean] whether anything was said
      def said? = !!(@rates || @connections || @think_ns || @way)

      private

      def way(text)
        match = ARRIVALS.match(text)
        return match if match && (match[:burst].nil? || BURST_COUNTS.cover?(match[:burst].to_i))
        raise UsageError, "--arrivals #{text}: write poisson, even, bursty:N (groups of N requests on average, " \
          "N from 2 to 10000) or replay:FILE"
      end

      def refuse_contradictions
        if @think_ns && (@rates || @way)
          raise UsageError, "--think belongs to a closed loop, --rate and --arrivals to an open one; leave one out"
        end
        if @connections && @connections.size > 1 && (@rates || @way)
          raise UsageError, "--connections #{@connections.join(",")}: " \
            "in an open loop it is the most that may be open, one number; leave out --rate for closed loops"
        end
        return unless @way && !@way[:path] && !@rates && !@recorded.open?
        raise UsageError, "--arrivals #{@words}: at which rate? The recording's load was a closed loop. " \
          "Give --rate, such as --rate 100"
      end

      def open_loops
        return [replayed] if @way && @way[:path] && !@rates
        (@rates || [@recorded.rate_per_s]).map { |rate_per_s| open_loop(rate_per_s) }
      end

      def open_loop(rate_per_s)
        return replayed.then { |arrivals| arrivals.times(rate_per_s / arrivals.rate_per_s) } if @way && @way[:path]
        burst_count = @way && @way[:burst]&.to_i
        kind = burst_count ? "bursty" : (@way && @way[:kind]) || "poisson"
        Model::Arrivals.open(rate_per_s, kind:, burst_count:, **open_connections, reuse_count: @recorded.reuse_count)
      end

      def replayed
        @replayed ||= Model::Arrivals.replayed(times_ns(@way[:path]), **open_connections,
          reuse_count: @recorded.reuse_count)
      end

      def open_connections = @connections ? {connections_count: @connections.first} : {}

      def closed_loops
        counts = @connections || (@recorded.connections_count unless @recorded.open?)
        unless counts
          raise UsageError, "--think: of how many clients? The recording's load was an open loop. " \
            "Give --connections, such as --connections 20"
        end
        think_ns = @think_ns || (@recorded.open? ? 0 : @recorded.think_ns)
        Array(counts).map { |count| Model::Arrivals.closed(count, think_ns:, reuse_count: @recorded.reuse_count) }
      end

      # @return [Array<Integer>] ascending, from 0
      def times_ns(path)
        times = lines(path).filter_map { |line, number| time_ns(line, path, number) }.first(REPLAYED_MAX + 1).sort
        unless times.size.between?(2, REPLAYED_MAX) && times.last > times.first
          held = (times.size > REPLAYED_MAX) ? "more times" : Report::Figures.counted(times.size, "time")
          raise UsageError, "--arrivals replay:#{path}: it holds #{held}; " \
            "a replay takes 2 to #{REPLAYED_MAX}, not all the same"
        end
        times.map { |ns| ns - times.first }.freeze
      rescue SystemCallError => error
        raise UsageError, "--arrivals replay:#{path}: #{error.message}. Name a file with one time in seconds per line."
      end

      # No line of times or words is as long; a file without any may be a device without end.
      LINE_BYTES_MAX = 64 * 1_024

      # @return [Enumerator::Lazy] lines with their numbers, each read when it is asked for
      def lines(path)
        Enumerator.new do |each|
          File.open(path, "r:BOM|UTF-8") do |file|
            (1..).each do |number|
              line = file.gets("\n", LINE_BYTES_MAX) or break
              if line.bytesize >= LINE_BYTES_MAX
                raise UsageError, "#{path}, line #{number}: it is longer than any time in seconds, such as 12.345"
              end
              each.yield line.scrub("?").strip, number
            end
          end
        end.lazy
      end

      # Larger exponents would take memory without bound.
      TIME = /\A[-+]?\d{1,30}(?:\.\d{1,30})?(?:e[-+]?\d{1,2})?\z/i
      private_constant :TIME, :LINE_BYTES_MAX

      def time_ns(line, path, number)
        return if line.empty? || line.start_with?("#")
        ns = (Rational(line) * Units::NS_PER_S).round if TIME.match?(line)
        return ns if ns&.abs&.<(2**62)
        raise UsageError, "#{path}, line #{number}: #{line[0, 40].inspect} is not a time in seconds, such as 12.345"
      end
    end
  end
end
