# frozen_string_literal: true

require_relative "steps"

run ValidationSteps.app(ENV.fetch("VALIDATION_STEPS"), turns_per_ms: Integer(ENV.fetch("VALIDATION_TURNS_PER_MS")))
