# frozen_string_literal: true

module PumaTuner
  module Prove
    # Sends load until the process has settled, window by window: CPU per request is flat, YJIT has stopped compiling, the
    # heap has stopped growing. What never settles is measured all the same, and said to be "not steady".
    class WarmupRun
      # So many last windows must agree.
      WINDOWS_COUNT = 3

      # Their CPU per request may differ by this much from the first to the last of them, beyond what their spread explains.
      DRIFT_RATIO = 0.05

      # A slow server compiles a little in each window, and much in all: since the middle of the warm-up no more than this share.
      COMPILED_SINCE_HALF_RATIO = 0.03

      # Per window, of what is there already.
      COMPILED_GROWTH_RATIO = 0.01
      HEAP_GROWTH_RATIO = 0.03

      Window = Data.define(:requests_count, :cpu_per_request_ns, :compiled_count, :heap_pages_count)

      # @param window_s [Numeric]
      # @param limit_s [Numeric]
      # @yield sends load for a window
      # @yieldparam window_s [Numeric]
      # @yieldreturn [Window]
      def initialize(window_s:, limit_s:, &send_window)
        @window_s = window_s
        @limit_s = limit_s
        @send_window = send_window
      end

      # @return [Warmup]
      def call
        began_s = now_s
        windows = []
        loop do
          windows << @send_window.call(@window_s)
          return warmup(windows, began_s, nil) if windows.size >= WINDOWS_COUNT && self.class.moving(windows).empty?
          return warmup(windows, began_s, self.class.moving(windows).join(", ")) if now_s - began_s + @window_s > @limit_s && windows.size >= WINDOWS_COUNT
        end
      end

      # @param windows [Array<Window>]
      # @return [Array<String>] what still moved over the last of them
      def self.moving(windows)
        last = windows.last(WINDOWS_COUNT)
        [
          ("CPU per request" if drifts?(last.map(&:cpu_per_request_ns))),
          ("compiled code" if compiling?(windows)),
          ("the heap" if grows?(last.map(&:heap_pages_count), HEAP_GROWTH_RATIO))
        ].compact
      end

      # From the first to the last, by more than the drift allowed: falling CPU is what warming up looks like. Rising is noise,
      # or a leak, and both show elsewhere.
      def self.drifts?(values)
        return false if values.include?(nil)
        values.first > values.last * (1 + DRIFT_RATIO) && values.each_cons(2).all? { |one, next_one| next_one <= one }
      end

      def self.compiling?(windows)
        counts = windows.map(&:compiled_count)
        grows?(counts.last(WINDOWS_COUNT), COMPILED_GROWTH_RATIO) || grows?([counts[(counts.size - 1) / 2], counts.last], COMPILED_SINCE_HALF_RATIO)
      end

      def self.grows?(values, ratio)
        return false if values.include?(nil) || values.first.zero?
        values.last > values[-2] * (1 + ratio)
      end
      private_class_method :drifts?, :compiling?, :grows?

      private

      def warmup(windows, began_s, reason)
        Warmup.new(steady: reason.nil?, reason: reason && "#{reason} had not settled after #{windows.size} windows", windows_count: windows.size,
          duration_ns: ((now_s - began_s) * Units::NS_PER_S).round, requests_count: windows.sum(&:requests_count),
          cpu_per_request_ns: windows.map { |window| window.cpu_per_request_ns&.round })
      end

      def now_s = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
