# frozen_string_literal: true

module SimSpeed
  # What is simulated. Everything is made here, so that it is the same on every machine.
  module Models
    # Exponential gaps and services, so many servers: M/M/c.
    Queue = Data.define(:servers_count, :rate_per_s, :mean_service_s) do
      # Erlang's formula.
      # @return [Float] mean time in the system, ns
      def mean_ns
        offered = rate_per_s * mean_service_s
        terms = (0...servers_count).map { |count| offered**count / factorial(count) }
        all_busy = offered**servers_count / factorial(servers_count) / (1 - offered / servers_count)
        waiting_s = all_busy / (terms.sum + all_busy) * mean_service_s / (servers_count - offered)
        (waiting_s + mean_service_s) * 1e9
      end

      private

      def factorial(number) = (1..number).inject(1.0, :*)
    end

    QUEUE = Queue.new(servers_count: 5, rate_per_s: 400.0, mean_service_s: 0.01)

    # Recorded requests to draw from; as many as one process's ledger holds.
    TRACES_COUNT = 2_048

    # A web app as recordings show them: a fast endpoint, a usual one, a slow one. Bursts and waits in ms, their numbers, GC.
    ENDPOINTS = [
      {name: "GET /", weight_ratio: 0.5, waits: 1..3, burst_ms: 0.4, wait_ms: 1.0, gc_ratio: 0.05},
      {name: "GET /articles/:id", weight_ratio: 0.4, waits: 3..6, burst_ms: 1.0, wait_ms: 3.0, gc_ratio: 0.1},
      {name: "GET /search", weight_ratio: 0.1, waits: 2..4, burst_ms: 8.0, wait_ms: 15.0, gc_ratio: 0.2}
    ].freeze
    GC_MS = 4
    MS = PumaTuner::Units::NS_PER_MS
    Model = PumaTuner::Model
    Predict = PumaTuner::Predict
    private_constant :MS, :Model, :Predict

    class << self
      # The queue, as a Puma with so many threads whose requests only sleep, on a machine where nothing else takes time.
      # @return [Model::Workload]
      def queue_workload
        random = Random.new(1)
        services_ns = Array.new(TRACES_COUNT) { exponential(random, QUEUE.mean_service_s * 1e9) }
        # Their mean is made exact, so that it can be held against Erlang's formula.
        scale = QUEUE.mean_service_s * 1e9 * services_ns.size / services_ns.sum
        demands = services_ns.map { |ns| demand([0, 0], [(ns * scale).round], "sleep") }
        workload([endpoint("GET /", 1.0, demands)])
      end

      # @return [Predict::Scenario]
      def queue_scenario
        Predict::Scenario.of(PumaTuner::Topology.from(1, QUEUE.servers_count), Model::Arrivals.open(QUEUE.rate_per_s, connections_count: 10_000))
      end

      # @return [Model::Machine]
      def ideal_machine
        machine.with(cores_count: 64, effective_cores: (1..64).map(&:to_f), handoff_ns: 0, handoff_busy_ns: 0, wakeup_idle_ns: [0], wakeup_loaded_ns: [0], acceptor_cpu_ns: 0,
          reactor_wakeup_cpu_ns: 0, reactor_register_cpu_ns: 0, tail_cpu_ns: 0, client_send_cpu_ns: 0, client_receive_cpu_ns: 0)
      end

      # @return [Model::Workload]
      def app_workload
        random = Random.new(2)
        endpoints = ENDPOINTS.map do |kind|
          demands = Array.new((TRACES_COUNT * kind.fetch(:weight_ratio)).round) { app_demand(kind, random) }
          endpoint(kind.fetch(:name), kind.fetch(:weight_ratio), demands)
        end
        workload(endpoints)
      end

      # Twice as many clients as threads, on one process.
      # @return [Predict::Scenario]
      def app_scenario = Predict::Scenario.of(PumaTuner::Topology.from(1, 5), Model::Arrivals.closed(10))

      # 1 to 8 threads, 1 to 4 workers, three loads.
      # @return [Array<Predict::Scenario>]
      def sweep_scenarios
        loads = [Model::Arrivals.closed(10), Model::Arrivals.closed(40), Model::Arrivals.open(100)]
        loads.flat_map { |load| (1..4).flat_map { |workers| (1..8).map { |threads| Predict::Scenario.of(PumaTuner::Topology.from(workers, threads), load) } } }
      end

      # Typical figures, four cores.
      # @return [Model::Machine]
      def machine = Model::MachineFit::TYPICAL.with(cores_count: 4, effective_cores: [1.0, 2.0, 3.0, 4.0])

      private

      def exponential(random, mean) = -Math.log(1 - random.rand) * mean

      def app_demand(kind, random)
        waits_count = random.rand(kind.fetch(:waits))
        bursts_ns = Array.new(waits_count + 1) { exponential(random, kind.fetch(:burst_ms) * MS).round }
        waits_ns = Array.new(waits_count) { exponential(random, kind.fetch(:wait_ms) * MS).round }
        collects = random.rand < kind.fetch(:gc_ratio)
        bursts_ns[-1] += GC_MS * MS if collects
        demand(bursts_ns, waits_ns, "io", gc_ns: collects ? GC_MS * MS : 0)
      end

      def demand(bursts_ns, waits_ns, kind, gc_ns: 0) = Model::Demand.new(bursts_ns:, waits_ns:, wait_kinds: waits_ns.map { kind }, gc_ns:)

      def endpoint(name, weight_ratio, demands)
        mean = ->(part) { demands.sum(&part).fdiv(demands.size).round }
        Model::EndpointDemand.new(name:, weight_ratio:, requests_count: demands.size, mean_held_ns: mean.call(:held_ns), mean_wait_ns: mean.call(:wait_ns),
          mean_lock_ns: 0, mean_gc_ns: mean.call(:gc_ns), demands:)
      end

      def workload(endpoints)
        Model::Workload.new(endpoints:, overhead_cpu_ns: 35_000, tail_cpu_ns: 0, timeslice_ms: 100, arrivals: Model::Arrivals.closed(10),
          memory: Model::MemoryDemand.new(shared_bytes: nil, per_worker_bytes: nil, single_bytes: 100 * PumaTuner::Units::MIB),
          observed_topology: PumaTuner::Topology.from(1, 5), observed_throughput_per_s: nil, observed_p50_ns: nil, observed_p99_ns: nil,
          puma_version: "8.0.2", ruby_version: "3.4.5", unknown: [])
      end
    end
  end
end
