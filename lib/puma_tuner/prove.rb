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
  # - What ran (Host::WhatRan) is held against what was declared: declaration_check.
  # - What may be said of it: judge (paired_values, cells, outcome), looks, noise_floor, expectations.
  # - What follows from a verdict: finding, cause.
  module Prove
    PumaTuner.autoload_folder(self, "#{__dir__}/prove", cause: %i[Cause CausePart],
      expectations: %i[ExpectationCheck Expectations], finding: %i[Finding RoundsNeeded],
      named: %i[Named VariantFailed], paired_values: %i[EqualMemory PairedValues],
      verdict: %i[Cell Comparison Disturbed Expectation Failure Noise Trial TrialLoad Verdict Void])
  end
end
