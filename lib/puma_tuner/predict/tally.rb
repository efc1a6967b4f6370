# frozen_string_literal: true

module PumaTuner
  module Predict
    # Counts answers: first those of the warm-up, whose only use is to fill the queues, then those that make the outcome.
    class Tally
      # @param overhead_cpu_ns [Integer] Puma's, for every request
      def initialize(warm_up_count:, requests_count:, workers_count:, overhead_cpu_ns:)
        @left_to_warm_up_count = warm_up_count
        @requests_count = requests_count
        @overhead_cpu_ns = overhead_cpu_ns
        @worker_counts = Array.new(workers_count, 0)
        @started_ns = 0
        @latencies_ns = []
        @gvl_wait_ns = @queue_ns = @cpu_ns = 0
      end

      # @param request [Request] answered now
      def count(request, now_ns)
        return warm_up(now_ns) if @left_to_warm_up_count.positive?
        @latencies_ns << now_ns - request.sent_ns
        @gvl_wait_ns += request.gvl_wait_ns
        @queue_ns += request.queue_ns
        @cpu_ns += request.demand.cpu_ns + @overhead_cpu_ns
        @worker_counts[request.connection.worker_index] += 1
        @ended_ns = now_ns
      end

      def full? = @latencies_ns.size >= @requests_count

      # @return [Outcome]
      def outcome
        count = @latencies_ns.size
        duration_ns = @ended_ns - @started_ns
        Outcome.new(duration_ns:, latencies_ns: @latencies_ns.sort.freeze, gvl_wait_ns: @gvl_wait_ns.fdiv(count),
          queue_ns: @queue_ns.fdiv(count), cores_used: @cpu_ns.fdiv(duration_ns),
          worker_ratios: @worker_counts.map { |worker_count| worker_count.fdiv(count) }.freeze)
      end

      private

      def warm_up(now_ns)
        @left_to_warm_up_count -= 1
        @started_ns = now_ns
      end
    end
  end
end
