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
    # change: what to do; cost: what it takes; undo: how to go back
    # lines: Hash, to set, by the place where they go: {"config/puma.rb" => "threads 2, 2"}; empty where there are none
    # factors: Hash, the same as `puma_tuner prove` takes them, {"topology" => "2x2"}; empty where it can't
    # measured: Measured, what an earlier proof showed of it; nil without one. measured_elsewhere: then what one under
    #   another load showed; nil without that, too
    Advice = Document.define(:rule, :title, :evidence, :topology, :throughput_ratio, :p50_ratio, :p99_ratio,
      :change, :cost, :undo, :lines, :factors, :measured, :measured_elsewhere,
      added: {lines: {}, factors: {}, measured: nil, measured_elsewhere: nil},
      nested: {
        title: Statement, evidence: [Statement], topology: Topology, throughput_ratio: Stats::Estimate,
        p50_ratio: Stats::Estimate, p99_ratio: Stats::Estimate, change: Statement, cost: Statement, undo: Statement,
        measured: Measured, measured_elsewhere: Measured
      }) do
      # @return [Boolean] whether it states no effect
      def remark? = throughput_ratio.nil? && topology.nil?

      # @return [Boolean] whether workers and threads are to be chosen after it, as it changes how many are needed
      def before_topology? = title.kind == :queries_first

      # @return [Statement, nil] that Active Record's pool has fewer places than these threads are to have
      def small_pool = evidence.find { |statement| statement.kind == :too_few_places }

      # @param factors [Hash{String => String}] of a variant that follows it
      # @return [Boolean] whether these give the pool these places, see PoolVariable; forecasts are of the pool as it is
      def larger_pool?(factors) = !small_pool.nil? && PoolVariable.given?(factors)

      # @param factors [Hash{String => String}] as above
      # @return [Statement, nil] that the pool has fewer places than threads, where these leave it as it is
      def starved(factors) = (small_pool unless larger_pool?(factors))
    end

    # All advice from one sweep; the first with a topology is the recommendation.
    #
    # constraints: Constraints, that it respects; nil in older files
    # sizing: Sizing, where there were goals to meet, and forecasts to trust; else nil
    # tail: Tail, what makes the slowest requests slow; nil where too few were recorded
    # withheld: Array<Measured>, what is not advised as it was measured to make this app worse
    # today: Topology, which it is relative to; nil in older files
    AdviceList = Document.define(:advice, :constraints, :sizing, :tail, :withheld, :today, kind: :advice_list,
      nested: {advice: [Advice], constraints: Constraints, sizing: Sizing, tail: Tail, withheld: [Measured],
               today: Topology},
      added: {constraints: nil, sizing: nil, tail: nil, withheld: [], today: nil}) do
      # @return [Advice, nil]
      def recommendation = advice.find(&:topology)
    end
  end
end
