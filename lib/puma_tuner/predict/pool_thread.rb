# frozen_string_literal: true

module PumaTuner
  module Predict
    # One thread of a worker's pool, going through the bursts and waits of one request after the other.
    #
    # Puma's own work on a request goes before the app's first burst and is one with it: there the pool thread does most
    # of it, and it does not let go of the GVL in between (Puma source, 8.0).
    class PoolThread
      # @param worker [Worker] told of answers, and asked for the next request
      def initialize(worker, timeline, gvl, overhead_cpu_ns)
        @worker = worker
        @timeline = timeline
        @gvl = gvl
        @overhead_cpu_ns = overhead_cpu_ns
        @on_wait_over = method(:want_gvl)
      end

      # @param request [Request]
      def serve(request)
        request.queue_ns = @timeline.now_ns - request.sent_ns
        @request = request
        @bursts_ns = request.demand.bursts_ns
        @waits_ns = request.demand.waits_ns
        @index = 0
        @left_ns = @overhead_cpu_ns + @bursts_ns[0]
        want_gvl
      end

      # Called by the GVL: it is ours.
      def run
        @request.gvl_wait_ns += @timeline.now_ns - @wanted_ns
        @timeline.compute(self, @left_ns)
      end

      # Called by the GVL: the slice is over, the GVL keeps us in line.
      def preempt
        @left_ns = @timeline.interrupt(self)
        @wanted_ns = @timeline.now_ns
      end

      # Called by the timeline.
      def burst_ended
        wait_ns = @waits_ns[@index]
        return answer unless wait_ns
        @index += 1
        @left_ns = @bursts_ns[@index]
        @gvl.release
        @timeline.after(wait_ns, @on_wait_over)
      end

      private

      def want_gvl
        @wanted_ns = @timeline.now_ns
        @gvl.want(self)
      end

      # The answer leaves while the thread still has the GVL. Then the thread lets go, because Puma looks whether the
      # connection has sent more, and that look releases the GVL even if there is nothing to wait for (Puma source, since
      # 7.0.3). Without that release a thread would serve request after request while others wait for a whole slice.
      def answer
        @worker.answered(@request)
        @gvl.release
        @worker.next_for(self)
      end
    end
  end
end
