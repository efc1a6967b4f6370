# frozen_string_literal: true

# RUBYOPT loads this file into every Ruby process that a measured command starts. Most of them are no server, so until
# Puma appears it only listens; and it loads no gem, as the app's own versions are not chosen yet.

# This line and the next few must be understood by any Ruby.
if RUBY_ENGINE == "ruby" && RUBY_VERSION < "3.3"
  abort("puma_tuner: this app runs on Ruby #{RUBY_VERSION}; " \
    "only Ruby 3.3 and newer report waits for the GVL. Run the app on a newer Ruby to measure it.")
end

require "puma_tuner/probe"

# Without a command of ours, somebody has set RUBYOPT to have the server recorded.
alone = !ENV.key?("PUMA_TUNER_DIRECTORY")
PumaTuner::Probe::Extension.provide if ENV["PUMA_TUNER_MEASURE"] || ENV["PUMA_TUNER_METER"] || alone
PumaTuner::Probe::YjitOff.install if ENV[PumaTuner::Probe::YjitOff::VARIABLE]
alone ? PumaTuner::Probe.start(way_in: "autorun") : PumaTuner::Probe::Launch.install
if ENV["PUMA_TUNER_METER"]
  # These methods are named here, and so loaded now: a process that is asked must not load anything.
  PumaTuner::Probe::SignalQueries.install(ENV.fetch("PUMA_TUNER_DIRECTORY"),
    "gauges" => PumaTuner::Probe::Gauges.method(:read), "fingerprint" => PumaTuner::Probe::Fingerprint.method(:read),
    "queries" => PumaTuner::Probe::ActiveRecordQueries.method(:read),
    "probe" => -> { PumaTuner::Probe.start_late(directory: ENV.fetch("PUMA_TUNER_DIRECTORY")) },
    **(ENV["PUMA_TUNER_PROFILE"] ? PumaTuner::Probe::Profiling.orders : {}))
end
PumaTuner::Probe::Profiling.orders if ENV["PUMA_TUNER_PROFILE"] && !ENV["PUMA_TUNER_METER"]
if ENV["PUMA_TUNER_MEASURE"]
  PumaTuner::Probe::ActiveRecordQueries.wanted = ENV.key?("PUMA_TUNER_METER")
  PumaTuner::Probe.start(directory: ENV.fetch("PUMA_TUNER_DIRECTORY"), way_in: "command",
    locks: ENV["PUMA_TUNER_LOCKS"] == "1")
end
