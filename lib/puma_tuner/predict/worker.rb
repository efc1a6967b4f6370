# frozen_string_literal: true

module PumaTuner
  module Predict
    # One Puma process as versions 7.1 to 8 serve keep-alive connections (Puma source): a connection belongs to the worker
    # that accepted it; each of its requests goes to the tail of that worker's todo list, which has no bound; the thread
    # that has waited longest takes it.
    #
    # Left out: the acceptor and the reactor as threads of their own (their CPU is in the overhead), and Puma 6, where a
    # thread stays with a connection after an answer.
    class Worker
      # @param on_answer [#call] given the request
      def initialize(timeline:, machine:, threads_count:, overhead_cpu_ns:, on_answer:)
        gvl = Gvl.new(timeline, machine)
        @idle = Array.new(threads_count) { PoolThread.new(self, timeline, gvl, overhead_cpu_ns) }
        @todo = []
        @on_answer = on_answer
      end

      # @param request [Request]
      def accept(request)
        thread = @idle.shift
        thread ? thread.serve(request) : @todo.push(request)
      end

      # Called by a thread that has sent the answer.
      def answered(request) = @on_answer.call(request)

      # Called by a thread that has nothing to do.
      def next_for(thread)
        request = @todo.shift
        request ? thread.serve(request) : @idle.push(thread)
      end
    end
  end
end
