# frozen_string_literal: true

# Finds the processes of exporters.
module Exporters
  # @param leader_pid [Integer] of the process that leads the server
  # @return [Integer, nil]
  def self.pid_of(leader_pid)
    PumaTuner::Probe::Processes.ids.find { |pid| PumaTuner::Probe::Processes.command_line(pid) == "puma_tuner exporter of #{leader_pid}" }
  end
end
