# frozen_string_literal: true

module PumaTuner
  module Predict
    # Computes by formulas, without a simulation. Their letters are the usual ones: D the CPU of a mean request, I its
    # waits, Z the clients' think time, t threads in each of W workers, K cores, C connections. Queueing has the
    # formulas' sources.
    #
    # They know means only. None sees time slices, requests of different kinds, an uneven split of connections,
    # wake-ups, or Puma's I/O threads. None claims more than the arrivals bring.
    class ClosedForm
      # @param workload [Model::Workload]
      # @param machine [Model::Machine]
      # @param scenario [Scenario]
      def initialize(workload, machine, scenario)
        @cpu_s = workload.mean_held_ns / Units::NS_PER_S
        @wait_s = workload.mean_wait_ns / Units::NS_PER_S
        # Native code that computes in a wait takes a core, and no GVL.
        @compute_s = workload.mean_of { |endpoint| endpoint.mean_of(&:compute_ns) } / Units::NS_PER_S
        @client_s = machine.client_cpu_ns.fdiv(Units::NS_PER_S)
        @cores_count = machine.usable_cores
        @topology = scenario.topology
        @arrivals = scenario.arrivals
        @think_s = (@arrivals.think_ns || 0).fdiv(Units::NS_PER_S)
      end

      # @return [ClosedForms]
      def forms
        ClosedForms.new(bound_per_s: bounds.values.min, amdahl_per_s: offered(amdahl_per_s),
          mva_per_s: offered(mva_per_s), cpu_share_per_s: offered(cpu_share_per_s), **flow_equivalent)
      end

      # Returns each limit that alone would keep the throughput from growing, as the throughput it allows (Lazowska, ch.
      # 5). Of equal limits the first is the one to name, so they stand in this order: more threads or workers help
      # neither when the cores are busy nor when the clients are few. "none" is an open loop's rate, which nothing of
      # the server keeps down.
      #
      # @return [Hash{String => Float}]
      def bounds
        {
          "cores" => @cores_count.fdiv(@cpu_s + @compute_s + @client_s),
          "clients" => @arrivals.connections_count.fdiv(@cpu_s + @wait_s + @think_s),
          "gvl" => @topology.workers_count.fdiv(@cpu_s),
          "threads" => @topology.slots_count.fdiv(@cpu_s + @wait_s),
          "none" => @arrivals.rate_per_s
        }.compact
      end

      # @return [String] the lowest bound's name
      def bottleneck = bounds.min_by(&:last).first

      # @return [Float] the lowest bound that is the server's own, whatever arrives
      def capacity_per_s = bounds.except("clients", "none").values.min

      private

      def offered(per_s) = per_s && [per_s, *bounds.values_at("clients", "none").compact].min

      def workers_count = @topology.workers_count

      # Workers share the connections as evenly as whole numbers allow: some have one more.
      def connections_per_worker = @arrivals.connections_count.fdiv(workers_count)

      def between(number)
        below = number.floor
        at_below = yield below
        (below == number) ? at_below : at_below + (number - below) * (yield(below + 1) - at_below)
      end

      # Amdahl's law (1967) with the CPU share as the serial part. Right at both ends and too low between them, because
      # it lets the waits begin only when all the CPU work is done.
      def amdahl_per_s
        cpu_ratio = @cpu_s / (@cpu_s + @wait_s)
        speedup = 1 / (cpu_ratio + (1 - cpu_ratio) / @topology.threads_count)
        workers_count * speedup / (@cpu_s + @wait_s)
      end

      # 100 / CPU % threads, of those that there are, as if they never met.
      def cpu_share_per_s
        enough_count = RuleOfThumb.threads_count(@cpu_s / (@cpu_s + @wait_s)) or return
        [workers_count * [@topology.threads_count, enough_count].min / (@cpu_s + @wait_s), bounds["cores"]].min
      end

      # Either all connections of a worker go round, thinking included, or its threads do, always busy; the lower holds.
      # Exact for exponential bursts without think time, or with a thread for each connection.
      def mva_per_s
        of_connections = between(connections_per_worker) { |count| mva(count, @wait_s + @think_s) }
        workers_count * [of_connections, mva(@topology.threads_count, @wait_s)].min
      end

      def mva(count, delay_s) = count.zero? ? 0.0 : Queueing.mva(count, service: @cpu_s, delay: delay_s).last

      # Threads let that many requests in; how fast these leave is known from mean value analysis; the rest queue.
      # Near-exact for exponential times: it takes the inside of a worker to settle between two arrivals.
      def flow_equivalent
        per_s, mean_s = @arrivals.open? ? open_flow : closed_flow
        {flow_equivalent_per_s: per_s, flow_equivalent_mean_ns: mean_s && mean_s * Units::NS_PER_S}
      end

      # The mean from the whole circle, by Little's law: it holds for any split of connections.
      def closed_flow
        rates = departures_per_s(@topology.threads_count)
        of_worker_per_s = between(connections_per_worker) do |count|
          Queueing.closed_flow(count, think: @think_s, rates:).throughput
        end
        per_s = workers_count * of_worker_per_s
        [per_s, @arrivals.connections_count / per_s - @think_s]
      end

      # The mean is known of arrivals by chance. A group's requests each go to any worker: what one worker gets of a
      # geometric group is geometric again.
      def open_flow
        rates = departures_per_s(connections_per_worker.floor.clamp(1, @topology.threads_count))
        group_mean = 1 + ((@arrivals.burst_count || 1) - 1).fdiv(workers_count)
        state = Queueing.open_flow(@arrivals.rate_per_s / workers_count, rates:, group_mean:) or return
        [@arrivals.rate_per_s, (state.latency if %w[poisson bursty].include?(@arrivals.kind))]
      end

      # @return [Array<Float>] of one worker with 1, 2, ... requests inside.
      #   Cores are shared, and each worker gets as much.
      def departures_per_s(most_count)
        cores_per_s = bounds["cores"] / workers_count
        Queueing.mva(most_count, service: @cpu_s, delay: @wait_s).map { |per_s| [per_s, cores_per_s].min }
      end
    end
  end
end
