# frozen_string_literal: true

require_relative "steps"

turns_per_ms = Integer(ENV.fetch("VALIDATION_TURNS_PER_MS"))
ValidationSteps.work_in_background(ENV["VALIDATION_BACKGROUND"], turns_per_ms:) if ENV["VALIDATION_BACKGROUND"]
run ValidationSteps.app(ENV.fetch("VALIDATION_STEPS"), turns_per_ms:)
