# frozen_string_literal: true

# Loaded by RUBYOPT into every Ruby process that a measured command starts. Most of them are no server, so until Puma
# appears this only listens; and it loads no gem, for the app's own versions are not chosen yet.

require "puma_tuner"

PumaTuner::Host::Launch.install
if ENV["PUMA_TUNER_MEASURE"]
  PumaTuner::Measure.start(agent_directory: ENV.fetch("PUMA_TUNER_DIRECTORY"), way_in: "command")
end
