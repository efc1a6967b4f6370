# frozen_string_literal: true

# `plugin :puma_tuner_exporter` in puma.rb. Puma finds this file by its path.

require "puma/plugin"
require "puma_tuner/probe"

Puma::Plugin.create do
  # Puma calls it at the `plugin` line, in the process that forks the workers.
  def config(_dsl)
    labels = ENV.fetch("PUMA_TUNER_EXPORTER_LABELS", "").split(",").to_h { |pair| pair.split("=", 2).map(&:strip) }
    PumaTuner.export(ENV.fetch("PUMA_TUNER_EXPORTER", "tcp://127.0.0.1:9394"), labels:)
  end
end
