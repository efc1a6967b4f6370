# frozen_string_literal: true

module PumaTuner
  module Measure
    # One window filled by us: starts the app with the probe, warms it up, measures while requests are sent.
    class LoadedWindow
      # What starting and stopping the app adds, about.
      BOOT_S = 1.5

      # @param command [Host::Command]
      # @param traffic [Load::Traffic]
      # @param topology [Topology, nil] nil: the command's own
      def initialize(command:, traffic:, warmup_s:, duration_s:, boot_limit_s:, topology: nil)
        @command = command
        @traffic = traffic
        @topology = topology
        @warmup_s = warmup_s
        @duration_s = duration_s
        @boot_limit_s = boot_limit_s
      end

      # @return [Float] about how long it takes
      def expected_s = BOOT_S + @warmup_s + @duration_s

      # @return [Observation]
      # @raise [VoidMeasurement] when an answer was not as expected
      def call
        Host::ServerProcess.run(@command, topology: @topology, measure: true, boot_limit_s: @boot_limit_s) do |server|
          collector = Collector.new(server, command: @command.to_s)
          send_for(@warmup_s, server)
          collector.begin_window
          outcome = send_for(@duration_s, server)
          collector.end_window(load: LoadSummary.of(outcome, @traffic.arrivals))
        end
      end

      private

      def send_for(duration_s, server) = @traffic.send_to(server.url, duration_s:).insist_on_expected_answers
    end
  end
end
