# frozen_string_literal: true

module PumaTuner
  module Predict
    # Simulates a workload on one topology after the other, each with the same seeds.
    class Sweeper
      DEFAULT_SEEDS_COUNT = 5
      DEFAULT_REQUESTS_COUNT = 2_000

      # @param workload [Model::Workload]
      # @param machine [Model::Machine]
      # @param seed [Integer] of the first simulation; the others count up from it
      # @param seeds_count [Integer] simulations for each topology
      # @param requests_count [Integer] counted in each simulation
      def initialize(workload:, machine:, seed:, seeds_count: DEFAULT_SEEDS_COUNT, requests_count: DEFAULT_REQUESTS_COUNT)
        @workload = workload
        @machine = machine
        @seed = seed
        @seeds_count = seeds_count
        @requests_count = requests_count
      end

      # @param topologies [Array<Topology>] today's is added when it is not among them
      # @yield [done_count, total_count] after each simulation
      # @return [Sweep] forecasts by workers, then threads
      def call(topologies, &progress)
        all = (topologies | [@workload.observed_topology]).sort_by { |topology| [topology.workers_count, topology.threads_count] }
        done_count = 0
        forecasts = all.map do |topology|
          forecast(topology) { progress&.call(done_count += 1, all.size * @seeds_count) }
        end
        Sweep.new(forecasts: forecasts.freeze, today: @workload.observed_topology,
          rule_of_thumb_threads_count: RuleOfThumb.threads_count(@workload.cpu_ratio),
          connections_count: @workload.arrivals.connections_count,
          seed: @seed, seeds_count: @seeds_count, requests_count: @requests_count)
      end

      private

      def forecast(topology)
        outcomes = (@seed...@seed + @seeds_count).map { |seed| simulate(topology, seed).tap { yield } }
        closed_form = ClosedForm.new(@workload, @machine, topology)
        Forecast.new(topology:, **estimates(outcomes), **means(outcomes), memory_bytes: memory_bytes(topology),
          bottleneck: closed_form.bottleneck, closed_forms: closed_form.forms)
      end

      def simulate(topology, seed)
        Simulation.new(workload: @workload, machine: @machine, topology:, seed:, requests_count: @requests_count).call
      end

      def estimates(outcomes)
        {
          throughput_per_s: outcomes.map(&:throughput_per_s),
          mean_ns: outcomes.map(&:mean_ns),
          p50_ns: outcomes.map { |outcome| outcome.quantile_ns(0.5) },
          p99_ns: outcomes.map { |outcome| outcome.quantile_ns(0.99) }
        }.transform_values { |samples| Stats::Estimate.of_range(samples) }
      end

      def means(outcomes)
        %i[gvl_wait_ns queue_ns cores_used].to_h do |name|
          [name, outcomes.sum(&name).fdiv(outcomes.size)]
        end
      end

      # A single process cannot be told from a recorded cluster, nor a cluster from a single process: what a master and its
      # workers share is known only from having seen it.
      def memory_bytes(topology)
        memory = @workload.memory
        return memory.single_bytes if topology.workers_count == 1
        return unless memory.shared_bytes && memory.per_worker_bytes
        memory.shared_bytes + topology.workers_count * memory.per_worker_bytes
      end
    end
  end
end
