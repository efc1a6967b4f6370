# frozen_string_literal: true

module PumaTuner
  module Block
    # Judges whether a process has warmed up, by its last windows.
    #
    # Load::WarmupRun does so for servers, by other evidence. Here one thread repeats the same work, gauged right before
    # and after each window: any compiling counts, and the slope of a line tells what noise would hide. A server's
    # windows differ by the requests that they happen to have, it goes on compiling a little, and its heap fills between
    # two collections: there, a figure has to move with every window. One rule for both would change when either of them
    # stops. Besides, this runs in the block's process, which loads nothing but itself.
    module Steadiness
      # One stretch of repetitions.
      #
      # calls_before: how often the block had been called when it began
      # before, after: Probe::Gauges right before and right after it, so that what we do in between is not in them
      Window = Data.define(:iterations_count, :calls_before, :cpu_ns, :before, :after) do
        # @return [Float]
        def cpu_per_iteration_ns = cpu_ns.fdiv(iterations_count)

        # @return [Integer, nil] nil where it can't be told, as without YJIT
        def growth(gauge) = after[gauge] && before[gauge] && after[gauge] - before[gauge]
      end

      # So many last windows must agree: with fewer, noise hides a slope.
      WINDOWS_COUNT = 5

      # CPU per iteration may drift by so much over them, whatever the noise.
      DRIFT_RATIO = 0.02

      # Otherwise it may drift by so many standard errors of its slope. They are fewer than for a test at 95% (3.2 with
      # five windows): waiting needlessly costs a window, stopping too early costs the trial.
      STANDARD_ERRORS_COUNT = 2

      # The heap may grow by so much over them: it takes and gives back pages all the time.
      HEAP_GROWTH_RATIO = 0.01

      # YJIT compiles a method or block at this call (up to Ruby 3.4; at the 120th in programs of 40,000 and more), and
      # nothing inside of a call that is under way. Before, a loop in a slow block looks steady, at its slowest.
      COMPILED_AT_CALL = 30

      module_function

      # @param windows [Array<Window>]
      # @return [String, nil] why not; nil when it is steady
      def complaint(windows)
        return "#{windows.size} windows are too few to tell" if windows.size < WINDOWS_COUNT
        last = windows.last(WINDOWS_COUNT)
        compiling(last) || ("the heap still grew" if heap_grows?(last)) ||
          ("CPU per iteration still changed" unless flat?(last.map(&:cpu_per_iteration_ns)))
      end

      # @param values [Array<Numeric>] evenly spaced
      # @return [Boolean] whether their line of least squares is level, as far as can be told
      def flat?(values)
        mean = values.sum.fdiv(values.size)
        middle = (values.size - 1) / 2.0
        spread = values.each_index.sum { |place| (place - middle)**2 }
        slope = values.each_with_index.sum { |value, place| (place - middle) * (value - mean) } / spread
        return true if slope.abs * (values.size - 1) <= DRIFT_RATIO * mean
        residual = values.each_with_index.sum { |value, place| (value - mean - slope * (place - middle))**2 }
        slope.abs <= STANDARD_ERRORS_COUNT * Math.sqrt(residual / (values.size - 2) / spread)
      end

      def compiling(windows)
        return unless windows.last.growth(:compiled_count)
        if windows.first.calls_before < COMPILED_AT_CALL
          return "YJIT compiles a block at its #{COMPILED_AT_CALL}th call, and that was too short ago"
        end
        "YJIT still compiled" if %i[compiled_count code_bytes]
          .any? { |gauge| windows.any? { |window| window.growth(gauge)&.positive? } }
      end

      def heap_grows?(windows)
        began, ended = windows.first.before[:heap_pages_count], windows.last.after[:heap_pages_count]
        ended - began > HEAP_GROWTH_RATIO * began
      end
    end
  end
end
