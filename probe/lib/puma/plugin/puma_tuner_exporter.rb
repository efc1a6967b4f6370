# frozen_string_literal: true

# `plugin :puma_tuner_exporter` in puma.rb. Puma finds this file by its path.

require "puma/plugin"
require "puma_tuner/probe"

Puma::Plugin.create do
  # Puma calls it at the `plugin` line, in the process that forks the workers. A server starts whatever the variables
  # hold: they may be changed where nobody sees it start.
  def config(_dsl)
    # Where no locale is set, what is beyond ASCII in them is broken text for Ruby.
    address, text = {"PUMA_TUNER_EXPORTER" => "tcp://127.0.0.1:9394", "PUMA_TUNER_EXPORTER_LABELS" => ""}
      .map { |name, usual| ENV.fetch(name, usual).dup.force_encoding(Encoding::UTF_8) }
    labels = text.scrub.split(",").to_h do |pair|
      name, value = pair.split("=", 2).map(&:strip)
      value or raise PumaTuner::UsageError, "PUMA_TUNER_EXPORTER_LABELS: #{pair.inspect} has no value; " \
        "write service=shop,yjit=on"
      [name, value]
    end
    PumaTuner.export(address, labels:)
  rescue PumaTuner::UsageError => error
    PumaTuner::Probe.say("nothing is exported: #{error.message}")
  end
end
