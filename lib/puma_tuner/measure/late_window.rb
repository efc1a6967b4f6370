# frozen_string_literal: true

module PumaTuner
  module Measure
    # A window of a server that was started without the probe: it is put in now,
    # after all that must not be touched by it has been measured.
    module LateWindow
      # @param server [Host::ServerProcess] whose processes can be asked
      # @param meter [Host::SignalQuery]
      # @yield sends load
      # @return [Observation, nil] nil of a server that is no Puma, or can't be looked into
      def self.call(server, meter)
        return unless server.topology
        replies = meter.call("probe", server.serving_pids)
        return if replies.size < server.serving_pids.size || replies.values.any?
        collector = Collector.new(server, command: "")
        collector.begin_window
        yield
        collector.end_window
      rescue InvalidMeasurement
        nil # no request was seen: then there is nothing to tell
      end
    end
  end
end
