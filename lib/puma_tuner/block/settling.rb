# frozen_string_literal: true

module PumaTuner
  module Block
    # Warms a block up, window by window, until it is steady or the limit is reached.
    class Settling
      WINDOW_NS = 300_000_000

      # The gauges are read so often before the first window, that YJIT is done with them: else it would see its own
      # compiling of them as the block's.
      REHEARSALS_COUNT = 200

      # @return [Array<Array(Integer, Integer, Integer)>] iterations so far, PSS and RSS bytes, after each window
      attr_reader :memory

      # @param repetition [Repetition]
      def initialize(repetition, limit_ns:)
        @repetition = repetition
        @limit_ns = limit_ns
        @windows = []
        @memory = []
      end

      # @return [Hash] Warmup's fields
      def call
        REHEARSALS_COUNT.times { Probe::Gauges.read }
        began_ns = Clock.now_ns
        loop do
          @windows << window
          note_memory
          complaint = Steadiness.complaint(@windows)
          duration_ns = Clock.now_ns - began_ns
          return summary(complaint, duration_ns) if complaint.nil? || duration_ns >= @limit_ns
        end
      end

      private

      def window
        calls_before = @repetition.calls_count
        iterations_before = @repetition.iterations_count
        before = Probe::Gauges.read
        cpu_before_ns = Clock.cpu_ns
        @repetition.for(WINDOW_NS)
        Steadiness::Window.new(cpu_ns: Clock.cpu_ns - cpu_before_ns,
          iterations_count: @repetition.iterations_count - iterations_before, calls_before:, before:,
          after: Probe::Gauges.read)
      end

      def note_memory
        memory = Probe::Processes.memory("self")
        @memory << [@repetition.iterations_count, memory[:pss_bytes], memory[:rss_bytes]] if memory.values.all?
      end

      def summary(complaint, duration_ns)
        {
          steady: complaint.nil?, reason: complaint, windows_count: @windows.size, duration_ns:,
          requests_count: @repetition.iterations_count,
          cpu_per_request_ns: @windows.map { |window| window.cpu_per_iteration_ns.round }
        }
      end
    end
  end
end
