# frozen_string_literal: true

module PumaTuner
  module Fleet
    # The figures of a group in one span of its window. Values that nobody could tell are nil.
    #
    # seconds: its length; coverage_ratio: for how much of it any server was seen
    # histogram: MergedHistogram of all requests; endpoints: {name => MergedHistogram}
    # parts_s: {part of the budget => seconds}, of all requests; cpu_s: of all processes
    # memory_bytes, code_bytes: all together, on average; yjit_limited_bytes: what YJIT's limit counts, of the worker
    #   with most; yjit_limit_bytes: of the one with least
    # workers_count, threads_count, servers_count, yjit_workers_count: on average
    Span = Data.define(:seconds, :coverage_ratio, :histogram, :endpoints, :parts_s, :cpu_s, :memory_bytes,
      :worker_memory_bytes, :code_bytes,
      :yjit_limited_bytes, :yjit_limit_bytes, :yjit_workers_count, :workers_count, :threads_count, :servers_count) do
      # With less, the counts would be of too little of it.
      const_set(:COVERAGE_MIN_RATIO, 0.9)

      # @return [Float]
      def requests_count = histogram ? histogram.count : 0.0

      # @return [Boolean] whether it may be compared
      def usable? = coverage_ratio >= self.class::COVERAGE_MIN_RATIO && requests_count.positive?

      # @return [Float, nil] requests per second and worker: how hard they worked
      def load_per_s
        (workers_count&.positive? && requests_count.positive?) ? requests_count / seconds / workers_count : nil
      end
    end
  end
end
