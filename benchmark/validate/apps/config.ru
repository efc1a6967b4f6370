# frozen_string_literal: true

require_relative "steps"

if ENV["VALIDATION_TOKENS"]
  ValidationSteps.share_tokens(ENV["VALIDATION_TOKENS"], Integer(ENV.fetch("VALIDATION_TOKENS_COUNT")))
end
turns_per_ms = Integer(ENV.fetch("VALIDATION_TURNS_PER_MS"))
ValidationSteps.work_in_background(ENV["VALIDATION_BACKGROUND"], turns_per_ms:) if ENV["VALIDATION_BACKGROUND"]
run ValidationSteps.app(ENV.fetch("VALIDATION_STEPS"), turns_per_ms:)
