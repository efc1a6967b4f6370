# frozen_string_literal: true

module PumaTuner
  module Predict
    # What formulas say without a simulation, in the usual letters: D the CPU of a mean request, I its waits, Z the clients'
    # think time, t threads in each of W workers, K cores, C connections.
    #
    # They know means only. None sees time slices, requests of different kinds, or an uneven split of connections.
    class ClosedForm
      # @param workload [Model::Workload]
      # @param machine [Model::Machine]
      # @param topology [Topology]
      def initialize(workload, machine, topology)
        @cpu_s = workload.mean_cpu_ns / Units::NS_PER_S
        @wait_s = workload.mean_wait_ns / Units::NS_PER_S
        @think_s = workload.arrivals.think_ns.fdiv(Units::NS_PER_S)
        @client_s = machine.client_cpu_ns.fdiv(Units::NS_PER_S)
        @connections_count = workload.arrivals.connections_count
        @cores_count = machine.cores_count
        @topology = topology
      end

      # @return [ClosedForms]
      def forms = ClosedForms.new(bound_per_s: bounds.values.min, amdahl_per_s:, mva_per_s:)

      # What alone would keep the throughput from growing, each as the throughput it allows. Listed so that of equals the
      # first is the one to name: more threads or workers help neither when the cores are busy nor when the clients are few.
      #
      # @return [Hash{String => Float}]
      def bounds
        {
          "cores" => @cores_count.fdiv(@cpu_s + @client_s),
          "clients" => @connections_count.fdiv(@cpu_s + @wait_s + @think_s),
          "gvl" => @topology.workers_count.fdiv(@cpu_s),
          "threads" => @topology.slots_count.fdiv(@cpu_s + @wait_s)
        }
      end

      # @return [String] the lowest bound's name
      def bottleneck = bounds.min_by(&:last).first

      private

      # Amdahl's law with the CPU share as the serial part. Right at both ends and too low between them, because it lets
      # the waits begin only when all the CPU work is done.
      def amdahl_per_s
        cpu_ratio = @cpu_s / (@cpu_s + @wait_s)
        speedup = 1 / (cpu_ratio + (1 - cpu_ratio) / @topology.threads_count)
        @topology.workers_count * speedup / (@cpu_s + @wait_s)
      end

      # Either all connections of a worker go round, thinking included, or its threads do, always busy; the lower holds.
      # Exact without think time.
      def mva_per_s
        connections_per_worker = @connections_count.fdiv(@topology.workers_count)
        of_connections = mva_of(connections_per_worker, @wait_s + @think_s)
        of_threads = mva_of(@topology.threads_count, @wait_s)
        @topology.workers_count * [of_connections, of_threads].min
      end

      # Between whole numbers, in proportion.
      def mva_of(customers, delay_s)
        below = customers.floor
        throughput = mva(below, delay_s)
        (below == customers) ? throughput : throughput + (customers - below) * (mva(below + 1, delay_s) - throughput)
      end

      # Exact mean value analysis: the GVL as the one queue, waits as a delay without queue. An arriving request finds the
      # queue that there would be without it.
      def mva(customers_count, delay_s)
        queued = throughput = 0.0
        1.upto(customers_count) do |count|
          response_s = @cpu_s * (1 + queued)
          throughput = count / (response_s + delay_s)
          queued = throughput * response_s
        end
        throughput
      end
    end
  end
end
