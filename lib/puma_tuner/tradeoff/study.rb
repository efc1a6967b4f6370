# frozen_string_literal: true

module PumaTuner
  module Tradeoff
    # One variant's place between CPU and memory.
    #
    # settings: as they would be set for good, a line each; empty for the baseline
    # cpu_ratio, memory_ratio: over the baseline, 95% each, of CPU per request and of the sum of PSS at equal requests
    #   served; nil of the baseline, and where no round could tell
    # cpu_per_request_ns, pss_bytes, p99_ns: middle and range of the rounds; nil where unknown
    # code_bytes: of machine code, in the largest process; code_ratio: of the limit at which YJIT stops compiling
    # new_code_ratio: of what YJIT has compiled in the end, how much came during the load
    # growth_ratio: of its memory at the end, how much came in the last third of the load
    # pareto_optimal: whether no other variant is better in both; dominated: whether one is clearly so, by both
    #   intervals
    # remarks: sentences
    Point = Document.define(:variant, :settings, :cpu_ratio, :memory_ratio, :cpu_per_request_ns, :pss_bytes,
      :p99_ns, :code_bytes,
      :code_ratio, :new_code_ratio, :growth_ratio, :pareto_optimal, :dominated, :remarks,
      renamed: {pareto_optimal: "front", dominated: "beaten"},
      nested: {cpu_ratio: Stats::Estimate, memory_ratio: Stats::Estimate, cpu_per_request_ns: Stats::Estimate,
               pss_bytes: Stats::Estimate, p99_ns: Stats::Estimate}) do
      def initialize(new_code_ratio: nil, **fields) = super

      # @return [Float] over the baseline, 1 of itself
      def cpu = cpu_ratio&.value || 1.0

      # @return [Float] over the baseline, 1 of itself
      def memory = memory_ratio&.value || 1.0
    end

    # The effect of a menu of settings on an app.
    #
    # subject: "yjit", "malloc" or "gc"; points: the baseline first
    # recommended: name of a variant; reason: a sentence
    # workers_count: for which the memory is estimated; memory_limit_bytes: that must hold for them, nil without one
    # estimated_bytes: {variant => for so many workers, at most: pages that they would share are counted for each}
    # verdict: what the rounds showed
    Study = Document.define(:subject, :points, :recommended, :reason, :workers_count, :memory_limit_bytes,
      :estimated_bytes, :verdict,
      kind: :tradeoff, nested: {points: [Point], verdict: Prove::Verdict}) do
      # @return [Point]
      def baseline = points.first

      # @return [Point]
      # @raise [KeyError] where somebody has changed the one or the other
      def recommended_point
        points.find { |point| point.variant == recommended } or raise KeyError, "there is no point #{recommended}"
      end

      # @return [Array<Point>] from the least memory to the most
      def pareto_front = points.select(&:pareto_optimal).sort_by(&:memory)
    end
  end
end
