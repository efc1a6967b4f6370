# frozen_string_literal: true

module PumaTuner
  module Calibrate
    # A pool thread's CPU for a request outside of what is recorded of it: looking whether the client has sent more,
    # giving it back to the reactor, taking the next. Needs the probe in the server, and so a server of its own.
    class Tail
      WARMUP_S = 0.5
      DURATION_S = 2.0
      BOOT_LIMIT_S = 30

      # The remainder is counted on both sides by clocks that are read at other instants.
      # @param observation [Probe::Observation]
      # @return [Integer] nanoseconds for each request
      # @raise [InvalidMeasurement] when CPU time is not known
      def self.of(observation)
        observation.tail_cpu_ns or
          raise InvalidMeasurement, "the CPU time of Puma's threads is not available " \
            "here: #{observation.why_no_extension}"
      end

      def initialize(duration_s: DURATION_S)
        @duration_s = duration_s
      end

      # @return [Float] seconds
      def self.expected_s = WARMUP_S + DURATION_S + 1

      # @return [Array(Integer, Integer)] nanoseconds, and of how many requests
      def call
        EmptyApp.command do |command|
          observation = Measure::LoadedWindow.new(command:, traffic: EmptyApp.traffic(*PumaCpu.through_the_reactor),
            topology: EmptyApp::TOPOLOGY, warmup_s: WARMUP_S, duration_s: @duration_s, boot_limit_s: BOOT_LIMIT_S,
            locks: false).call
          [self.class.of(observation), observation.requests_count]
        end
      end
    end
  end
end
