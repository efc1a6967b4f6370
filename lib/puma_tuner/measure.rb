# frozen_string_literal: true

module PumaTuner
  # A running app -> Probe::Observation. Numbers, no opinions.
  #
  # The probe runs inside the server (probe/, a gem of its own), and leaves a ledger per process. This stage starts the
  # server with it, sends the load, and reads the ledgers.
  module Measure
    PumaTuner.autoload_folder(self, "#{__dir__}/measure", collector: %i[Collector LateWindow])
  end
end
