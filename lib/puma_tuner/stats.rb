# frozen_string_literal: true

module PumaTuner
  # Statistics: pure functions and values, knowing nothing of requests, Puma or time.
  module Stats
    autoload :Ancova, "puma_tuner/stats/ancova"
    autoload :Attainment, "puma_tuner/stats/attainment"
    autoload :BlockBootstrap, "puma_tuner/stats/block_bootstrap"
    autoload :Estimate, "puma_tuner/stats/estimate"
    autoload :Holm, "puma_tuner/stats/holm"
    autoload :IncompleteBeta, "puma_tuner/stats/incomplete_beta"
    autoload :PairedRatio, "puma_tuner/stats/paired_ratio"
    autoload :PairsWanted, "puma_tuner/stats/pairs_wanted"
    autoload :PermutationTest, "puma_tuner/stats/permutation_test"
    autoload :Quantile, "puma_tuner/stats/quantile"
    autoload :RateRatio, "puma_tuner/stats/rate_ratio"
    autoload :SignedRank, "puma_tuner/stats/signed_rank"
    autoload :MinimumDetectableEffect, "puma_tuner/stats/minimum_detectable_effect"
    autoload :StudentRatio, "puma_tuner/stats/student_ratio"
    autoload :StudentT, "puma_tuner/stats/student_t"
    autoload :Wilson, "puma_tuner/stats/wilson"
  end
end
