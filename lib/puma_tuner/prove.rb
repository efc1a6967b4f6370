# frozen_string_literal: true

module PumaTuner
  # Variants -> Verdict: real Puma processes, the same load, interleaved rounds.
  module Prove
    autoload :Cell, "puma_tuner/prove/verdict"
    autoload :Comparison, "puma_tuner/prove/verdict"
    autoload :Judge, "puma_tuner/prove/judge"
    autoload :Proof, "puma_tuner/prove/proof"
    autoload :Rounds, "puma_tuner/prove/rounds"
    autoload :Trial, "puma_tuner/prove/verdict"
    autoload :TrialRunner, "puma_tuner/prove/trial_runner"
    autoload :Variant, "puma_tuner/prove/variant"
    autoload :Verdict, "puma_tuner/prove/verdict"
  end
end
