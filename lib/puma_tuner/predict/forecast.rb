# frozen_string_literal: true

module PumaTuner
  module Predict
    # The results of simple formulas for the same scenario, so that a reader sees where they fail. Requests per second;
    # nil where a formula gives none (an open loop that is not saturated has its own rate as throughput).
    #
    # bound_per_s: min(slots over service time, workers over CPU, cores over CPU, connections over service and think
    #   time); amdahl_per_s; mva_per_s: exact mean value analysis of one worker, times workers;
    # flow_equivalent_per_s: admission by threads in front of it;
    #   cpu_share_per_s: 100 / CPU % threads per worker are all that count
    # flow_equivalent_mean_ns: mean latency by the same
    ClosedForms = Document.define(:bound_per_s, :amdahl_per_s, :mva_per_s, :flow_equivalent_per_s,
      :flow_equivalent_mean_ns, :cpu_share_per_s)

    # The wait of a mean simulated request for one lock of its worker, or for a connection of a pool: how often, and how
    # long until it could go on but for the GVL; in the budget it is part of lock_ns.
    LockWait = Document.define(:name, :kind, :waits_per_request, :wait_ns)

    # A percentile of the latency of one endpoint's requests, as clients see it.
    EndpointLatency = Document.define(:endpoint, :percentile, :latency_ns, nested: {latency_ns: Stats::Estimate})

    # Why a forecast does not meet what is asked of it.
    #
    # unsteady: a Statement, why there is no steady state; then there is no more to tell, and the others are nil
    # goal: a Goal that it misses; latency_ns: the Estimate of what that limits
    Miss = Document.define(:unsteady, :goal, :latency_ns,
      nested: {unsteady: Statement, goal: Goal, latency_ns: Stats::Estimate}) do
      # @param by [Symbol] see Forecast#miss
      # @return [Float] the latency over the goal's limit; without a steady state, or where nobody knows it, infinite
      def excess_ratio(by = :high) = latency_ns ? latency_ns.public_send(by).fdiv(goal.limit_ns) : Float::INFINITY
    end

    # The forecast of one scenario.
    #
    # unsteady: a Statement, why there is no steady state, and so no figures (an open loop beyond what the server can
    #   take); else nil
    # throughput_per_s, mean_ns, p50_ns, p90_ns, p99_ns: Estimates, see Sweeper; latency as the client sees it
    # quantiles: Hash, Estimates of the percentiles that were asked for, by name such as "p99.9", in that order
    # endpoint_latencies: Array<EndpointLatency>, those that goals are about
    # budget: of a mean request, as the client sees it
    # gvl_wait_ns: Estimate, mean per request; queue_ns: mean per request;
    #   cores_used: mean number of cores kept busy by the server
    # slices_per_request: time slices that ended in a mean request
    # lock_waits: Array<LockWait>, of the workload's locks, in their order; nil where there is no steady state
    # samples: Hash, by name of an Estimate: what each seed gave, the same seeds
    #   in all forecasts of a sweep; nil where there is no steady state
    # memory_bytes: PSS of all processes, nil where it can't be told from the recording
    # bottleneck: "threads", "gvl", "cores", "clients" or "none" (an open loop
    #   with room), whichever sets the lowest bound
    Forecast = Document.define(:scenario, :unsteady, :throughput_per_s, :mean_ns, :p50_ns, :p90_ns, :p99_ns, :budget,
      :gvl_wait_ns, :queue_ns, :slices_per_request, :cores_used, :lock_waits, :samples, :memory_bytes, :bottleneck,
      :closed_forms, :quantiles, :endpoint_latencies,
      added: {quantiles: {}, lock_waits: nil, endpoint_latencies: []},
      nested: {scenario: Scenario, unsteady: Statement, throughput_per_s: Stats::Estimate,
               mean_ns: Stats::Estimate, p50_ns: Stats::Estimate,
               p90_ns: Stats::Estimate, p99_ns: Stats::Estimate, gvl_wait_ns: Stats::Estimate, budget: Probe::Budget,
               lock_waits: [LockWait], closed_forms: ClosedForms,
               endpoint_latencies: [EndpointLatency], quantiles: {String => Stats::Estimate}}) do
      # Older files have a mere number for the wait for the GVL.
      def self.of_now(fields)
        wait_ns = fields["gvl_wait_ns"]
        return fields unless wait_ns.is_a?(Numeric)
        wait = {"value" => wait_ns, "low" => wait_ns, "high" => wait_ns, "level_ratio" => nil, "samples_count" => 1}
        {**fields, "gvl_wait_ns" => wait}
      end
      private_class_method :of_now

      # A pool that has clients for nine in ten of its slots is as busy as pools are: a server's own recording is taken
      # for a closed loop from there on.
      const_set(:CLIENTS_RATIO, 0.9)

      # @return [Boolean] whether slots wait for clients, so that nothing is known of what they are for
      def too_few_clients?
        arrivals = scenario.arrivals
        bottleneck == "clients" &&
          (arrivals.think_ns.positive? || arrivals.connections_count < self.class::CLIENTS_RATIO * topology.slots_count)
      end

      def initialize(samples: nil, **fields) = super

      # @return [Topology] that of the scenario
      def topology = scenario.topology

      def steady? = unsteady.nil?

      # @param percentile [String] "p95"
      # @return [Stats::Estimate, nil] nil of one that nobody asked for
      def quantile(percentile)
        quantiles[percentile] || {"p50" => p50_ns, "p90" => p90_ns, "p99" => p99_ns}[percentile]
      end

      # @param goal [Goal]
      # @return [Stats::Estimate, nil] of the latency that it limits; nil where that was not asked for
      def latency_of(goal)
        return quantile(goal.percentile) unless goal.endpoint
        endpoint_latencies.find do |one|
          one.endpoint == goal.endpoint && one.percentile == goal.percentile
        end&.latency_ns
      end

      # @param goals [Array<Goal>]
      # @param by [Symbol] :high: a goal is met when the interval's upper end is; :value: when its middle is
      # @return [Miss, nil] that there is no steady state, or the goal that is missed by most; nil when all are met
      def miss(goals, by: :high)
        return Miss.new(unsteady:, goal: nil, latency_ns: nil) unless steady?
        goals.map { |goal| Miss.new(unsteady: nil, goal:, latency_ns: latency_of(goal)) }
          .reject { |one| one.latency_ns && one.excess_ratio(by) < 1 }.max_by { |one| one.excess_ratio(by) }
      end

      # Sharper than two intervals side by side: both met the same requests, seed by seed.
      #
      # @param other [Forecast] of the same sweep
      # @param name [Symbol] of an Estimate, such as :p99_ns
      # @param uncertainty [Uncertainty] of that sweep
      # @return [Stats::Estimate] of this over the other
      def ratio_to(other, name, uncertainty = Uncertainty.new(nil))
        mine, theirs = public_send(name), other.public_send(name)
        unless samples && other.samples
          return mine.with(value: mine.value.fdiv(theirs.value), low: mine.low.fdiv(theirs.high),
            high: mine.high.fdiv(theirs.low))
        end
        ratios = samples.fetch(name.to_s).zip(other.samples.fetch(name.to_s)).map { |one, another| one.fdiv(another) }
        Stats::Estimate.of_prediction(ratios, error_ratio: uncertainty.error_ratio(uncertainty.metric_of(name)))
      end
    end
  end
end
