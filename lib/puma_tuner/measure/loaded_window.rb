# frozen_string_literal: true

module PumaTuner
  module Measure
    # One window filled by us: starts the app with the probe, warms it up, measures while requests are sent.
    class LoadedWindow
      # @param command [Host::Command]
      # @param traffic [Load::Traffic]
      # @param topology [Topology, nil] nil: the command's own
      # @param locks [Boolean] whether locks and pools are watched, which a simulation of other thread counts needs
      def initialize(command:, traffic:, warmup_s:, duration_s:, boot_limit_s:, topology: nil, locks: true)
        @command = command
        @traffic = traffic
        @topology = topology
        @warmup_s = warmup_s
        @duration_s = duration_s
        @boot_limit_s = boot_limit_s
        @locks = locks
      end

      # @yieldparam what [String] has happened
      # @yieldparam left_s [Float] seconds that the rest should take
      # @return [Observation]
      # @raise [VoidMeasurement] when an answer was not as expected
      def call
        Host::ServerProcess.run(@command, topology: @topology, measure: true, locks: @locks, boot_limit_s: @boot_limit_s) do |server|
          yield("the app serves, #{Units.duration(server.boot_ns)} after its start", @warmup_s + @duration_s) if block_given?
          collector = Collector.new(server, command: @command.to_s)
          began_s = now_s
          Load::FirstAnswer.of(@traffic, server.url, duration_s: @warmup_s).insist_on_expected_answers
          # What a load takes besides its duration: until each client has been answered, and for the last answers.
          yield("it is warm", @duration_s + [now_s - began_s - @warmup_s, 0].max) if block_given?
          collector.begin_window
          outcome = @traffic.send_to(server.url, duration_s: @duration_s).insist_on_expected_answers
          collector.end_window(load: LoadSummary.of(outcome, @traffic.arrivals))
        end
      end

      private

      def now_s = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
