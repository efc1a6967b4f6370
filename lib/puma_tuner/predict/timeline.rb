# frozen_string_literal: true

module PumaTuner
  module Predict
    # Simulated time: what is going on, and what comes next. It moves from one happening to the next: an event, or a burst
    # that ends. Bursts are no events, because their ends shift whenever the cores are shared out anew.
    class Timeline
      # @return [Integer]
      attr_reader :now_ns

      # @param cores_count [Numeric]
      def initialize(cores_count)
        @now_ns = 0
        @events = EventQueue.new
        @cores = Cores.new(cores_count)
      end

      # @param handler [#call] called when the time has passed
      def after(delay_ns, handler) = @events.schedule(@now_ns + delay_ns, handler)

      # @param task [#burst_ended] told when it has had its CPU time
      def compute(task, cpu_ns) = @cores.start(task, cpu_ns, @now_ns)

      # @return [Integer] nanoseconds of CPU that the task still needs
      def interrupt(task) = @cores.stop(task, @now_ns)

      # @return [Integer] when the next thing happens
      def due_ns = [@events.due_ns, @cores.due_ns].min

      # Moves to the next happening. Of a burst's end and an event at the same time, the burst's end comes first:
      # a thread that is just done is not preempted.
      def step
        event_ns = @events.due_ns
        burst_ns = @cores.due_ns
        if burst_ns <= event_ns
          @now_ns = burst_ns
          @cores.finish(burst_ns).burst_ended
        else
          @now_ns = event_ns
          @events.pop.call
        end
      end
    end
  end
end
