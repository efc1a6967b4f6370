# frozen_string_literal: true

module PumaTuner
  # Variants -> Verdict: real processes, the same load, interleaved rounds, an honest interval.
  #
  # - What is compared: variant; what it may differ in: factors; how people write it: variant_parser; what makes it
  #   ready: preparation.
  # - How a proof comes about: setup.
  # - What a proof does: proof, calibration, time_limit; rounds (kept by journal) of trials, each by a trial_runner (of
  #   a served app) or a block_runner (of a block of Ruby).
  # - What happens in a trial: trial_run, memory_curve, conditions, validity_checks; in a round: disturbance.
  # - What ran: what_ran, declaration_check.
  # - What may be said of it: judge (paired_values, equal_memory, cells, outcome), looks, noise_floor, expectations.
  # - What follows from a verdict: finding, cause.
  module Prove
    autoload :BlockRunner, "puma_tuner/prove/block_runner"
    autoload :Bundle, "puma_tuner/prove/bundle"
    autoload :Calibration, "puma_tuner/prove/calibration"
    autoload :Cause, "puma_tuner/prove/cause"
    autoload :CausePart, "puma_tuner/prove/cause"
    autoload :Cell, "puma_tuner/prove/verdict"
    autoload :Cells, "puma_tuner/prove/cells"
    autoload :Checkout, "puma_tuner/prove/checkout"
    autoload :Comparison, "puma_tuner/prove/verdict"
    autoload :Conditions, "puma_tuner/prove/conditions"
    autoload :DeclarationCheck, "puma_tuner/prove/declaration_check"
    autoload :Disturbance, "puma_tuner/prove/disturbance"
    autoload :Disturbed, "puma_tuner/prove/verdict"
    autoload :EqualMemory, "puma_tuner/prove/equal_memory"
    autoload :Expectation, "puma_tuner/prove/verdict"
    autoload :ExpectationCheck, "puma_tuner/prove/expectation_check"
    autoload :Expectations, "puma_tuner/prove/expectations"
    autoload :Factors, "puma_tuner/prove/factors"
    autoload :Failure, "puma_tuner/prove/verdict"
    autoload :Finding, "puma_tuner/prove/finding"
    autoload :Journal, "puma_tuner/prove/journal"
    autoload :Judge, "puma_tuner/prove/judge"
    autoload :ValidityChecks, "puma_tuner/prove/validity_checks"
    autoload :Looks, "puma_tuner/prove/looks"
    autoload :MemoryCurve, "puma_tuner/prove/memory_curve"
    autoload :Metric, "puma_tuner/prove/metric"
    autoload :Named, "puma_tuner/prove/named"
    autoload :Noise, "puma_tuner/prove/verdict"
    autoload :NoiseFloor, "puma_tuner/prove/noise_floor"
    autoload :Outcome, "puma_tuner/prove/outcome"
    autoload :PairedValues, "puma_tuner/prove/paired_values"
    autoload :Preload, "puma_tuner/prove/preload"
    autoload :Preparation, "puma_tuner/prove/preparation"
    autoload :Proof, "puma_tuner/prove/proof"
    autoload :Rounds, "puma_tuner/prove/rounds"
    autoload :RoundsNeeded, "puma_tuner/prove/finding"
    autoload :Rubies, "puma_tuner/prove/rubies"
    autoload :Setup, "puma_tuner/prove/setup"
    autoload :TimeLimit, "puma_tuner/prove/time_limit"
    autoload :Trial, "puma_tuner/prove/verdict"
    autoload :TrialLoad, "puma_tuner/prove/verdict"
    autoload :TrialRun, "puma_tuner/prove/trial_run"
    autoload :TrialRunner, "puma_tuner/prove/trial_runner"
    autoload :Variant, "puma_tuner/prove/variant"
    autoload :VariantFailed, "puma_tuner/prove/named"
    autoload :VariantParser, "puma_tuner/prove/variant_parser"
    autoload :Verdict, "puma_tuner/prove/verdict"
    autoload :Void, "puma_tuner/prove/verdict"
  end
end
