# frozen_string_literal: true

module PumaTuner
  module Model
    # What a mean request took of the cores at one setting that was recorded.
    #
    # cpu_ns: with the GVL and without it, less garbage collection; gc_ns: garbage collection, nil where it was not timed
    # switches_count: how often it went on after a wait for the GVL, so that another thread had run in between
    # busy_cores: cores that server and load generator kept busy meanwhile, on average
    Cost = Document.define(:topology, :cpu_ns, :gc_ns, :switches_count, :busy_cores, nested: {topology: Topology}) do
      # @return [Boolean] whether its server was a cluster
      def cluster? = topology.workers_count > 1
    end

    # How a request's cost follows the settings, from all of them that were recorded. Three things change it:
    #
    # - **Switches.** A burst after another thread's begins on another core or in cold caches. How much CPU that is follows from
    #   recordings of one server at one thread and at several.
    # - **The process.** A worker is forked from a process that has loaded the app, and has another heap than one that loaded it
    #   itself: a Rails app was seen to collect garbage for 0.5 ms of a request in two workers and for 3.4 ms in a single process.
    # - **Cores that share.** Beside other busy cores the CPU clock runs on while less gets done. The simulation has that by itself
    #   (effective cores), so it is taken out here.
    class CostFit
      # @param costs [Array<Cost>] of the recordings; the first is the one whose requests are replayed
      # @param machine [Machine]
      def initialize(costs, machine)
        @own = costs.first
        @machine = machine
        @costs = costs.map { |cost| undisturbed(cost) }
      end

      # Of what was recorded, a calibrated switch may explain this much; more than that would be another app's working set.
      EXPLAINED_RATIO = 0.3

      # @return [Integer] CPU of a switch: by recordings of one server at several numbers of threads, else the machine's as calibrated
      def switch_cpu_ns
        @switch_cpu_ns ||= begin
          slopes_ns = @costs.group_by(&:cluster?).values.filter_map { |costs| slope_ns(costs) }
          slopes_ns.empty? ? calibrated_switch_ns : (slopes_ns.sum / slopes_ns.size).round
        end
      end

      # @param topology [Topology]
      # @return [Float] by what the recorded bursts are multiplied there, less the switches that are simulated
      def cpu_ratio(topology)
        means_ns = alike(topology).map { |cost| cost.cpu_ns - switch_cpu_ns * cost.switches_count }
        means_ns.sum.fdiv(means_ns.size) / @own.cpu_ns
      end

      # By the share of a thread's turns before which another one had its turn, which grows from nothing with one thread to all of
      # them with many.
      #
      # @param topology [Topology]
      # @return [Float] by what recorded garbage collection is multiplied there
      def gc_ratio(topology)
        return 1.0 if @own.gc_ns.to_i.zero? || @costs.any? { |cost| cost.gc_ns.nil? }
        points = alike(topology).group_by { |cost| others_ratio(cost.topology) }.transform_values { |costs| costs.sum(&:gc_ns).fdiv(costs.size) }.sort
        between(points, others_ratio(topology)) / @own.gc_ns
      end

      private

      # Recorded in the same kind of process; else in any.
      def alike(topology)
        same = @costs.select { |cost| cost.cluster? == (topology.workers_count > 1) }
        same.empty? ? @costs : same
      end

      def others_ratio(topology) = 1 - 1.0 / topology.threads_count

      def calibrated_switch_ns = [@machine.switch_idle_cpu_ns, *@costs.map { |cost| EXPLAINED_RATIO * cost.cpu_ns / [cost.switches_count, 1].max }].min.round

      # By the least and the most switches; a cost of less than nothing is noise.
      def slope_ns(costs)
        few, many = costs.minmax_by(&:switches_count)
        return if many.switches_count - few.switches_count < 1
        [(many.cpu_ns - few.cpu_ns) / (many.switches_count - few.switches_count), 0].max
      end

      # Beyond the outermost points nothing is known of it.
      def between(points, at)
        upper = points.find { |x, _| x >= at } or return points.last.last
        lower = points.reverse.find { |x, _| x <= at } || upper
        return upper.last if upper == lower
        lower.last + (upper.last - lower.last) * (at - lower.first) / (upper.first - lower.first)
      end

      def undisturbed(cost)
        slower = slower_ratio(cost.busy_cores)
        cost.with(cpu_ns: cost.cpu_ns / slower, gc_ns: cost.gc_ns && cost.gc_ns / slower)
      end

      # @return [Float] how much more CPU time the same work takes beside so many busy cores
      def slower_ratio(busy_cores)
        below = [busy_cores.floor, 1].max
        above = [below + 1, @machine.effective_cores.size].min
        return 1.0 if busy_cores <= 1 || above <= below
        slow = [below, above].map { |count| count / @machine.effective_cores[count - 1] }
        slow.first + (slow.last - slow.first) * [busy_cores - below, 1].min
      end
    end
  end
end
