# frozen_string_literal: true

module PumaTuner
  module Model
    # The service demand of one recorded request when nobody is in its way: bursts with the GVL, and between them waits
    # without it.
    #
    # bursts_ns: each time with the GVL, on a core, garbage collection included; one more than waits_ns; 0 for a mere
    #   visit to the GVL
    # waits_ns: duration of each wait; wait_kinds, for each, of Parts::WAITS: "io" (of an unknown kind), "db", "pool" (a
    #   connection pool's), "compute" (native code that takes a core without the GVL) and so on; or of Parts::MARKERS,
    #   "acquire" or "release", whose entry of waits_ns is no time, but the index of a lock in Workload#locks
    # gc_ns: part of the bursts that was garbage collection, which no time slice interrupts; nil where it was not timed
    Demand = Document.define(:bursts_ns, :waits_ns, :wait_kinds, :gc_ns) do
      # Kinds of IO; "io" is of an unknown one.
      const_set(:IO_KINDS, Probe::Parts.steps_of(:io).freeze)

      # Waits for a lock; "lock" is for one that is no pool of connections.
      const_set(:LOCK_KINDS, Probe::Parts.steps_of(:lock).freeze)

      # A wait this long is one to fall asleep in; shorter ones are system calls that came back at once, as fast
      # anywhere. (To fall asleep and to be woken takes some 40 µs where it was calibrated.)
      const_set(:SLEPT_NS, 50_000)

      # @return [Integer] nanoseconds that need the GVL
      def held_ns = bursts_ns.sum

      # @return [Integer] of them, those that are no garbage collection
      def cpu_ns = held_ns - gc_ns.to_i

      # @return [Integer] nanoseconds without it
      def wait_ns = ns_of(waited_kinds)

      # @return [Integer] nanoseconds of them that waited for a lock, a connection pool's included
      def lock_ns = ns_of(self.class::LOCK_KINDS)

      # @return [Integer] nanoseconds of them that waited for a connection pool
      def pool_ns = ns_of(%w[pool])

      # Garbage is taken to have been collected in the longest bursts. A long collection is none of this request's own.
      #
      # @param change [CostFit::Change]
      # @return [Demand] with the CPU and the garbage collection of another setting
      def changed(change)
        left_ns = gc_ns.to_i
        own_ns = bursts_ns.dup
        order = self.class.longest_first(bursts_ns)
        order.each do |index|
          collected_ns = [left_ns, bursts_ns[index]].min
          left_ns -= collected_ns
          own_ns[index] = ((bursts_ns[index] - collected_ns) * change.cpu_ratio).round
        end
        short_ns = change.short_gc_ns(gc_ns)
        own_ns[order.first] += short_ns.to_i
        waits_ns = self.waits_ns.zip(wait_kinds).map { |ns, kind| changed_wait_ns(ns, kind, change) }
        with(bursts_ns: own_ns, waits_ns:, gc_ns: short_ns)
      end

      # @return [Integer] nanoseconds of them that computed
      def compute_ns = ns_of(%w[compute])

      # @return [Integer] how often it lets go of the GVL by itself
      def releases_count = wait_kinds.count { |kind| !Probe::Parts::MARKERS.key?(kind) }

      # @return [Array<String>] kinds of its waits for IO that came back at once, one for each
      def short_io_kinds
        waits_ns.zip(wait_kinds).filter_map do |ns, kind|
          kind if ns < self.class::SLEPT_NS && self.class::IO_KINDS.include?(kind)
        end
      end

      # @return [Array<String>] what it waits for, each once
      def waited_kinds = wait_kinds.uniq - Probe::Parts::MARKERS.keys

      # @api private
      # @return [Array<String>] the same without IO that came back at once, which takes no place of what others wait for
      def served_kinds
        waits_ns.zip(wait_kinds).filter_map { |ns, kind|
          kind if self.class.sleeps?(kind, ns) || !self.class::IO_KINDS.include?(kind)
        }.uniq - Probe::Parts::MARKERS.keys
      end

      # @param kind [String] of a wait
      # @param ns [Numeric] nanoseconds
      # @return [Boolean] whether it is a wait for IO long enough to fall asleep in
      def self.sleeps?(kind, ns) = self::IO_KINDS.include?(kind) && ns >= self::SLEPT_NS

      # Each place is ordered by one number, in which a nanosecond outweighs all places, as these are less than the list
      # is long. Pairs take longer to compare, and a recording may have a hundred thousand bursts, whose order each
      # setting asks for twice.
      #
      # @api private
      # @param list_ns [Array<Integer>] whole nanoseconds
      # @param places [Enumerable<Integer>] indexes in it
      # @return [Array<Integer>] these, the longest first, and those that are as long by place
      def self.longest_first(list_ns, places = list_ns.each_index)
        places.sort_by { |place| place - list_ns[place] * list_ns.size }
      end

      private

      def changed_wait_ns(ns, kind, change)
        return (ns * change.cpu_ratio).round if kind == "compute"
        self.class.sleeps?(kind, ns) ? (ns * change.io_ratio).round : ns
      end

      def ns_of(kinds) = waits_ns.zip(wait_kinds).sum { |ns, kind| kinds.include?(kind) ? ns : 0 }
    end

    # A lock, or a pool of connections, that each worker process has one of.
    #
    # name: its class and place; kind: "mutex", "monitor", "pool" (which serves who waits in order) or "unfair_pool"
    #   (whoever is awake first); servers_count: 1, or the pool's size
    LockDemand = Document.define(:name, :kind, :servers_count)

    # Threads of one name of the app's own in each serving process, that are there whatever the load.
    #
    # burst_ns: CPU with the GVL each time; gap_ns: mean time without it between two, both of each thread
    # threads_count: in a process
    BackgroundDemand = Document.define(:name, :burst_ns, :gap_ns, :threads_count, added: {threads_count: 1}) do
      # @return [Float] cores that they would keep busy if nothing were in their way
      def cores = threads_count * burst_ns.fdiv(burst_ns + gap_ns)
    end

    # One endpoint's part in the traffic, and its recorded requests.
    #
    # weight_ratio: share of all requests, 0..1; mean_*_ns: over the demands; mean_gc_ns is part of mean_held_ns, as in
    #   a demand
    # gc_debt_ns: garbage collection of a mean request that comes in long
    #   collections (see Workload#at), and is in no demand
    EndpointDemand = Document.define(:name, :weight_ratio, :requests_count, :mean_held_ns, :mean_wait_ns, :mean_lock_ns,
      :mean_gc_ns, :gc_debt_ns, :demands, nested: {demands: [Demand]}, added: {gc_debt_ns: 0}) do
      # Older files call the time with the GVL CPU.
      def self.of_now(fields) = fields.transform_keys("mean_cpu_ns" => "mean_held_ns")
      private_class_method :of_now

      # @return [Integer] without garbage collection, where that was timed
      def mean_cpu_ns = mean_held_ns - mean_gc_ns.to_i

      # @api private
      # @return [Integer] of a mean request with nobody in its way
      def mean_ns = mean_held_ns + mean_wait_ns

      # @api private
      # @yieldparam demand [Demand]
      # @return [Float] mean over the demands
      def mean_of(&) = demands.sum(&).fdiv(demands.size)

      # @param change [CostFit::Change]
      # @return [EndpointDemand] with the CPU and the garbage collection of another setting
      def changed(change)
        gc_ns = mean_gc_ns.to_i * change.gc_ratio
        demands = self.demands.map { |demand| demand.changed(change) }
        with(demands:, mean_wait_ns: demands.sum(&:wait_ns).fdiv(demands.size).round,
          mean_held_ns: (mean_cpu_ns * change.cpu_ratio + gc_ns).round, mean_gc_ns: mean_gc_ns && gc_ns.round,
          gc_debt_ns: (gc_ns * change.long_gc_ratio).round)
      end
    end

    # Memory by process, from PSS; together they are what the recorded processes took.
    #
    # shared_bytes: what stays when a worker more is started (the master, pages shared by all)
    # per_worker_bytes: what each worker adds, its own pages; nil when the observation had one process only (then
    #   shared_bytes is nil too and single_bytes, the one process, is all that is known)
    MemoryDemand = Document.define(:shared_bytes, :per_worker_bytes, :single_bytes)

    # The cost of a mean request, in time on the cores, at one setting that was recorded.
    #
    # cpu_ns: with the GVL, less garbage collection; gc_ns: garbage collection, nil where it was not timed
    # long_gc_ratio: share of gc_ns in requests with a long collection; long_gcs_ns: sample of those
    # io_ns: waits for IO that were long enough to sleep in, see Demand::SLEPT_NS
    # releases_count: how often it let go of the GVL, and so the most switches that there can be
    # switches_count: how often it went on after a wait for the GVL, so that another thread had run in between
    # colds_count: how often it went on after a wait in which nobody of its process computed
    # busy_cores: cores that the server kept busy meanwhile, on average; requests_per_s: that it served
    # kernel_ns: CPU without the GVL, in system calls and on the way into a wait and out of it; nil where it is unknown
    # handoff_ns: how long nobody had the GVL each time that a thread let go of it; nil where nobody wanted it at times
    Cost = Document.define(:topology, :cpu_ns, :gc_ns, :long_gc_ratio, :long_gcs_ns, :io_ns, :releases_count,
      :switches_count, :busy_cores, :requests_per_s, :colds_count, :kernel_ns, :handoff_ns,
      nested: {topology: Topology},
      added: {requests_per_s: nil, colds_count: 0.0, kernel_ns: nil, handoff_ns: nil}) do
      # @return [Boolean] whether its server was a cluster
      def cluster? = topology.workers_count > 1
    end

    # The figures that a recording itself saw at its setting and under its load, so that a simulation of the same can be
    # compared with them.
    #
    # throughput_per_s, p50_ns, p99_ns: as the client saw them; nil where nobody did
    # requests_count, duration_ns: finished requests of the window, and its length
    # budget: Probe::Budget, the sum over these requests
    # taken_ratio: share of the machine that others used meanwhile; nil where nobody knows
    Recorded = Document.define(:topology, :arrivals, :throughput_per_s, :p50_ns, :p99_ns, :requests_count, :duration_ns,
      :budget, :taken_ratio,
      nested: {topology: Topology, arrivals: Arrivals, budget: Probe::Budget}, added: {taken_ratio: nil})

    # The demands of the app, independent of the settings it was recorded with.
    #
    # overhead_cpu_ns: CPU per request outside the recorded requests: Puma's own (accept, reactor, hand-over)
    # tail_cpu_ns: the pool threads' part of it, after a response has been sent; nil where unknown
    # timeslice_ms: the recorded server's time slice
    # locks: Array<LockDemand>, that demands acquire and release; background: Array<BackgroundDemand>
    # switch_cpu_ns: CPU that a burst takes more because another pool thread had the GVL before it, while a core was
    #   idle, which the recorded bursts hold until `at` takes it out; nil: the machine's
    # switch_busy_cpu_ns: the same while all other cores were busy
    # cold_cpu_ns: CPU that a burst takes more after a wait in which nobody of its process computed, in the same way
    # release_cpu_ns: CPU that a call which comes back at once takes more, besides the hand-over, because its thread
    #   hands the GVL over; nil: none was seen
    # handoff_ns: from one thread's release of the GVL to the next one's first instruction, with a core idle; nil: the
    #   machine's
    # observed_topology, observed_throughput_per_s, observed_p50_ns, observed_p99_ns: what the recording itself saw,
    #   kept so that a forecast of the same settings can be held against it; nil where unknown
    # recorded: Array<Recorded>, the recording that all else was fitted to first, then its companions at other settings,
    #   then part load
    # puma_features: what the recorded Puma was seen to have, see Probe::Puma; nil: its version tells
    # queue_requests, io_threads_count: its option of that name, and max_io_threads; nil where nobody could be asked
    # costs: what a request took at each recorded setting, the one whose requests are replayed first
    # part_load: the same at the first one's setting while cores were idle at times; nil where it was not recorded
    # long_gcs_ns: sample of collections that are too long to be one request's own, see CostFit
    Workload = Document.define(:endpoints, :overhead_cpu_ns, :tail_cpu_ns, :timeslice_ms, :arrivals, :memory,
      :observed_topology, :observed_throughput_per_s, :observed_p50_ns, :observed_p99_ns, :puma_version, :puma_features,
      :ruby_version, :locks, :background, :costs, :part_load, :switch_cpu_ns, :long_gcs_ns, :recorded, :unknown,
      :queue_requests, :io_threads_count, :switch_busy_cpu_ns, :cold_cpu_ns, :release_cpu_ns,
      :handoff_ns,
      kind: :workload,
      nested: {
        endpoints: [EndpointDemand], arrivals: Arrivals, memory: MemoryDemand, observed_topology: Topology,
        locks: [LockDemand], background: [BackgroundDemand], costs: [Cost], part_load: Cost, recorded: [Recorded],
        unknown: [Unknown]
      },
      added: {puma_features: nil, locks: [], background: [], costs: [], part_load: nil, switch_cpu_ns: nil,
              long_gcs_ns: [], recorded: [], queue_requests: nil, io_threads_count: nil, switch_busy_cpu_ns: nil,
              cold_cpu_ns: nil, release_cpu_ns: nil, handoff_ns: nil}) do
      # @param topology [Topology]
      # @param machine [Machine]
      # @param arrivals [Arrivals]
      # @param recorded_on [Machine] where it was recorded
      # @return [Float] by how much more CPU a request takes there than where the cores always have work, see CostFit
      def part_load_ratio(topology, machine, arrivals, recorded_on: machine)
        return 1.0 unless costs.any? && part_load && arrivals.open?
        CostFit.new(costs, machine, part_load:, recorded_on:).part_load_ratio(topology, arrivals.rate_per_s)
      end

      # @param topology [Topology]
      # @param machine [Machine]
      # @param part_load_ratio [Float] see part_load_ratio
      # @param recorded_on [Machine] where it was recorded
      # @return [Workload] as it would be there, by what the recordings at several settings tell (see CostFit)
      def at(topology, machine, part_load_ratio: 1.0, recorded_on: machine)
        return self if costs.empty?
        fit = CostFit.new(costs, machine, recorded_on:)
        change = fit.change(topology, endpoints).then { |one| one.with(cpu_ratio: one.cpu_ratio * part_load_ratio) }
        with(endpoints: endpoints.map { |endpoint| endpoint.changed(change) }, costs: [],
          switch_cpu_ns: fit.switch_cpu_ns, switch_busy_cpu_ns: fit.switch_busy_cpu_ns, cold_cpu_ns: fit.cold_cpu_ns,
          release_cpu_ns: fit.release_cpu_ns, handoff_ns: fit.handoff_ns, long_gcs_ns: change.long_gcs_ns)
      end

      # @return [Float] nanoseconds that a mean request needs the GVL for, overhead included
      def mean_held_ns = overhead_cpu_ns + mean_of(&:mean_held_ns)

      # @return [Float] waiting nanoseconds of a mean request
      def mean_wait_ns = mean_of(&:mean_wait_ns)

      # @return [Float] 0..1, share of an undisturbed request that needs the GVL
      def held_ratio = mean_held_ns.fdiv(mean_ns)

      # @api private
      # @return [Float] nanoseconds of a mean request with nobody in its way
      def mean_ns = mean_held_ns + mean_wait_ns

      # @api private
      # @yieldparam endpoint [EndpointDemand]
      # @return [Float] mean over all requests, each endpoint's weighing what it has of them
      def mean_of = endpoints.sum { |endpoint| endpoint.weight_ratio * yield(endpoint) }
    end
  end
end
