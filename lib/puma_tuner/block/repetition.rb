# frozen_string_literal: true

module PumaTuner
  module Block
    # Repeats a block, in batches of about a millisecond, as reading the clock around each iteration would be measured
    # with it. Allocates nothing while it does.
    class Repetition
      BATCH_NS = 1_000_000

      # Nothing takes less than a tenth of a nanosecond; a block that seems to does not repeat itself as it is told to.
      BATCH_MAX = 10_000_000

      # @return [Integer] iterations so far
      attr_reader :iterations_count

      # @return [Integer] how often the block was called: as often as it was repeated, unless it repeats itself
      attr_reader :calls_count

      # @param body [Proc] one that takes an argument is given the number of iterations to run by itself
      def initialize(body)
        @body = body
        @repeats_itself = body.parameters.any? { |kind, _| %i[req opt rest].include?(kind) }
        @batch = 1
        @iterations_count = 0
        @calls_count = 0
      end

      # @param count [Integer] iterations
      # @return [void]
      def repeat(count)
        if @repeats_itself
          @body.call(count)
          @calls_count += 1
        else
          call_often(count)
          @calls_count += count
        end
        @iterations_count += count
      end

      # @param duration_ns [Integer] at least; the batch under way is finished
      # @return [Integer] nanoseconds that it took
      def for(duration_ns)
        began_ns = last_ns = clock_ns
        while last_ns - began_ns < duration_ns
          repeat(@batch)
          now_ns = clock_ns
          adapt(now_ns - last_ns)
          last_ns = now_ns
        end
        last_ns - began_ns
      end

      private

      # `while`, because `times` would call a block of its own for each.
      def call_often(count)
        body = @body
        while count > 0
          body.call
          count -= 1
        end
      end

      def adapt(took_ns)
        if took_ns < BATCH_NS / 2 && @batch < BATCH_MAX
          @batch *= 2
        elsif took_ns > BATCH_NS * 2 && @batch > 1
          @batch /= 2
        end
      end

      def clock_ns = Clock.now_ns
    end
  end
end
