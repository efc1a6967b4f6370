# frozen_string_literal: true

module PumaTuner
  # Many servers at once, by what the exporter told a Prometheus-compatible server over days: two groups of them, or two
  # periods, held against each other; and which services could do with less.
  #
  # It stands beside the stages. Prometheus (HTTP) and Queries (PromQL) bring Spans, the hours of a group; Comparer
  # makes a Comparison of two lists of them, with what stats/ has; Reader joins all.
  module Fleet
    PumaTuner.autoload_folder(self, "#{__dir__}/fleet", comparison: %i[Comparison Group MixShift Mover Row Service],
      mix_comparer: %i[MixComparer Shares])

    # Prometheus gave no response, or none that can be used: the message says which, and what to do.
    class Unanswered < MeasurementFailed; end
  end
end
