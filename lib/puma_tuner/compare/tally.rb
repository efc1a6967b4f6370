# frozen_string_literal: true

module PumaTuner
  module Compare
    # What was asked for in each span of time, and how long it took, added up: a log of any length takes as much memory
    # as its endpoints and SPANS_MAX spans need. Spans get longer as the log does; which they are depends on no order of
    # its lines, and one begins wherever the clock (UTC) shows a multiple of its length.
    class Tally
      # Each divides the next.
      LENGTHS_S = [1, 5, 10, 30, 60, 300, 600, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400].freeze
      SPANS_MAX = 480

      # Without a request for longer than this, a log is taken to have a gap.
      GAP_S = 3_600

      # More are counted together: paths of a scheme that can't be seen through must not fill the memory.
      ENDPOINTS_MAX = 1_000

      # One endpoint in one span.
      #
      # count: requests that took sum_ns together; buckets: {Probe::Histogram's bucket => how many of them}
      # refused_count, failed_count: besides, with a status of 400 and more, and of 500 and more
      Cell = Struct.new(:count, :sum_ns, :buckets, :refused_count, :failed_count) do
        def self.empty = new(0, 0, {}, 0, 0)

        # @param other [Cell]
        # @return [self]
        def add(other)
          self.count += other.count
          self.sum_ns += other.sum_ns
          self.refused_count += other.refused_count
          self.failed_count += other.failed_count
          other.buckets.each { |bucket, count| buckets[bucket] = buckets.fetch(bucket, 0) + count }
          self
        end

        # @return [Integer] all requests
        def requests_count = count + refused_count + failed_count
      end

      # @return [Integer] seconds that a span lasts
      attr_reader :span_s

      # @return [Integer, nil] of the first and of the last request, since the epoch
      attr_reader :first_ns, :last_ns

      # @return [Hash{String => Hash{Integer => Cell}}] by endpoint, and by the number of the span since the epoch
      attr_reader :cells

      # @param random [Random]
      # @param resolution_ns [Integer] of the times: where within it one was is drawn
      def initialize(random:, resolution_ns:)
        @random = random
        @resolution_ns = resolution_ns
        @span_s = LENGTHS_S.first
        @cells = {}
        @spans = {}
      end

      # @param endpoint [String]
      # @param at_ns [Integer] since the epoch
      # @param took_ns [Integer, nil] nil of one with an error
      # @param status [Integer, nil]
      # @return [void]
      def add(endpoint, at_ns:, took_ns:, status:)
        cell = cell(endpoint, at_ns)
        if status && status >= 500 then cell.failed_count += 1
        elsif status && status >= 400 then cell.refused_count += 1
        else
          cell.count += 1
          cell.sum_ns += took_ns
          bucket = Probe::Histogram.bucket_of([took_ns + @random.rand(@resolution_ns) - @resolution_ns / 2, 0].max)
          cell.buckets[bucket] = cell.buckets.fetch(bucket, 0) + 1
        end
      end

      # @return [Array<Integer>] numbers of the spans with any request, ascending
      def spans = @spans.keys.sort

      # A span without a request counts as well, as nothing came then. A longer gap is time that the log is not of.
      #
      # @return [Array<Integer>] numbers of all spans that the log covers, ascending
      def covered
        spans.each_cons(2).flat_map do |one, following|
          ((following - one) * @span_s > GAP_S) ? [one] : [*one...following]
        end.push(*spans.last)
      end

      # @return [Boolean] whether the next longer spans are so many in a day that hours can be told apart
      def wider_within_a_day?
        wider = LENGTHS_S[LENGTHS_S.index(@span_s) + 1]
        !wider.nil? && wider * Pairing::BLOCKS_MIN <= LENGTHS_S.last
      end

      # @return [void]
      def widen_by_one
        wider = LENGTHS_S[LENGTHS_S.index(@span_s) + 1] or
          raise UsageError, "it tells of more than #{SPANS_MAX} days; take those that are to be compared"
        widen(wider)
      end

      # @param span_s [Integer] one of LENGTHS_S
      # @return [void]
      def widen(span_s)
        factor = span_s / @span_s
        return if factor == 1
        @cells.transform_values! do |by_span|
          by_span.each_with_object({}) do |(span, cell), wider|
            known = wider[span / factor]
            known ? known.add(cell) : wider[span / factor] = cell
          end
        end
        @spans = @spans.keys.to_h { |span| [span / factor, true] }
        @span_s = span_s
      end

      # @return [Integer]
      def requests_count = @cells.values.sum { |by_span| by_span.values.sum(&:requests_count) }

      private

      def cell(endpoint, at_ns)
        @first_ns = at_ns if @first_ns.nil? || at_ns < @first_ns
        @last_ns = at_ns if @last_ns.nil? || at_ns > @last_ns
        span = at_ns / (@span_s * Units::NS_PER_S)
        endpoint = Probe::Endpoint::OTHER if @cells.size >= ENDPOINTS_MAX && !@cells.key?(endpoint)
        by_span = (@cells[endpoint] ||= {})
        by_span[span] || begin
          @spans[span] = true
          by_span[span] = Cell.empty
          widen_by_one while @spans.size > SPANS_MAX
          by_span = @cells[endpoint]
          by_span[at_ns / (@span_s * Units::NS_PER_S)]
        end
      end
    end
  end
end
