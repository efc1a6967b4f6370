# frozen_string_literal: true

# Used by bin/setup --test: the gems of the collector's ladder (labs/02-csp-collector), but for the shop's, which takes minutes.

require "puma_tuner"
require_relative "../../labs/02-csp-collector/rungs"

rungs = PumaTuner::Labs::CspRungs
factors = [*rungs::LADDER.except(rungs::MONOLITH).values, rungs::LOOP]
bundles = factors.map { |one| PumaTuner::Lab::Bundle.of(one, folder: File.expand_path("../../labs/02-csp-collector", __dir__)) }
begin
  bundles.uniq(&:to_s).each { |bundle| bundle.install(->(text) { warn "      #{text}" }) }
rescue PumaTuner::UsageError => error
  abort error.message
end
