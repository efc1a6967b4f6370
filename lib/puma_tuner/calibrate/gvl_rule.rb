# frozen_string_literal: true

module PumaTuner
  module Calibrate
    # Finds how this Ruby hands over the GVL by watching it, and not by its version, as builds are patched
    # (ruby/ruby#15840 in builds of 3.3 to 4.0).
    #
    # Beside a thread that never rests, another makes calls that let go of the GVL for a microsecond. Under the rule
    # "first come, first served" it returns once for each time slice, 9.9 times a second. Where it may take the GVL back
    # before its successor has begun, it returns thousands of times. It does so, too, where anybody may take it
    # (barging, 3.1 and 3.2); but there one who has slept also gets it before a slice is over, now and then, and where
    # only a call just made counts (hot, 4.1) never.
    module GvlRule
      DURATION_S = 0.5

      # A judgement, between 9.9 and the 860 to 71,000 that were measured (simulation by docs/internals/prediction.md).
      FIFO_MAX_PER_S = 100

      module_function

      # @param tick [Sample] see Tick: waits of one who has slept
      # @param ruby [String] path of the executable
      # @return [Array(String, Float)] "fifo", "barging" or "hot", and how often it returned in a second
      def call(tick, duration_s: DURATION_S, ruby: RbConfig.ruby)
        count, duration_ns = FreshRuby.numbers("PumaTuner::Calibrate::GvlRule.returns(#{duration_s})",
          expected_s: duration_s, ruby:)
        returns_per_s = count * Units::NS_PER_S.fdiv(duration_ns)
        [of(returns_per_s, tick.values_ns.first), returns_per_s]
      end

      # @param returns_per_s [Numeric]
      # @param least_tick_ns [Integer] a tenth of the shortest wait of one who has slept
      # @return [String]
      def of(returns_per_s, least_tick_ns)
        return "fifo" if returns_per_s <= FIFO_MAX_PER_S
        (least_tick_ns < Units::NS_PER_MS) ? "barging" : "hot"
      end

      # Runs in the fresh process.
      # @return [Array(Integer, Integer)] how often the thread returned, and in how many nanoseconds
      def returns(duration_s)
        # This is not `loop`, which is a block, and has a method of its own.
        spinner = Thread.new { nil while true } # standard:disable Style/InfiniteLoop
        File.open("/dev/zero", "rb") do |zero|
          count = 0
          began_ns = Clock.now_ns
          until_ns = began_ns + (duration_s * Units::NS_PER_S).round
          while Clock.now_ns < until_ns
            zero.sysread(1)
            count += 1
          end
          [count, Clock.now_ns - began_ns]
        end
      ensure
        spinner&.kill&.join
      end
    end
  end
end
