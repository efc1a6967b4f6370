# frozen_string_literal: true

module PumaTuner
  module Predict
    # What one simulation showed, after its warm-up.
    #
    # latencies_ns: of every request counted, ascending; gvl_wait_ns, queue_ns: mean per request
    # cores_used: mean number of cores that the workers kept busy
    # worker_ratios: each worker's share of the requests counted
    Outcome = Data.define(:duration_ns, :latencies_ns, :gvl_wait_ns, :queue_ns, :cores_used, :worker_ratios) do
      # @return [Float]
      def throughput_per_s = latencies_ns.size.fdiv(duration_ns) * Units::NS_PER_S

      # @return [Float]
      def mean_ns = latencies_ns.sum.fdiv(latencies_ns.size)

      # @param ratio [Float] 0..1
      # @return [Numeric]
      def quantile_ns(ratio) = Stats::Quantile.of(latencies_ns, ratio)
    end
  end
end
