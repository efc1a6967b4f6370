# frozen_string_literal: true

module PumaTuner
  module Predict
    # One run of a workload on one topology. The same arguments give the same outcome, to the nanosecond.
    class Simulation
      # Requests answered first and not counted, as a share of those counted, and for each connection: the queues start
      # empty and the connections spread evenly, which is nothing like the state they settle in.
      WARM_UP_RATIO = 0.25
      WARM_UP_PER_CONNECTION_COUNT = 3

      # Chance has a stream for each purpose, so that two topologies with one seed meet the same requests and the same
      # luck in picking workers, and their difference is the topology's.
      STREAMS = %i[arrivals assignment resampling].freeze

      # @param workload [Model::Workload]
      # @param machine [Model::Machine]
      # @param topology [Topology]
      # @param seed [Integer]
      # @param requests_count [Integer] to be counted
      def initialize(workload:, machine:, topology:, seed:, requests_count:)
        @workload = workload
        @machine = machine
        @topology = topology
        @seed = seed
        @requests_count = requests_count
        @timeline = Timeline.new(machine.cores_count)
      end

      # @return [Outcome]
      def call
        @tally = new_tally
        @clients = new_clients(Array.new(@topology.workers_count) { new_worker })
        @clients.connect(connections_count, assignment: stream(:assignment), arrivals: stream(:arrivals),
          spread_ns: @workload.mean_cpu_ns + @workload.mean_wait_ns)
        @timeline.step until @tally.full?
        @tally.outcome
      end

      private

      def connections_count = @workload.arrivals.connections_count

      def stream(purpose) = Random.new(@seed * STREAMS.size + STREAMS.index(purpose))

      def new_tally
        warm_up_count = [@requests_count * WARM_UP_RATIO, connections_count * WARM_UP_PER_CONNECTION_COUNT].max.ceil
        Tally.new(warm_up_count:, requests_count: @requests_count, workers_count: @topology.workers_count,
          overhead_cpu_ns: @workload.overhead_cpu_ns)
      end

      def new_worker
        Worker.new(timeline: @timeline, machine: @machine, threads_count: @topology.threads_count,
          overhead_cpu_ns: @workload.overhead_cpu_ns, on_answer: method(:answered))
      end

      def new_clients(workers)
        Clients.new(timeline: @timeline, workers:, mix: RequestMix.new(@workload.endpoints, stream(:resampling)),
          think_ns: @workload.arrivals.think_ns, client_cpu_ns: @machine.client_cpu_ns)
      end

      def answered(request)
        @tally.count(request, @timeline.now_ns)
        @clients.answered(request)
      end
    end
  end
end
