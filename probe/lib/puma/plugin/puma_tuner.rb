# frozen_string_literal: true

# `plugin :puma_tuner` in puma.rb. Puma finds this file by its path.

require "puma/plugin"
require "puma_tuner/probe"

Puma::Plugin.create do
  # Puma calls it at the `plugin` line, in the process that forks the workers.
  def config(_dsl)
    PumaTuner::Probe.start(way_in: "plugin", directory: ENV["PUMA_TUNER_DIRECTORY"],
      console: {interval_s: PumaTuner::Probe::Console.interval_s, out: $stdout},
      locks: ENV["PUMA_TUNER_LOCKS"] == "1",
      resize: PumaTuner::Probe::Resize::Allowed.of(trial: PumaTuner::Probe.trial_wanted?,
        tune: PumaTuner::Probe.tune_wanted))
  end
end
