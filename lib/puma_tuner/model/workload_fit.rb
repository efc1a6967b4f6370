# frozen_string_literal: true

module PumaTuner
  module Model
    # The demands of an app, out of an observation of it.
    class WorkloadFit
      # A judgement: the simulation replays recorded requests, and fewer than this show neither how an endpoint's
      # requests differ nor its slow ones.
      MINIMUM_TRACES_COUNT = 30

      # We measured 33 to 37 µs of CPU per request with an empty app on Puma 8. This figure stands in where it could not
      # be measured.
      TYPICAL_OVERHEAD_CPU_NS = 35_000

      # Judgements: of so many requests whose parts miss their wall time (by
      # over 1%), a model may say something, and should say nothing.
      UNACCOUNTED_REMARK_RATIO = 0.05
      UNACCOUNTED_REFUSED_RATIO = 0.5

      # Where so much of the time of requests is Puma's queue, or where threads or cores are busy for so much of their
      # time, those who wait for responses decide how many come, and not a rate of their own. Both are judgements.
      SATURATED_RATIO = 0.5
      BUSY_RATIO = 0.9

      SERVING_ROLES = %w[single worker].freeze

      # @param observation [Probe::Observation]
      # @return [Workload]
      # @raise [InvalidMeasurement] when too few requests were recorded
      def self.workload(observation) = new(observation).workload

      # @param observation [Probe::Observation] of a load that is not ours
      # @return [Arrivals] of as many clients as requests were under way on average (Little's law), each of which waits
      #   for its response before it comes again
      def self.waiting(observation)
        duration_ns = observation.duration_ns
        Arrivals.closed([inside_ns(observation.endpoints, :wall_ns, duration_ns).fdiv(duration_ns).round, 1].max)
      end

      # What ends in a window is recorded with all of its time, also with what passed before: an export or a long poll
      # of minutes would fill a window of seconds by itself. So nothing counts for longer than the window.
      #
      # @param works [Array<Probe::EndpointObservation>] endpoints or jobs
      # @param part [Symbol] of their budgets, `:wall_ns`, `:queue_ns` or `:on_core_ns`
      # @return [Numeric] nanoseconds of that part in all of them; 0 where it was not told apart
      def self.inside_ns(works, part, duration_ns)
        works.sum { |work| [work.budget.public_send(part).to_i, *most_ns(work.latency, duration_ns)].min }
      end

      # @return [Integer, nil] what these can count for; nil where none is longer than the window
      def self.most_ns(latency, duration_ns)
        spans = latency.counts.map { |bucket, count| [Probe::Histogram.range_of(bucket), count] }
        return if spans.all? { |span, _| span.begin <= duration_ns }
        spans.sum { |span, count| [(span.begin + span.end) / 2, duration_ns].min * count }
      end
      private_class_method :most_ns

      def initialize(observation)
        @observation = observation
        @unknown = []
        @with_gvl_ns = {}.compare_by_identity
      end

      # @return [Workload]
      # @raise [InvalidMeasurement]
      def workload
        refuse_too_few_traces
        refuse_unaccounted_budget
        unknown(:environment, :development) if @observation.server.rack_environment == "development"
        Workload.new(endpoints:, overhead_cpu_ns:, tail_cpu_ns:, timeslice_ms: @observation.server.thread_timeslice_ms,
          arrivals:, memory:, **observed, puma_version: @observation.server.puma_version,
          puma_features: @observation.server.puma_features, ruby_version: @observation.server.ruby_version, costs:,
          part_load: @observation.part_load && cost(@observation.part_load), locks: lock_fit.locks, background:,
          recorded:, unknown: @unknown.freeze, queue_requests:, io_threads_count: option("max_io_threads")&.to_i)
      end

      private

      # @return [nil]
      def unknown(field, cause, **facts)
        @unknown << Unknown.of(field, cause, **facts)
        nil
      end

      def refuse_too_few_traces
        traces_count = @observation.endpoints.sum { |endpoint| endpoint.traces.size }
        missing_count = MINIMUM_TRACES_COUNT - traces_count
        return unless missing_count.positive?
        why_not = @observation.why_no_extension
        if why_not
          raise InvalidMeasurement, "no request could be recorded step by step, and a model needs that: #{why_not}"
        end
        requests_per_trace = traces_count.zero? ? 1 : @observation.requests_count.fdiv(traces_count)
        raise InvalidMeasurement, "only #{traces_count} requests were recorded step by step, " \
          "and a model needs at least #{MINIMUM_TRACES_COUNT}. " \
          "Measure longer or under more load: at least #{(missing_count * requests_per_trace).ceil} requests more."
      end

      # Without the extension they are not counted, and there are no traces either.
      def refuse_unaccounted_budget
        unaccounted_count = @observation.endpoints.sum { |endpoint| endpoint.unaccounted_count.to_i }
        ratio = unaccounted_count.fdiv(@observation.requests_count)
        return unless ratio > UNACCOUNTED_REMARK_RATIO
        return unknown(:budget, :unaccounted, ratio:) if ratio <= UNACCOUNTED_REFUSED_RATIO
        raise InvalidMeasurement, "for #{Units.percent(ratio)} of the requests the breakdown is off from the wall " \
          "time by more than 1%, so no model can be made of this recording. " \
          "Measure again with nothing else on the machine; if it happens again, please report it with the observation."
      end

      def endpoints
        recorded, missed = @observation.endpoints.partition { |endpoint| endpoint.traces.any? }
        missed.each do |endpoint|
          unknown(:endpoint, :no_trace, whose: endpoint.name, requests_count: endpoint.requests_count)
        end
        total_count = recorded.sum(&:requests_count)
        recorded.map { |endpoint| endpoint_demand(endpoint, total_count) }.freeze
      end

      def endpoint_demand(endpoint, total_count)
        lateness = lateness_fit.of(@observation)
        demands = endpoint.traces.map { |trace| DemandFit.demand(trace, lateness:, locks: lock_fit.places) }.freeze
        EndpointDemand.new(name: endpoint.name, weight_ratio: endpoint.requests_count.fdiv(total_count),
          requests_count: endpoint.requests_count, demands:,
          mean_held_ns: mean(demands, &:held_ns), mean_wait_ns: mean(demands, &:wait_ns),
          mean_lock_ns: mean(demands, &:lock_ns), mean_gc_ns: mean_gc_ns(endpoint.name, demands))
      end

      def lateness_fit = @lateness_fit ||= LatenessFit.new(recordings)

      def recordings = [@observation, *@observation.companions, *@observation.part_load]

      def mean_gc_ns(name, demands)
        return mean(demands, &:gc_ns) if demands.all?(&:gc_ns)
        unknown(:mean_gc_ns, :gc_not_timed, whose: name)
      end

      def mean(demands, &) = demands.sum(&).fdiv(demands.size).round

      # Returns what the serving processes computed that neither a request nor a thread of the app's own accounts for:
      # accept, reactor, hand-over.
      def overhead_cpu_ns
        requests_count = @observation.requests_count
        used_ns = total(serving_processes.map(&:cpu_ns))
        counted_ns = @observation.requests_cpu_ns
        return [(used_ns - counted_ns - others_cpu_ns).fdiv(requests_count).round, 0].max if used_ns && counted_ns
        unknown(:overhead_cpu_ns, :no_cpu_time, assumed_ns: TYPICAL_OVERHEAD_CPU_NS)
        TYPICAL_OVERHEAD_CPU_NS
      end

      # Returns the CPU time of threads that Puma has not made, and of the jobs on them: it grows with time, and not
      # with requests.
      def others_cpu_ns
        @observation.background.reject(&:pumas_own?).sum { |thread| thread.budget.on_core_ns.to_i }
      end

      # Returns what pool threads computed outside of requests.
      def tail_cpu_ns
        @observation.tail_cpu_ns || unknown(:tail_cpu_ns, :no_thread_cpu_time)
      end

      # @return [LockFit]
      def lock_fit
        @lock_fit ||= LockFit.new(@observation).tap do |fit|
          unknown(:locks, :waits_not_watched, ratio: fit.unwatched_ratio) if fit.unwatched_ratio
        end
      end

      # A thread that takes less than this share of a core is left out.
      BACKGROUND_LEAST_RATIO = 0.001

      # Threads of the app's own: as often as each took the GVL, and as long as it computed then.
      def background
        window_ns = @observation.duration_ns * serving_processes.size
        return [].freeze if window_ns.zero?
        @observation.background.filter_map { |thread| background_demand(thread, window_ns) }.freeze
      end

      def background_demand(thread, window_ns)
        computed_ns = thread.budget.on_core_ns.to_i
        if thread.pumas_own? || !thread.cycles_count.to_i.positive? || computed_ns < BACKGROUND_LEAST_RATIO * window_ns
          return
        end
        threads_count = threads_count(thread, window_ns)
        lived_ns = window_ns * threads_count
        idle_ns = [lived_ns - computed_ns - thread.budget.gvl_wait_ns.to_i, lived_ns - computed_ns].find(&:positive?)
        gap_ns = idle_ns.to_i / thread.cycles_count
        BackgroundDemand.new(name: thread.name, burst_ns: computed_ns / thread.cycles_count, gap_ns: [gap_ns, 1].max,
          threads_count:)
      end

      # Returns how many threads of the name were there at a time, by how long all of them lived. One that slept for
      # longer than the window is has all of it in the window in which it woke up, so that each took the GVL at least
      # once.
      def threads_count(thread, window_ns)
        lived_ns = thread.budget.wall_ns + thread.budget.idle_ns.to_i
        lived_ns.fdiv(window_ns).round.clamp(1, thread.cycles_count)
      end

      # Returns the costs in the recording itself, and in those of the same app at other settings.
      def costs = [@observation, *@observation.companions].filter_map { |recording| cost(recording) }.freeze

      # Weighs by endpoint, and then by the traffic of the recording that is replayed, so that a companion's other mix
      # of requests changes nothing. One that did not come there is taken to cost what it did here.
      #
      # @return [Cost, nil] nil where CPU was not told apart
      def cost(recording)
        timed = ->(endpoint) { endpoint.budget.cpu_ns&.positive? && endpoint.traces.any? }
        there = recording.endpoints.select(&timed).to_h { |endpoint| [endpoint.name, endpoint] }
        weighted = @observation.endpoints.select(&timed)
          .map { |endpoint| [endpoint.requests_count, there.fetch(endpoint.name, endpoint)] }
        return if weighted.none? { |_, endpoint| endpoint.equal?(there[endpoint.name]) }
        long_gc_ratio, long_gcs_ns = long_gcs(weighted)
        if weighted.all? { |_, one| one.budget.gc_ns }
          gc_ns = weighted_mean(weighted) { |one| one.budget.gc_ns.fdiv(one.requests_count) }
        end
        lateness = lateness_fit.of(recording)
        cpu_ns = weighted_mean(weighted) { |one| with_gvl_ns(one) }
        releases_count = mean_of_traces(weighted) { |trace| DemandFit.releases_count(trace) }
        Cost.new(topology: recording.topology, long_gc_ratio:, long_gcs_ns:, gc_ns:, cpu_ns:, releases_count:,
          io_ns: mean_of_traces(weighted) { |trace| slept_in_io_ns(trace, lateness) },
          switches_count: mean_of_traces(weighted) { |trace| DemandFit.switches_count(trace) },
          colds_count: mean_of_traces(weighted) { |trace| DemandFit.colds_count(trace) },
          kernel_ns: kernel_ns(weighted, cpu_ns, releases_count), handoff_ns: handoff_ns(recording, there.values),
          busy_cores: busy_cores(recording), requests_per_s: throughput_per_s(recording))
      end

      # Of so much of the time nobody may want the GVL where the rest of it tells how long hand-overs take. A judgement:
      # Erlang's share of it is taken off, so that only what that is wrong by remains in their time.
      UNWANTED_RATIO = 0.05

      # Where somebody nearly always wants the GVL of a process, either somebody has it or it is being handed over.
      #
      # @param endpoints [Array<Probe::EndpointObservation>] of that recording, with its own mix of requests
      # @return [Float, nil] nanoseconds for each time that a thread let go of it; nil where nobody wanted it more often
      def handoff_ns(recording, endpoints)
        threads_count = recording.topology&.threads_count.to_i
        return if threads_count < 2
        weighted = endpoints.map { |endpoint| [endpoint.requests_count, endpoint] }
        had_ns = weighted_mean(weighted) { |one| had_gvl_ns(one) }
        others_ns = beside_requests_ns(recording)
        return if had_ns.zero? || others_ns.nil? || throughput_per_s(recording).zero?
        each_ns = recording.topology.workers_count * Units::NS_PER_S / throughput_per_s(recording).to_f
        waited_ns = weighted_mean(weighted) { |one| one.budget.gvl_wait_ns.to_i.fdiv(one.requests_count) }
        unwanted_ratio = unwanted_ratio([each_ns * threads_count - had_ns - waited_ns, 0].max / had_ns, threads_count)
        return if unwanted_ratio > UNWANTED_RATIO
        # Puma lets go of it once more after the response, to look at the connection.
        releases_count = 1 + mean_of_traces(weighted) { |trace| DemandFit.releases_count(trace) }
        [each_ns * (1 - unwanted_ratio) - had_ns - others_ns, 0].max / releases_count
      end

      # Threads that are away for a while and then line up for the GVL are machines and their repairman (Palm): nobody
      # wants it for as much of the time as Erlang's loss formula says. Were they away independently of each other, it
      # would be far less: 0.1% instead of 2.6% for five threads of files_few, which are away for 25% of their time.
      #
      # @param away_ratio [Float] time without the GVL and without a wait for it, over time with it
      # @return [Float] of the time, that in which nobody wants the GVL
      def unwanted_ratio(away_ratio, threads_count)
        (1..threads_count).inject(1.0) { |lost, count| away_ratio * lost / (count + away_ratio * lost) }
      end

      # @return [Float] nanoseconds in which a mean request had the GVL, on a core or not
      def had_gvl_ns(endpoint)
        budget = endpoint.budget
        with_gvl_ns(endpoint) + (budget.gc_ns.to_i + budget.preempted_ns.to_i).fdiv(endpoint.requests_count)
      end

      # @return [Float, nil] CPU of the serving processes besides requests, for each of these
      def beside_requests_ns(recording)
        processes = recording.processes.select { |process| SERVING_ROLES.include?(process.role) }
        used_ns, counted_ns = total(processes.map(&:cpu_ns)), recording.requests_cpu_ns
        [used_ns - counted_ns, 0].max.fdiv(recording.requests_count) if used_ns && counted_ns
      end

      # The kernel takes less than this for a call and a hand-over: 7 to 32 µs in made apps, which compute nothing
      # without the GVL. A judgement.
      KERNEL_MOST_NS = 50_000

      # @return [Float, nil] nanoseconds of CPU without the GVL in a mean request; nil where native code computed, too,
      #   which can't be told from it, whether it is known to compute or counted as IO
      def kernel_ns(weighted, with_gvl_ns, releases_count)
        return if weighted.any? { |_, one| one.traces.any? { |trace| trace.steps.include?("compute") } }
        kernel_ns = weighted_mean(weighted) { |one| one.budget.cpu_ns.fdiv(one.requests_count) } - with_gvl_ns
        kernel_ns if kernel_ns <= KERNEL_MOST_NS * (1 + releases_count)
      end

      # In time of the app's own: less what its thread then waited for a core.
      def slept_in_io_ns(trace, lateness)
        trace.steps.each_slice(2).sum { |kind, ns| lateness.slept_ns(kind, ns) }
      end

      def mean_of_traces(weighted, &)
        weighted_mean(weighted) { |one| one.traces.sum(&).fdiv(one.traces.size) }
      end

      # System calls on the way into a wait and out of it use CPU without the GVL; how much is seen in recorded
      # requests. Several figures need it, and to look at all steps takes long.
      #
      # @return [Float] nanoseconds of CPU with the GVL in a mean request, less garbage collection
      def with_gvl_ns(endpoint) = @with_gvl_ns[endpoint] ||= gvl_ns(endpoint)

      def gvl_ns(endpoint)
        used_ns = endpoint.traces.sum { |trace| trace.on_core_ns.to_i }
        with_ns = endpoint.traces.sum { |trace| [DemandFit.demand(trace).held_ns, trace.on_core_ns.to_i].min }
        gc_ns = endpoint.budget.gc_ns.to_i
        share = used_ns.zero? ? 1.0 : with_ns.fdiv(used_ns)
        [(endpoint.budget.cpu_ns + gc_ns) * share - gc_ns, 0].max / endpoint.requests_count
      end

      LONG_GCS_KEPT_COUNT = 64

      # @return [Array(Float, Array<Integer>)] share of garbage collection that was in long ones, and a sample of those,
      #   as evenly drawn from the shortest to the longest as there are places
      def long_gcs(weighted)
        pairs = weighted.flat_map do |weight, one|
          one.traces.map { |trace| [weight.fdiv(one.traces.size), trace.gc_ns.to_i] }
        end
        limit_ns = CostFit.limit_ns(pairs)
        long = pairs.select { |_, ns| ns >= limit_ns }.sort_by(&:last)
        return [0.0, [].freeze] if long.empty?
        ratio = long.sum { |weight, ns| weight * ns } / pairs.sum { |weight, ns| weight * ns }
        kept_count = [long.size, LONG_GCS_KEPT_COUNT].min
        [ratio, Array.new(kept_count) { |index| long[(index + 0.5) * long.size / kept_count].last }.freeze]
      end

      def weighted_mean(weighted) = weighted.sum { |weight, one| weight * yield(one) }.fdiv(weighted.sum(&:first))

      # The load generator is one process more beside the server's. What they used is of all requests, those of settling
      # and of the load's end included, which are in no throughput: so it counts by request.
      #
      # @return [Float] no more than there are
      def busy_cores(recording)
        used_ns = total(recording.processes.reject { |process| process.role == "master" }.map(&:cpu_ns))
        return recording.topology.workers_count.to_f unless used_ns && recording.requests_count.positive?
        busy = used_ns.fdiv(recording.requests_count) * throughput_per_s(recording) / Units::NS_PER_S
        [busy, recording.machine.cores_count].min.to_f
      end

      def serving_processes = @observation.processes.select { |process| SERVING_ROLES.include?(process.role) }

      # @return [Integer, nil] nil when there is nothing to add up, or a part is unknown
      def total(parts_ns) = (parts_ns.sum unless parts_ns.empty? || parts_ns.include?(nil))

      def arrivals
        found = arrivals_of(@observation)
        unknown(:arrivals, found.open? ? :load_not_ours : :saturated) unless @observation.load
        found
      end

      # A served rate is no rate of arrivals where the server could not serve more.
      def arrivals_of(recording)
        load = recording.load
        found = if load.nil?
          saturated?(recording) ? self.class.waiting(recording) : Arrivals.open(recording.throughput_per_s)
        elsif load.rate_per_s then Arrivals.open(load.rate_per_s, kind: load.arrivals)
        else
          Arrivals.closed(load.connections_count, think_ns: load.think_ns)
        end
        found.with(reuse_count: [load&.reuse_count, most_reuse_count].compact.min)
      end

      # Puma's own bound, of 999 requests since 7.0, is none that a simulation comes to.
      USUAL_REUSE_COUNT = 999

      # @return [Integer, nil] requests after which the recorded Puma closes a connection; nil: it does not
      def most_reuse_count
        return 1 if option("enable_keep_alives") == "false"
        option("max_keep_alive")&.to_i&.then { |count| count if count.between?(1, USUAL_REUSE_COUNT - 1) }
      end

      # @return [Boolean, nil]
      def queue_requests = option("queue_requests")&.then { |value| value != "false" }

      # @return [String, nil] an option of Puma's in effect; nil where nobody could be asked
      def option(name) = @observation.fingerprint[[:puma, name]]

      # Jobs inside Puma, as Active Job's :async runs them, have threads of their own, which are none of the pool's, and
      # wait in no queue of Puma's; but they use the same cores.
      def saturated?(recording)
        topology, duration_ns = recording.topology, recording.duration_ns
        inside_ns = ->(works, part) { WorkloadFit.inside_ns(works, part, duration_ns) }
        wall_ns, queue_ns = %i[wall_ns queue_ns].map { |part| inside_ns.call(recording.endpoints, part) }
        return true if queue_ns > SATURATED_RATIO * wall_ns
        used = [wall_ns - queue_ns, inside_ns.call(recording.endpoints + recording.jobs, :on_core_ns)]
        had = [topology.workers_count * topology.threads_count, usable_cores(recording)]
        used.zip(had).any? { |ns, count| ns > BUSY_RATIO * count * duration_ns }
      end

      # @return [Probe::Budget] without that of jobs, which a server's own recording has in its sum
      def requests_budget(recording) = recording.endpoints.map(&:budget).reduce(:+)

      # A process uses one core, with the GVL, unless native code computes without it.
      def usable_cores(recording)
        machine = recording.machine
        cores = [machine.cores_count, machine.cpu_quota_cores].compact.min
        native = recording.endpoints.any? { |one| one.traces.any? { |trace| trace.steps.include?("compute") } }
        native ? cores : [cores, recording.topology.workers_count].min
      end

      # RSS counts pages shared by the processes once for each, so it is no substitute. But what a worker has in it
      # beyond its PSS tells how many such pages there are, which another worker would have, too.
      def memory
        # A companion's where the recording has none in that role.
        recordings = [@observation, *@observation.companions]
        by_role = recordings.reverse.map { |recording| recording.processes.group_by(&:role) }.inject(:merge)
        single_bytes = mean_pss_bytes(by_role, "single", :single_bytes)
        per_worker_bytes = mean_pss_bytes(by_role, "worker", :per_worker_bytes)
        shared_bytes = mean_pss_bytes(by_role, "master", :shared_bytes)
        return MemoryDemand.new(shared_bytes:, per_worker_bytes:, single_bytes:) unless shared_bytes && per_worker_bytes
        workers = by_role.fetch("worker")
        in_all_bytes = bytes_in_all(workers, per_worker_bytes)
        own_bytes = per_worker_bytes - in_all_bytes / (workers.size + 1)
        MemoryDemand.new(shared_bytes: shared_bytes + workers.size * (per_worker_bytes - own_bytes),
          per_worker_bytes: own_bytes, single_bytes:)
      end

      # Pages that each of n workers and the master have are in the RSS of each whole, and in its PSS by an (n + 1)th.
      #
      # @return [Integer] their bytes; 0 where RSS is unknown
      def bytes_in_all(workers, pss_bytes)
        rss_bytes = total(workers.map(&:rss_bytes))&.fdiv(workers.size)
        unless rss_bytes
          unknown(:shared_bytes, :no_rss)
          return 0
        end
        ((rss_bytes - pss_bytes) * (workers.size + 1) / workers.size).clamp(0, pss_bytes * (workers.size + 1)).round
      end

      def mean_pss_bytes(by_role, role, field)
        readings = by_role.fetch(role, []).map(&:pss_bytes)
        sum_bytes = total(readings)
        return sum_bytes.fdiv(readings.size).round if sum_bytes
        unknown(field, readings.empty? ? :no_process : :no_pss, role:)
      end

      # Returns, for the self-check, the figures of the recording itself, and of those at other settings and part load.
      def recorded
        recordings.select(&:topology).map do |recording|
          load = recording.load
          Recorded.new(topology: recording.topology, arrivals: arrivals_of(recording),
            throughput_per_s: throughput_per_s(recording), p50_ns: load&.p50_ns, p99_ns: load&.p99_ns,
            requests_count: recording.requests_count, duration_ns: recording.duration_ns,
            budget: budget_with_gvl(recording), taken_ratio: load&.taken_ratio)
        end.freeze
      end

      # The recorded steps, which are replayed, have CPU that was used without the GVL among the waits; so has this.
      def budget_with_gvl(recording)
        budget = requests_budget(recording)
        return budget unless budget.cpu_ns && budget.io_ns
        told = recording.endpoints.select { |endpoint| endpoint.traces.any? && endpoint.budget.cpu_ns }
        without_ns = told.sum { |endpoint| endpoint.budget.cpu_ns - with_gvl_ns(endpoint) * endpoint.requests_count }
          .round.clamp(0, budget.cpu_ns)
        budget.with(cpu_ns: budget.cpu_ns - without_ns, io_ns: budget.io_ns + without_ns)
      end

      def throughput_per_s(recording) = recording.load&.throughput_per_s || recording.throughput_per_s

      def observed
        load = @observation.load
        %i[observed_p50_ns observed_p99_ns].each { |field| unknown(field, :no_client) } unless load
        {observed_topology: @observation.topology, observed_throughput_per_s: throughput_per_s(@observation),
         observed_p50_ns: load&.p50_ns, observed_p99_ns: load&.p99_ns}
      end
    end
  end
end
