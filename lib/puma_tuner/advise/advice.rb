# frozen_string_literal: true

module PumaTuner
  module Advise
    # A change, relative to today's settings, with what it is expected to bring.
    # Without a prediction it is a remark.
    #
    # rule: the name of the rule that gave it; title, change, cost, undo:
    #   Statements; evidence: what it rests on, a Statement each
    # topology: the settings advised, nil when it is not about them
    # throughput_ratio, p50_ratio, p99_ratio: Estimates, predicted over today's
    #   predicted; nil when today's settings have no steady state, too
    # change: the options or lines to set; cost: what it takes; undo: how to go back
    Advice = Document.define(:rule, :title, :evidence, :topology, :throughput_ratio, :p50_ratio, :p99_ratio,
      :change, :cost, :undo,
      nested: {
        title: Statement, evidence: [Statement], topology: Topology, throughput_ratio: Stats::Estimate,
        p50_ratio: Stats::Estimate, p99_ratio: Stats::Estimate, change: Statement, cost: Statement, undo: Statement
      }) do
      # @return [Boolean] whether it states no effect
      def remark? = throughput_ratio.nil? && topology.nil?
    end

    # All advice from one sweep; the first with a topology is the recommendation.
    #
    # constraints: Constraints, that it respects; nil in older files
    AdviceList = Document.define(:advice, :constraints, kind: :advice_list,
      nested: {advice: [Advice], constraints: Constraints}, added: [:constraints]) do
      def initialize(constraints: nil, **fields) = super

      # @return [Advice, nil]
      def recommendation = advice.find(&:topology)
    end
  end
end
