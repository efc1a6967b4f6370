# frozen_string_literal: true

module PumaTuner
  module Calibrate
    # Measures how much more CPU a burst takes after a rest in which nobody used its core: the core has gone to sleep,
    # and others had its caches, or, on a virtual machine, the real core.
    #
    # One thread walks through its memory, as for SwitchCpu, and rests before each burst as long as a request waits for
    # a database; against it stand as many bursts without a rest. What the rest itself takes is not counted.
    module ColdCpu
      ROUNDS_COUNT = 20
      BURSTS_COUNT = 8

      # Makes a burst of 0.5 to 1 ms of 256 KiB.
      WALKS_COUNT = 5
      REST_S = 0.005
      EXPECTED_S = 1.5

      module_function

      # @param rounds_count [Integer]
      # @param ruby [String] path of the executable
      # @return [Sample] a value for each round; one below nothing is noise
      def call(rounds_count: ROUNDS_COUNT, ruby: RbConfig.ruby)
        Sample.new(values_ns: FreshRuby.numbers("PumaTuner::Calibrate::ColdCpu.extras_ns(#{Integer(rounds_count)})",
          expected_s: EXPECTED_S, ruby:))
      end

      # Runs in the fresh process.
      # @return [Array<Integer>] nanoseconds for each burst
      def extras_ns(rounds_count)
        chain = SwitchCpu.chain(SwitchCpu::MIDDLE_BYTES, 0)
        SwitchCpu.walk(chain)
        Array.new(rounds_count) { extra_ns(chain) }
      end

      def extra_ns(chain) = (cpu_ns(chain, REST_S) - cpu_ns(chain, 0)) / BURSTS_COUNT

      # @return [Integer] nanoseconds of CPU that the bursts took
      def cpu_ns(chain, rest_s) = Array.new(BURSTS_COUNT) { burst_ns(chain, rest_s) }.sum

      def burst_ns(chain, rest_s)
        sleep(rest_s) if rest_s.positive?
        began_ns = Clock.cpu_ns
        WALKS_COUNT.times { SwitchCpu.walk(chain) }
        Clock.cpu_ns - began_ns
      end
    end
  end
end
