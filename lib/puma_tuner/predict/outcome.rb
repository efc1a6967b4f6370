# frozen_string_literal: true

module PumaTuner
  module Predict
    # Threads of a worker came to wait for each other's locks forever in a simulation.
    class Deadlock < Error
      # @return [Array<Integer>] indexes of the locks, in the plan
      attr_reader :locks

      def initialize(locks)
        @locks = locks
        super("threads wait for each other's locks forever: #{locks.join(", ")}")
      end

      # @param demands [Array<Model::LockDemand>] of the plan's workload
      # @return [Statement] that names the locks
      def statement(demands) = Statement.of(:deadlock, locks: demands.values_at(*locks).map(&:name))
    end

    # The outcome of one simulation, after its warm-up.
    #
    # latencies_ns: of every request counted, ascending
    # endpoint_latencies_ns: Hash, the same of each endpoint that was asked for, by its index in the workload
    # means: Hash, mean per request of each of Parts::SIMULATED, of "slices" and of "server_cpu"
    # lock_waits: Array<Array(Float, Float)>, by lock of the plan, mean per request: how often it waited for it, and for
    #   how many ns (until it could go on but for the GVL); they are in "lock", too
    # growth_ratio: by how many requests more were under way at the end than at the beginning, over those counted
    # events_count: steps taken
    Outcome = Data.define(:duration_ns, :latencies_ns, :endpoint_latencies_ns, :means, :lock_waits, :growth_ratio,
      :events_count) do
      # @param result [Hash] of Core.run
      # @param endpoints [Array<Integer>] those whose latencies are told apart
      # @raise [Deadlock]
      def self.of(result, endpoints: [])
        raise Deadlock.new(result.fetch(:deadlock)) if result.fetch(:deadlock).any?
        count = result.fetch(:count)
        means = ->(name) { result.fetch(name).unpack("q*").map { |total| total.fdiv(count) } }
        latencies_ns = result.fetch(:latencies).unpack("q*")
        endpoint_latencies_ns = told_apart(latencies_ns, result.fetch(:endpoints), endpoints)
        new(duration_ns: result.fetch(:duration_ns), latencies_ns: latencies_ns.sort!.freeze, endpoint_latencies_ns:,
          means: result.fetch(:totals).transform_values { |total| total.fdiv(count) },
          lock_waits: means.call(:lock_waits).each_slice(2).map(&:freeze).freeze,
          growth_ratio: (result.fetch(:in_flight) - result.fetch(:began_in_flight)).fdiv(count),
          events_count: result.fetch(:events_count))
      end

      def self.told_apart(latencies_ns, packed_indexes, endpoints)
        return {}.freeze if endpoints.empty?
        indexes = packed_indexes.unpack("l*")
        by_index = latencies_ns.zip(indexes).group_by(&:last)
        endpoints.to_h { |index| [index, by_index.fetch(index, []).map(&:first).sort!.freeze] }.freeze
      end
      private_class_method :told_apart

      # @return [Float]
      def throughput_per_s = latencies_ns.size.fdiv(duration_ns) * Units::NS_PER_S

      # @return [Float]
      def mean_ns = latencies_ns.sum.fdiv(latencies_ns.size)

      # @return [Float] mean number of cores that the server kept busy
      def cores_used = means.fetch(:server_cpu) * latencies_ns.size / duration_ns

      # @param ratio [Float] 0..1
      # @param endpoint [Integer, nil] its index; nil: of all requests
      # @return [Numeric, nil] nil where none of that endpoint was counted
      def quantile_ns(ratio, endpoint: nil)
        Stats::Quantile.of(endpoint ? endpoint_latencies_ns.fetch(endpoint) : latencies_ns, ratio)
      end
    end
  end
end
