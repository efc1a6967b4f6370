# frozen_string_literal: true

# `plugin :puma_tuner_exporter` in puma.rb. Puma finds this file by its path.

require "puma/plugin"
require "puma_tuner/probe"

Puma::Plugin.create do
  # Puma calls it at the `plugin` line, in the process that forks the workers. A server starts whatever the variables
  # hold: they may be changed where nobody sees it start.
  def config(_dsl)
    labels = ENV.fetch("PUMA_TUNER_EXPORTER_LABELS", "").split(",").to_h do |pair|
      name, value = pair.split("=", 2).map(&:strip)
      value or raise PumaTuner::UsageError, "PUMA_TUNER_EXPORTER_LABELS: #{pair.inspect} has no value; " \
        "write service=shop,yjit=on"
      [name, value]
    end
    PumaTuner.export(ENV.fetch("PUMA_TUNER_EXPORTER", "tcp://127.0.0.1:9394"), labels:)
  rescue PumaTuner::UsageError => error
    PumaTuner::Probe.say("nothing is exported: #{error.message}")
  end
end
