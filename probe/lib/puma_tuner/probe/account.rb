# frozen_string_literal: true

module PumaTuner
  module Probe
    # Makes an Observation of what a server's ledgers gained between two readings.
    class Account
      # A process has so many places for each of these; traces have theirs in each endpoint.
      PLACES_COUNT = {traces: Ledger::LAYOUT[:traces_per_entry_max], threads: Ledger::LAYOUT[:threads_max],
                      locks: Ledger::LAYOUT[:locks_max]}.freeze

      # A document holds so many traces, as many as eight processes can have: with more, reading it and making a model
      # of it take longer with each worker, and tell no more.
      TRACES_MAX = 8 * Ledger::LAYOUT.fetch(:traces_max, 0)

      # @param before [Hash{String => Ledger}] by path; empty: everything since the beginning
      # @param after [Hash{String => Ledger}]
      def initialize(before, after)
        @before = before
        @after = after
      end

      # @return [Boolean] whether no request and no job has ended
      def empty? = endpoints.empty? && jobs.empty?

      # @return [Array<EndpointObservation>] most requested first
      def endpoints = @endpoints ||= works(:request)

      # @return [Array<EndpointObservation>] the same of jobs
      def jobs = @jobs ||= works(:job)

      # @param run_queue_waits [Hash{Integer => Hash{String => Integer}}] by
      #   process id and thread name, of the same time
      # @return [Array<ThreadObservation>] pool threads
      def threads(run_queue_waits = {})
        by_process { |ledger, entries| threads_of(ledger, entries, run_queue_waits.fetch(ledger.pid, {})) }
          .group_by { |thread| [thread.worker_index, thread.name] }.values.map { |same| same.reduce(:+) }
      end

      # @return [Array<ThreadObservation>] all other threads, of all processes,
      #   those with digits in their names together
      def background
        gained.values.select { |entry| entry.kind == :thread }.map { |entry| thread_of(entry) }
          .reject { |thread| thread.budget.wall_ns.zero? }
          .sort_by { |thread| -thread.budget.cpu_ns }
      end

      # @return [Array<LockObservation>, nil] that were held or waited for, or
      #   are in a trace; nil when nobody watched them
      def locks
        return unless @after.values.any?(&:locks)
        traced = (endpoints + jobs).flat_map(&:traces).flat_map { |trace| lock_ids_in(trace) }.to_h { |id| [id, true] }
        locks = gained_locks.filter_map do |key, lock|
          id = lock_ids.fetch(key)
          next unless traced[id] || lock.holds_count + lock.waits_count > 0
          lock_of(id, lock.with(threads_count: threads_counts.fetch(key, lock.threads_count)))
        end
        locks.sort_by { |lock| [-lock.wait_ns, lock.id] }
      end

      # @return [ProbeCost]
      # @param cpu_ns [Integer, nil] of all processes, in the same time
      def probe(cpu_ns)
        cycles_count = by_process { |ledger, _, before| [ledger.cycles_count - (before&.cycles_count || 0)] }.sum
        requests_count = (endpoints + jobs).sum(&:requests_count)
        costs = @after.values.max_by(&:cost_per_cycle_ns)
        cost_ns = cycles_count * costs.cost_per_cycle_ns + requests_count * costs.cost_per_request_ns +
          lock_costs.sum { |count, pair_ns| count * pair_ns }
        ProbeCost.new(cycles_count:, cost_per_cycle_ns: costs.cost_per_cycle_ns,
          cost_per_request_ns: costs.cost_per_request_ns, cost_ratio: (cost_ns.fdiv(cpu_ns) if cpu_ns&.positive?),
          lock_pairs_count: (lock_costs.sum(&:first) if lock_costs.any?),
          cost_per_lock_pair_ns: lock_costs.filter_map(&:last).max)
      end

      # @return [Array<Unknown>] of fields that are nil or short of the truth
      def unknown
        why_not = newest.filter_map { |ledger| ledger.facts["why_not"] }.first
        sampled = endpoints.any? { |endpoint| endpoint.traces.size < endpoint.requests_count }
        [
          (Unknown.of(:traces, :sampled, most_count: PLACES_COUNT[:traces]) if sampled && !why_not),
          cut_traces, no_place(:threads, &:unobserved_threads_count), no_place(:names, &:unnamed_count),
          no_place(:locks, &:unplaced_locks_count),
          (Unknown.of(:locks, :not_watched) unless why_not || newest.any?(&:locks)),
          (Unknown.of(:parts, :no_extension, detail: why_not) if why_not),
          (Unknown.of(:told_by_kernel, :no_proc) unless Processes.told?)
        ].compact
      end

      # @return [Integer] requests that ended in the processes of a path
      def requests_count(path)
        difference(path).values.select { |entry| entry.kind == :request }.sum { |entry| entry.counts.first }
      end

      # @return [Integer, nil] of a process
      def gc_count(path) = @after[path].gc_count && @after[path].gc_count - (@before[path]&.gc_count || 0)

      private

      def newest = @after.values

      def cut_traces
        works = endpoints + jobs
        cut_count = works.sum(&:cut_traces_count)
        return unless cut_count.positive?
        Unknown.of(:steps, :cut, cut_count:, traces_count: works.sum { |one| one.traces.size },
          most_count: Ledger::STEPS_MAX)
      end

      def no_place(field)
        missed_count = newest.sum { |ledger| yield(ledger).to_i }
        Unknown.of(field, :no_place, missed_count:, most_count: PLACES_COUNT[field]) if missed_count.positive?
      end

      # @return [Hash{Array => Ledger::Entry}] of all processes together
      def gained
        @gained ||= begin
          earlier = Ledger.sum(@before.values)
          Ledger.sum(@after.values).to_h { |key, entry| [key, earlier.key?(key) ? entry - earlier[key] : entry] }
        end
      end

      def difference(path)
        earlier = @before[path]&.entries || {}
        @after[path].entries.to_h { |key, entry| [key, earlier.key?(key) ? entry - earlier[key] : entry] }
      end

      def by_process
        @after.sort_by { |_, ledger| [ledger.facts["worker_index"] || 0, ledger.began_at_ns] }
          .flat_map { |path, ledger| yield(ledger, difference(path), @before[path]) }
      end

      def threads_of(ledger, entries, run_queue_waits)
        entries.values.select { |entry| entry.kind == :pool_thread && entry.counts.first.positive? }
          .map { |entry|
            thread_of(entry).with(worker_index: ledger.facts["worker_index"], requests_count: entry.counts.first,
              run_queue_wait_ns: run_queue_waits[entry.name])
          }.sort_by(&:name)
      end

      def thread_of(entry)
        ThreadObservation.new(worker_index: nil, name: entry.name, requests_count: nil, run_queue_wait_ns: nil,
          cycles_count: entry.counts[Parts::COUNTS.index(:cycles)],
          budget: Budget.of(Parts::SUMS.zip(entry.sums).to_h).with(queue_ns: nil, before_puma_ns: nil))
      end

      def works(kind)
        gained.values.select { |entry| entry.kind == kind && entry.counts.first.positive? }
          .map { |entry| work(entry) }.sort_by { |work| [-work.requests_count, work.name] }
      end

      def work(entry)
        counts = Parts::COUNTS.zip(entry.counts).to_h
        distributions = Parts::DISTRIBUTIONS.zip(entry.histograms).to_h
        latency = distributions.delete(:wall)
        traces = traces_of(entry)
        EndpointObservation.new(name: entry.name, requests_count: counts[:all], unaccounted_count: counts[:unaccounted],
          budget: budget_of(entry, counts), latency:, p50_ns: latency.quantile_ns(0.5),
          p99_ns: latency.quantile_ns(0.99),
          distributions: distributions.compact.map { |part, histogram| Distribution.new(part: part.to_s, histogram:) },
          slices_count: counts[:slices], long_holds_count: counts[:long_holds], blame: blame_of(entry),
          traces: traces.map(&:first), cut_traces_count: traces.count(&:last))
      end

      # No queue of jobs is known to us, and without a proxy's stamp no time before Puma is.
      def budget_of(entry, counts)
        budget = Budget.of(Parts::SUMS.zip(entry.sums).to_h).with(idle_ns: nil)
        budget = budget.with(queue_ns: nil) if entry.kind == :job
        counts[:stamped].to_i.zero? ? budget.with(before_puma_ns: nil) : budget
      end

      def blame_of(entry)
        blames = entry.blames.filter_map do |(kind, name), wait_ns|
          Blame.new(kind: kind.to_s, holder: name, wait_ns:) if wait_ns.positive?
        end
        blames.sort_by { |blame| -blame.wait_ns }
      end

      # @return [Array<Array(Trace, Boolean)>] each with whether it is full
      def traces_of(entry)
        kept = kept(@after.values.flat_map do |ledger|
          ledger.traces.fetch([entry.kind, entry.name], []).map { |trace| [trace, ledger.locks] }
        end)
        kept.map do |trace, locks|
          full = trace.steps.size / 2 >= Ledger::STEPS_MAX
          [locks ? trace.with(steps: renumbered(trace.steps, locks)) : trace, full]
        end
      end

      # @return [Array] of them as many as one endpoint may have, of all processes alike
      def kept(traces)
        return traces if traces.size <= traces_most
        Array.new(traces_most) { |place| traces[place * traces.size / traces_most] }
      end

      # @return [Integer] for one endpoint: those with few keep all, and the others share what is left
      def traces_most
        @traces_most ||= begin
          counts = @after.values.flat_map { |ledger| ledger.traces.transform_values(&:size).to_a }
            .each_with_object(Hash.new(0)) { |(key, count), sums| sums[key] += count }.values.sort
          left = TRACES_MAX
          full = counts.each_with_index.find { |count, place| count > left / (counts.size - place) || !(left -= count) }
          full ? left / (counts.size - full.last) : TRACES_MAX
        end
      end

      # In a process's ledger a lock's id is its place; here the same lock has
      # one id in all processes. One without a place is left out.
      def renumbered(steps, locks)
        steps.each_slice(2).flat_map { |kind, number|
          next [kind, number] unless Parts::MARKERS.key?(kind)
          lock = locks[number - 1] if number.positive?
          lock ? [kind, lock_ids.fetch(lock.key)] : []
        }.freeze
      end

      def lock_ids_in(trace)
        trace.steps.each_slice(2).filter_map { |kind, number| number if Parts::MARKERS.key?(kind) }
      end

      def lock_ids = @lock_ids ||= Ledger.sum_locks(@after.values).keys.sort_by(&:to_s).each.with_index(1).to_h

      def gained_locks
        earlier = Ledger.sum_locks(@before.values)
        Ledger.sum_locks(@after.values).to_h { |key, lock| [key, earlier.key?(key) ? lock - earlier[key] : lock] }
      end

      # Threads of a worker that was replaced before the first reading are none of those that hold a lock today.
      #
      # @return [Hash{Array => Integer}] by its key, how many have ever held it, of the processes that have since then
      def threads_counts
        @threads_counts ||= @after.each_with_object(Hash.new(0)) do |(path, ledger), sums|
          before = @before[path]&.locks.to_a.to_h { |lock| [lock.key, lock.holds_count] }
          ledger.locks.to_a.each do |lock|
            sums[lock.key] += lock.threads_count if lock.holds_count > before.fetch(lock.key, 0)
          end
        end
      end

      def lock_of(id, lock) = LockObservation.new(id:, **lock.to_h.except(:ordinal))

      # @return [Array<Array(Integer, Integer)>] of each process that watches locks: how many pairs, and what each costs
      def lock_costs
        @lock_costs ||= @after.filter_map do |path, ledger|
          if ledger.locks
            [ledger.lock_pairs_count - (@before[path]&.lock_pairs_count || 0), ledger.cost_per_lock_pair_ns]
          end
        end
      end
    end
  end
end
