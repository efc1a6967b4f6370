# frozen_string_literal: true

module PumaTuner
  module Model
    # Fits how a request's cost follows the settings, from all of them that were recorded. Eight things change it:
    #
    # - **Switches.** A burst after another thread's begins on another core or in cold caches. How much CPU that is
    #   follows from recordings of one server at one thread and at several.
    # - **Hand-overs.** Who lets go of the GVL while others wait computes more outside of it: it wakes one thread and
    #   goes to sleep itself. How much that is follows from the same recordings, and how long nobody has the GVL, too.
    # - **The process.** A worker is forked from a process that has loaded the app, and
    #   has another heap than one that loaded it itself: a Rails app was seen to collect
    #   garbage for 0.5 ms of a request in two workers and for 3.4 ms in a single process.
    # - **Requests under way** keep objects alive that each collection has to
    #   mark, and leave less of the heap for new ones.
    # - **What it waits for** outside answers as fast as its own load lets it: a database a millisecond away took 97 ms
    #   of a request at one thread, and 45 ms at five.
    # - **Cores that share.** Beside other busy cores the CPU clock runs on while less gets done. The simulation has
    #   that by itself (effective cores), so it is taken out here.
    # - **Cores that fell asleep** while everybody in the process waited. What comes back then finds nothing at hand.
    #   That happens to every wait of a lone thread, and hardly to one of a worker whose threads are never all waiting.
    #   What it costs was seen of apps whose work is known; how often it happened is in each recording.
    # - **Cores that were idle.** Work that comes by itself finds cold caches, and on a virtual core those of whoever
    #   had the real one meanwhile. How much CPU that is follows from a recording at part load.
    class CostFit
      # Part load tells nothing where the server's cores were about as idle under the closed loop: threads that wait
      # leave them so, too. A judgement.
      LEAST_DIFFERENCE_RATIO = 0.15

      # A load below the recorded part load is taken to cost no more than so many times of what that added. A judgement.
      BEYOND_FACTOR_MAX = 1.5

      # @param costs [Array<Cost>] of the recordings; the first is the one whose requests are replayed
      # @param machine [Machine] that settings are fitted for
      # @param part_load [Cost, nil] at the first one's setting
      # @param recorded_on [Machine] where the costs were seen, which is another one where something is assumed of it
      def initialize(costs, machine, part_load: nil, recorded_on: machine)
        @own = costs.first
        @machine = machine
        @recorded_on = recorded_on
        @costs = costs.map { |cost| undisturbed(cost) }
        @part_load = part_load
      end

      # A calibrated switch, or a cold core, costs no more than this share of the burst (without it) that it makes
      # longer, as a short one has little to find in caches: bursts of 19 µs (an app that reads many files) took 4 µs
      # more each, and what was calibrated with larger ones was 32 µs.
      EXPLAINED_RATIO = 0.25

      # @return [Integer] CPU of a switch while a core is idle: by recordings of one server at several numbers of
      #   threads, else the machine's as calibrated
      def switch_cpu_ns
        @switch_cpu_ns ||= (seen_ns(full: false) || seen_ns(full: true) || calibrated_switch_ns).round
      end

      # Where no recording of a worker for each core tells it, it is as much less than with an idle core as the
      # calibration found: what an app's bursts lose by a switch depends on what they have in caches.
      #
      # @return [Integer] CPU of a switch while all other cores are busy
      def switch_busy_cpu_ns = @switch_busy_cpu_ns ||= (seen_ns(full: true) || switch_cpu_ns * busy_switch_ratio).round

      # @return [Integer] CPU that a burst takes more after a wait in which nobody of its process computed
      def cold_cpu_ns
        @cold_cpu_ns ||= [@machine.cold_cpu_ns.to_i,
          *@costs.map { |cost| explained_ns(cost, cost.colds_count, cost.colds_count) }].min.round
      end

      # Beyond the hand-over as it was calibrated, in which two threads do nothing else: an app's own work takes the
      # kernel's out of the caches, and others of its threads wait for a core. It is as much again at most, which is a
      # judgement: with few hand-overs in a request, what its threads were preempted hides it.
      #
      # @return [Integer] CPU that it takes, besides the hand-over, to let go of the GVL while others wait
      def release_cpu_ns
        full = @costs.select { |cost| full?(cost) }
        seen_ns = kernel_slope_ns(full) || kernel_slope_ns(@costs) || 0
        (seen_ns - @recorded_on.handoff_busy_ns).clamp(0, @recorded_on.handoff_busy_ns).round
      end

      # The calibrated one is of two threads that do nothing else. Caches that hold an app's work make it longer, and
      # bursts that last so long that the other core falls asleep meanwhile: one process took 11 to 13 µs where 8.8 were
      # calibrated (files_many of docs/measured/validation.md), and 31 with bursts of 0.1 ms (files_few). It is no
      # shorter than was calibrated, and no longer than a core takes to wake up.
      #
      # @return [Integer, nil] nanoseconds from one thread's release of the GVL to the next one's first instruction
      #   while a core is idle; nil where no recording tells it
      def handoff_ns
        seen_ns = @costs.reject { |cost| full?(cost) }.filter_map(&:handoff_ns)
        return if seen_ns.empty?
        least_ns = @recorded_on.handoff_ns
        wakeup_ns = @recorded_on.wakeup_idle_ns.sort[@recorded_on.wakeup_idle_ns.size / 2]
        (seen_ns.sum / seen_ns.size).clamp(least_ns, [least_ns, wakeup_ns].max).round
      end

      # It is the same with any number of threads, but for an app that collects much, whose heap is another one with
      # each. Such an app (garbage of `rake advice`, recorded from 2x3) took 1.4, 1.2 and 0.9 ms of CPU besides
      # collections at 2x3, 2x1 and 2x8.
      #
      # @param topology [Topology]
      # @return [Float] by what the recorded bursts are multiplied there, less the switches and cold cores that are
      #   simulated
      def cpu_ratio(topology)
        return 1.0 if @own.cpu_ns.zero? # all of it native code's, without the GVL
        return seen_there(topology) { |cost| bare_ns(cost) } / @own.cpu_ns if collecting?
        means_ns = alike(topology).map { |cost| bare_ns(cost) }
        means_ns.sum.fdiv(means_ns.size) / @own.cpu_ns
      end

      # In proportion to how long cores are idle that the server could use: from none of the time under the closed loop,
      # over what was seen at part load.
      #
      # @param topology [Topology]
      # @param rate_per_s [Numeric] requests/s that come by themselves
      # @return [Float] by what recorded bursts are multiplied there; in hundredths, as a simulation can't tell less
      def part_load_ratio(topology, rate_per_s)
        seen = busy_ratio(@own.topology, @own.busy_cores) - busy_ratio(@part_load.topology, @part_load.busy_cores)
        return 1.0 if seen < LEAST_DIFFERENCE_RATIO
        expected_cores = @own.busy_cores * rate_per_s / @own.requests_per_s
        idle = busy_ratio(@own.topology, @own.busy_cores) - busy_ratio(topology, expected_cores, @machine)
        (1 + (seen_ratio - 1) * (idle / seen).clamp(0, BEYOND_FACTOR_MAX)).round(2)
      end

      # Along the square root of the threads. A Rails app in two workers collected garbage for 0.53, 0.71, 0.87, 1.22
      # and 1.47 ms of a request at 1, 2, 3, 5 and 8 threads each: less than in proportion, and more than a logarithm
      # has it. Beyond the recorded numbers of threads it does not fall: where a recording at more threads has less of
      # it, one of the two servers was lucky with its heap, and nobody knows which. Below them it is what it was with
      # the fewest.
      #
      # @param topology [Topology]
      # @return [Float] by what recorded garbage collection is multiplied there
      def gc_ratio(topology)
        return 1.0 unless gc?
        points = points(topology, &:gc_ns)
        at = [Math.sqrt(topology.threads_count), points.first.first].max
        along((at > points.last.first) ? rising(points) : points, at) / @own.gc_ns
      end

      # Interpolates between the recorded numbers of threads, and never goes beyond them.
      #
      # @param topology [Topology]
      # @return [Float] by what recorded waits for IO are multiplied there
      def io_ratio(topology)
        @own.io_ns.positive? ? seen_there(topology, &:io_ns) / @own.io_ns : 1.0
      end

      # The way in which a recorded request is to be changed.
      #
      # cpu_ratio, io_ratio, gc_ratio: by what they are multiplied; limit_ns: collections from this on are long;
      #   mean_short_ns: of the others;
      # short_ratio: by what those are multiplied; long_gc_ratio: share of
      #   garbage collection in long ones; long_gcs_ns: sample of them
      Change = Data.define(:cpu_ratio, :io_ratio, :gc_ratio, :limit_ns, :mean_short_ns, :short_ratio, :long_gc_ratio,
        :long_gcs_ns) do
        # @param gc_ns [Integer, nil] recorded
        # @return [Integer, nil] of it that is the request's own
        def short_gc_ns(gc_ns) = gc_ns && (((gc_ns < limit_ns) ? gc_ns : mean_short_ns) * short_ratio).round
      end

      # A request with so many times the mean has met a long collection, which is no request's own: it marks the whole
      # heap, every so many requests. A judgement.
      LONG_FACTOR = 4

      # @param pairs [Array<Array(Float, Numeric)>] weight and garbage collection of recorded requests; ns
      # @return [Float] from where on it is a long one; infinite where there is none
      def self.limit_ns(pairs)
        mean_ns = pairs.sum { |weight, ns| weight * ns } / pairs.sum(&:first)
        mean_ns.zero? ? Float::INFINITY : LONG_FACTOR * mean_ns
      end

      # @param endpoints [Array<EndpointDemand>] as they are replayed
      # @return [Array<Array(Float, Numeric)>] see limit_ns
      def self.weighted_gcs(endpoints)
        endpoints.flat_map do |endpoint|
          endpoint.demands.map { |demand| [endpoint.weight_ratio / endpoint.demands.size, demand.gc_ns.to_i] }
        end
      end

      # @param topology [Topology]
      # @param endpoints [Array<EndpointDemand>] as they are replayed
      # @return [Change]
      def change(topology, endpoints)
        gc_ratio = gc_ratio(topology)
        pairs = self.class.weighted_gcs(endpoints)
        limit_ns = gc? ? self.class.limit_ns(pairs) : Float::INFINITY
        short, long = pairs.partition { |_, ns| ns < limit_ns }
        mean_short_ns = short.sum { |weight, ns| weight * ns } / short.sum(&:first)
        mean_ns = mean_short_ns * short.sum(&:first) + long.sum { |weight, ns| weight * ns }
        like = gc? ? nearest(topology) : @own
        long_gc_ratio = long.empty? ? 0.0 : like.long_gc_ratio
        short_ratio = mean_short_ns.zero? ? 1.0 : gc_ratio * mean_ns * (1 - long_gc_ratio) / mean_short_ns
        Change.new(cpu_ratio: cpu_ratio(topology), io_ratio: io_ratio(topology), gc_ratio:, limit_ns:, mean_short_ns:,
          short_ratio:, long_gc_ratio:, long_gcs_ns: long_gc_ratio.positive? ? like.long_gcs_ns : [].freeze)
      end

      private

      # @return [Float] how much of the time the cores that its workers can use are busy
      def busy_ratio(topology, busy_cores, machine = @recorded_on)
        [busy_cores / [topology.workers_count, machine.cores_count].min, 1.0].min
      end

      # @return [Float] CPU of a request at part load over that under the closed loop, switches and cold cores aside
      def seen_ratio
        busy_ns, idle_ns = [@costs.first, undisturbed(@part_load)].map { |cost| bare_ns(cost) }
        idle_ns / busy_ns
      end

      def nearest(topology)
        root = Math.sqrt(topology.threads_count)
        alike(topology).min_by { |cost| (Math.sqrt(cost.topology.threads_count) - root).abs }
      end

      # Recorded in the same kind of process; else in any.
      def alike(topology)
        same = @costs.select { |cost| cost.cluster? == (topology.workers_count > 1) }
        same.empty? ? @costs : same
      end

      # @yieldparam cost [Cost]
      # @return [Array<Array(Float, Float)>] square roots of the recorded numbers of threads, ascending, and what was
      #   seen there
      def points(topology)
        alike(topology).group_by { |cost| Math.sqrt(cost.topology.threads_count) }
          .transform_values { |costs| costs.sum { |cost| yield(cost) }.fdiv(costs.size) }.sort
      end

      # @return [Float] between the recorded numbers of threads, and never beyond them
      def seen_there(topology, &)
        points = points(topology, &)
        along(points, Math.sqrt(topology.threads_count).clamp(points.first.first, points.last.first))
      end

      def collecting? = gc? && @own.gc_ns > Probe::Budget::COLLECTING_RATIO * (@own.cpu_ns + @own.gc_ns)

      def gc? = @own.gc_ns.to_i.positive? && @costs.none? { |cost| cost.gc_ns.nil? }

      def calibrated_switch_ns
        most_ns = @costs.map do |cost|
          explained_ns(cost, [cost.releases_count, cost.switches_count].max, cost.switches_count)
        end
        [@machine.switch_idle_cpu_ns, *most_ns].min.round
      end

      # @param waits_count [Numeric] between bursts; count: how many of these it made longer
      # @return [Float] the most that it can have cost each
      def explained_ns(cost, waits_count, count)
        EXPLAINED_RATIO * cost.cpu_ns / (1 + waits_count + EXPLAINED_RATIO * count)
      end

      # A worker for each core leaves none idle for the next thread to wake up on.
      def full?(cost) = cost.topology.workers_count >= @recorded_on.cores_count

      # @return [Float] nanoseconds of the GVL in a mean request, less its switches and cold cores
      def bare_ns(cost)
        warm_ns(cost) - (full?(cost) ? switch_busy_cpu_ns : switch_cpu_ns) * cost.switches_count
      end

      # @return [Float] the same with its switches
      def warm_ns(cost) = cost.cpu_ns - cold_cpu_ns * cost.colds_count

      # @return [Float, nil] what a switch cost in recordings that left no core idle, or in the others; nil where they
      #   are of no two numbers of threads
      def seen_ns(full:)
        slopes_ns = @costs.select { |cost| full?(cost) == full }.group_by(&:cluster?).values
          .filter_map { |costs| slope_ns(costs) }
        slopes_ns.sum.fdiv(slopes_ns.size) unless slopes_ns.empty?
      end

      def busy_switch_ratio
        return 1.0 unless @machine.switch_idle_cpu_ns.positive?
        @machine.switch_busy_cpu_ns.fdiv(@machine.switch_idle_cpu_ns)
      end

      # Takes the slope from the least switches to the most; a cost of less than nothing is noise.
      def slope_ns(costs)
        few, many = costs.minmax_by(&:switches_count)
        return if many.switches_count - few.switches_count < 1
        [(warm_ns(many) - warm_ns(few)) / (many.switches_count - few.switches_count), 0].max
      end

      # @return [Float, nil] nanoseconds of CPU without the GVL for each time that a thread went on after another
      def kernel_slope_ns(costs)
        few, many = costs.select(&:kernel_ns).minmax_by(&:switches_count)
        return if few.nil? || many.switches_count - few.switches_count < 1
        (many.kernel_ns - few.kernel_ns) / (many.switches_count - few.switches_count)
      end

      # Neighbours that fall are taken together until none do (isotonic regression; Barlow et al., 1972).
      def rising(points)
        groups = points.zip
        mean = ->(group) { group.sum(&:last).fdiv(group.size) }
        while (index = groups.each_cons(2).find_index { |one, other| mean.call(other) < mean.call(one) })
          groups[index, 2] = [groups[index] + groups[index + 1]]
        end
        means = groups.flat_map { |group| [mean.call(group)] * group.size }
        points.map(&:first).zip(means)
      end

      # Through the two points around it, or the two nearest.
      def along(points, at)
        return points.first.last if points.size == 1
        (x1, y1), (x2, y2) = points.each_cons(2).find { |_, (x, _)| x >= at } || points.last(2)
        y1 + (y2 - y1) * (at - x1) / (x2 - x1)
      end

      def undisturbed(cost)
        slower = slower_ratio(cost.busy_cores)
        cost.with(cpu_ns: cost.cpu_ns / slower, gc_ns: cost.gc_ns && cost.gc_ns / slower,
          kernel_ns: cost.kernel_ns && cost.kernel_ns / slower)
      end

      # @return [Float] how much more CPU time the same work takes beside so many busy cores
      def slower_ratio(busy_cores)
        below = [busy_cores.floor, 1].max
        above = [below + 1, @recorded_on.effective_cores.size].min
        return 1.0 if busy_cores <= 1 || above <= below
        slow = [below, above].map { |count| count / @recorded_on.effective_cores[count - 1] }
        slow.first + (slow.last - slow.first) * [busy_cores - below, 1].min
      end
    end
  end
end
