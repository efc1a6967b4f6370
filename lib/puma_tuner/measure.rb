# frozen_string_literal: true

module PumaTuner
  # A running app -> Probe::Observation. Numbers, no opinions.
  #
  # The probe runs inside the server (probe/, a gem of its own), and leaves a ledger per process. This stage starts the
  # server with it, sends the load, and reads the ledgers.
  module Measure
    autoload :Collector, "puma_tuner/measure/collector"
    autoload :Companions, "puma_tuner/measure/companions"
    autoload :LateWindow, "puma_tuner/measure/late_window"
    autoload :LoadedWindow, "puma_tuner/measure/loaded_window"
    autoload :Recordings, "puma_tuner/measure/recordings"
  end
end
