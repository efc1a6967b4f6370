# frozen_string_literal: true

module PumaTuner
  # Statistics: pure functions and values, knowing nothing of requests, Puma or time.
  module Stats
    autoload :Estimate, "puma_tuner/stats/estimate"
    autoload :Histogram, "puma_tuner/stats/histogram"
    autoload :PairedRatio, "puma_tuner/stats/paired_ratio"
    autoload :Quantile, "puma_tuner/stats/quantile"
  end
end
