# frozen_string_literal: true

module PumaTuner
  # Many servers at once, by what the exporter told a Prometheus-compatible server over days: two groups of them, or two
  # periods, held against each other; and which services could do with less.
  #
  # It stands beside the stages. Prometheus (HTTP) and Queries (PromQL) bring Spans, the hours of a group; Comparer
  # makes a Comparison of two lists of them, with what stats/ has; Reader joins all.
  module Fleet
    autoload :Comparer, "puma_tuner/fleet/comparer"
    autoload :Comparison, "puma_tuner/fleet/comparison"
    autoload :GroupReader, "puma_tuner/fleet/group_reader"
    autoload :Group, "puma_tuner/fleet/comparison"
    autoload :Health, "puma_tuner/fleet/health"
    autoload :Measured, "puma_tuner/fleet/measured"
    autoload :MergedHistogram, "puma_tuner/fleet/merged_histogram"
    autoload :MixComparer, "puma_tuner/fleet/mix_comparer"
    autoload :MixShift, "puma_tuner/fleet/comparison"
    autoload :Mover, "puma_tuner/fleet/comparison"
    autoload :Prometheus, "puma_tuner/fleet/prometheus"
    autoload :Queries, "puma_tuner/fleet/queries"
    autoload :Reader, "puma_tuner/fleet/reader"
    autoload :Row, "puma_tuner/fleet/comparison"
    autoload :Selector, "puma_tuner/fleet/selector"
    autoload :Service, "puma_tuner/fleet/comparison"
    autoload :ServiceReader, "puma_tuner/fleet/service_reader"
    autoload :Shares, "puma_tuner/fleet/shares"
    autoload :Span, "puma_tuner/fleet/span"
    autoload :Window, "puma_tuner/fleet/window"

    # Prometheus gave no response, or none that can be used: the message says which, and what to do.
    class Unanswered < MeasurementFailed; end
  end
end
