# frozen_string_literal: true

module PumaTuner
  module Profile
    # Picks the outliers among requests, by their budget, and the samples that fell into them.
    #
    # A request is an outlier when, among those of its endpoint, it belongs to the slowest (tail), or when it waited
    # much more for the GVL, or collected much more garbage, than a usual one: beyond the upper quartile by 3
    # interquartile ranges, Tukey's "far out" (Exploratory Data Analysis, 1977, ch. 2), and by a tenth of its own time.
    class Outliers
      TAIL_RATIO = 0.95
      FAR_OUT = 3
      LEAST_SHARE_RATIO = 0.1

      # Nobody can say of fewer requests what is usual.
      REQUESTS_MIN = 20

      # A request as Probe::Profiling::RequestLog keeps it.
      Logged = Data.define(:thread, :began_ns, :ended_ns, :wall_ns, :gvl_wait_ns, :gc_ns, :endpoint)

      # @param path [String] see Probe::Profiling::RequestLog
      # @return [Array<Logged>]
      def self.read(path)
        # Our own code wrote the file.
        log = Marshal.load(File.binread(path)) # rubocop:disable Security/MarshalLoad
        log.fetch(:requests).map { |fields| Logged.new(*fields) }
      end

      # @param logs [Array<Array<Logged>>] one of each process
      def initialize(logs)
        @logs = logs
      end

      # @return [Hash{String => Integer}] why => how many; a request may have several reasons
      def reasons = reasons_by_request.values.flatten.tally

      # @return [Integer] that stand out
      def count = reasons_by_request.size

      # @return [Integer] that were seen
      def seen_count = @logs.sum(&:size)

      # @param samples [Samples] of one process, with threads and instants
      # @param log [Array<Logged>] of the same
      # @return [Samples] those inside of outliers
      def inside(samples, log)
        spans = log.select { |request| reasons_by_request.key?(request) }.group_by(&:thread)
          .transform_values { |requests| requests.sort_by(&:began_ns) }
        kept = samples.stacks.select { |stack| covered?(spans[stack.thread], stack.at_ns) }
        ratio = kept.sum(&:amount).fdiv([samples.stacks.sum(&:amount), 1].max)
        samples.with(stacks: kept, samples_count: samples.samples_count && (samples.samples_count * ratio).round)
      end

      private

      # A thread serves one request at a time, so that spans don't overlap.
      def covered?(spans, at_ns)
        return false unless spans && at_ns
        last = spans.bsearch_index { |span| span.began_ns > at_ns }
        span = spans[(last || spans.size) - 1] unless last == 0
        !span.nil? && at_ns <= span.ended_ns
      end

      def reasons_by_request
        @reasons_by_request ||= @logs.flatten.group_by(&:endpoint)
          .values.reject { |requests| requests.size < REQUESTS_MIN }
          .flat_map { |requests| reasons_among(requests).to_a }.to_h.compare_by_identity
      end

      def reasons_among(requests)
        tail_ns = Stats::Quantile.of(requests.map(&:wall_ns).sort, TAIL_RATIO)
        gvl_wait_ns, gc_ns = %i[gvl_wait_ns gc_ns].map { |field| limit(requests.map(&field)) }
        requests.to_h { |request|
          [request, [
            *("tail" if request.wall_ns > tail_ns),
            *("gvl wait" if far_out?(request, request.gvl_wait_ns, gvl_wait_ns)),
            *("gc" if far_out?(request, request.gc_ns, gc_ns))
          ]]
        }.reject { |_, reasons| reasons.empty? }
      end

      def far_out?(request, ns, limit_ns) = ns > limit_ns && ns > request.wall_ns * LEAST_SHARE_RATIO

      def limit(numbers)
        low, high = [0.25, 0.75].map { |ratio| Stats::Quantile.of(numbers.sort, ratio) }
        high + FAR_OUT * (high - low)
      end
    end
  end
end
