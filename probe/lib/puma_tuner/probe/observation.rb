# frozen_string_literal: true

module PumaTuner
  module Probe
    # One recorded request, as the steps its thread went through.
    #
    # steps: alternating kind and nanoseconds: ["held", 81000, "io", 920000, "gvl_wait", 4000, "held", …]; kinds are
    #   those of Parts::STEPS. Where locks were watched, also "acquire", where the thread tried to get one, and
    #   "release", where it gave it back; their number is the lock's id. A "lock" or "pool" that follows an "acquire" at
    #   once is the wait for that lock, all of it. What is held at the end of a request is given back there. Held with
    #   the GVL kept and nobody waiting, a lock leaves no step.
    # wall_ns: the sum of all that takes time; queue_ns: in Puma's todo list before that
    # cpu_ns, gc_ns: as in a budget; what of both together exceeds the "held" steps was computed without the GVL. gc_ns
    #   is nil where it was not timed, and then in cpu_ns.
    Trace = Document.define(:steps, :wall_ns, :queue_ns, :cpu_ns, :gc_ns) do
      # Older files call the time with the GVL "cpu", and their cpu_ns holds gc_ns.
      def self.of_now(fields)
        return fields unless fields["steps"].is_a?(Array) && fields["steps"].include?("cpu")
        steps = fields["steps"].map { |step| (step == "cpu") ? "held" : step }
        {**fields, "steps" => steps, "cpu_ns" => fields["cpu_ns"] && fields["cpu_ns"] - fields["gc_ns"].to_i}
      end
      private_class_method :of_now

      # @return [Integer, nil] nanoseconds by the thread's CPU clock
      def on_core_ns = cpu_ns && cpu_ns + gc_ns.to_i
    end

    # Shows how one part of the budget was spread over the requests. part: a name in Parts::DISTRIBUTIONS
    Distribution = Document.define(:part, :histogram, nested: {histogram: Probe::Histogram})

    # Tells who held the GVL while requests of an endpoint waited for it, and how long.
    #
    # kind: "request" or "job" (holder is the endpoint's or job's name), "thread" (of one that serves no requests), or
    #   "special": "(gc)" garbage collection, "(puma)" pool threads between requests, "(other)" nobody that is known
    Blame = Document.define(:kind, :holder, :wait_ns)

    # One endpoint: a route, never a raw path. Or one kind of job.
    #
    # requests_count: all in the window, of which `traces` holds a sample
    # unaccounted_count: those whose CPU clock was ahead of their wall time by more than 1%, so that the parts are too
    #   many: never, while the probe is sound
    # budget: the sum over all of them
    # latency: of the time from being queued in Puma to the end of the response; p50_ns, p99_ns: of it
    # distributions: of the parts
    # slices_count: times a time slice ended in them; long_holds_count: times they held the GVL for 10 ms or more
    # blame: for their gvl_wait_ns, longest first
    # queries: Hash, how many Active Record made in them, by the name it gives ("Comment Load"); empty: nobody counted
    # cut_traces_count: of the traces, those that are full (Ledger::STEPS_MAX): what the request did afterwards is in
    #   their last steps of the same kind, so that sums are true and the order is not; nil: nobody counted
    EndpointObservation = Document.define(:name, :requests_count, :unaccounted_count, :budget, :latency, :p50_ns,
      :p99_ns, :distributions, :slices_count, :long_holds_count, :blame, :traces, :queries, :cut_traces_count,
      added: {queries: {}, cut_traces_count: nil},
      nested: {
        budget: Budget, latency: Probe::Histogram, distributions: [Distribution], blame: [Blame], traces: [Trace]
      }, renamed: {unaccounted_count: "unclosed_count"})

    # One thread over the window. `worker_index` is nil in single mode, and for threads of several processes together;
    # requests_count: of a pool thread, nil for others
    # run_queue_wait_ns: in which it could have run and had no core, by the kernel's count, with the GVL and without it:
    #   at least the budget's preempted_ns, by other means; nil where unknown
    # cycles_count: times it took the GVL, so that each time it had it for on_core_ns / cycles_count; nil where unknown
    ThreadObservation = Document.define(:worker_index, :name, :requests_count, :budget,
      :run_queue_wait_ns, :cycles_count,
      nested: {budget: Budget}, added: {cycles_count: nil}) do
      # Puma names all of its own.
      # @return [Boolean]
      def pumas_own? = name.start_with?("puma ")

      # @param other [ThreadObservation] of the same name, in a worker that took the place of the other's
      def +(other)
        sum = ->(one, two) { one && two && one + two }
        with(requests_count: requests_count + other.requests_count, budget: budget + other.budget,
          run_queue_wait_ns: sum.call(run_queue_wait_ns, other.run_queue_wait_ns),
          cycles_count: sum.call(cycles_count, other.cycles_count))
      end
    end

    # One process of the server over the window.
    #
    # role: "single", "master" or "worker"; pss_bytes: resident memory with shared pages divided among their users
    # gauges: what it told of its heap and of YJIT at the end, {"code_bytes" => 12000000}, see Gauges; empty where it
    #   could not be asked
    ProcessObservation = Document.define(:role, :worker_index, :pid, :requests_count, :cpu_ns, :gc_count,
      :rss_bytes, :pss_bytes, :gauges, added: {gauges: {}})

    # A lock that was held while its thread let the GVL go, or for which somebody waited; the same lock in all workers.
    #
    # kind: "mutex", "monitor" or "pool"; place: where it was taken first, "log_device.rb:31 in
    #   Logger::LogDevice#write": of whoever took it, not of the library through which
    # size: how many may hold it at once: 1, of a pool its connections; threads_count: how many threads ever have
    # holds_count, hold_ns: how often and how long it was held, a pool's connections added up
    # waits_count, wait_ns: how often and how long threads waited for it; without the wait for the GVL that followed
    LockObservation = Document.define(:id, :kind, :class_name, :place, :size, :threads_count, :holds_count, :hold_ns,
      :waits_count, :wait_ns)

    # The cost of measuring, by our own count.
    #
    # cycles_count: releases and re-acquisitions of the GVL in the window, by threads that were looked at
    # cost_per_cycle_ns: added to each of them; cost_per_request_ns: added to each request; both timed in the process
    # lock_pairs_count: how often a lock was taken and given back while locks were watched; cost_per_lock_pair_ns: added
    #   to each; nil: they were not
    # cost_ratio: all of it, over the CPU time of the window
    ProbeCost = Document.define(:cycles_count, :cost_per_cycle_ns, :cost_per_request_ns, :cost_ratio, :lock_pairs_count,
      :cost_per_lock_pair_ns,
      added: {lock_pairs_count: nil, cost_per_lock_pair_ns: nil})

    # Tells what actually runs, read from inside the server.
    #
    # yjit_enabled: true, false, or nil where Ruby has no YJIT
    # thread_timeslice_ms: RUBY_THREAD_TIMESLICE, 100 unless set (Ruby 3.4 and newer read it)
    # puma_version: nil in a process of jobs; puma_features: see Probe::Puma; nil there, and in older files
    # rack_environment: RACK_ENV as Puma took it
    ServerFacts = Document.define(:ruby_version, :ruby_description, :yjit_enabled, :puma_version, :rack_version,
      :thread_timeslice_ms, :rack_environment, :puma_features, added: {puma_features: nil})

    # The load that filled the window, when it was ours; nil when the traffic was the user's own.
    #
    # throughput_per_s, mean_ns, p50_ns, p99_ns: as the client saw them; requests_count: what they are of
    # unexpected_count: responses with a status outside the expected ones
    # arrivals: "closed", "poisson" or "even"; rate_per_s: of an open loop, else
    #   nil; think_ns: of a closed one, else nil
    # reuse_count: mean number of requests over one connection; nil: no end
    # remarks: what makes the responses doubtful, see Load::Outcome
    # taken_ratio: share of the machine that others used meanwhile, or the hypervisor took; nil where nobody knows
    LoadSummary = Document.define(:generator, :arrivals, :rate_per_s, :think_ns, :reuse_count,
      :connections_count, :duration_ns,
      :requests_count, :unexpected_count, :throughput_per_s, :mean_ns, :p50_ns, :p99_ns, :remarks, :taken_ratio,
      added: %i[taken_ratio]) do
      # A forecast of a recording that was disturbed more misses whatever the model does. A judgement.
      const_set(:DISTURBED_RATIO, 0.15)

      # Observations of before there were remarks can be read.
      def self.of_now(fields) = {"remarks" => [], **fields}
      private_class_method :of_now

      def initialize(remarks: [], taken_ratio: nil, **fields) = super

      # @return [Boolean] whether others on the machine took too much of it meanwhile for its figures to stand alone
      def disturbed? = self.class.disturbed?(taken_ratio)

      # @param taken_ratio [Float, nil] share of the machine
      # @return [Boolean] the same of any load
      def self.disturbed?(taken_ratio) = taken_ratio.to_f > self::DISTURBED_RATIO

      # @param outcome [Load::Outcome]
      # @param arrivals [Load::Arrivals]
      # @param remarks [Array<String>] besides the outcome's own
      # @param taken_ratio [Float, nil]
      # @return [LoadSummary]
      def self.of(outcome, arrivals, remarks: [], taken_ratio: nil)
        new(**outcome.to_h.slice(*members), taken_ratio:, remarks: [*remarks, *outcome.remarks].freeze,
          requests_count: outcome.counted_count, arrivals: arrivals.kind, rate_per_s: arrivals.rate_per_s,
          think_ns: arrivals.think_ns, reuse_count: arrivals.reuse_count)
      end
    end

    # A running app, measured over one window.
    #
    # way_in: "command", "plugin", "run", "autorun", "jobs" or "export"; of before: "rack"
    # jobs: what ran under PumaTuner.measure; background: threads that serve no requests, by name
    # locks: longest waited for first; nil when nobody watched them
    # unknown: what is nil or short of the truth, an Unknown each
    # fingerprint: settings and gems in force, by kind and name, see Fingerprint; empty where nobody could be asked
    # companions: recordings of the same app at other settings, each an Observation without companions
    # part_load: the same server a moment later, under an open loop of a part of what it bore, an Observation without
    #   companions; nil where it was not recorded
    # lanes: what each thread did when, for a short while of the window; nil when nobody asked for it
    # folder: the name of the app's folder; nil where nobody knows
    Observation = Document.define(:started_at, :duration_ns, :command, :way_in, :topology, :min_threads_count, :server,
      :machine, :load, :budget, :endpoints, :jobs, :threads, :background, :processes, :probe, :unknown,
      :locks, :fingerprint, :companions, :part_load, :lanes, :folder,
      kind: :observation,
      added: {locks: nil, fingerprint: {}, companions: [], part_load: nil, lanes: nil, folder: nil},
      nested: {topology: Topology, server: Probe::ServerFacts, machine: Probe::MachineFacts, load: LoadSummary,
               budget: Budget, endpoints: [EndpointObservation], jobs: [EndpointObservation],
               threads: [ThreadObservation], background: [ThreadObservation],
               processes: [ProcessObservation], probe: ProbeCost, unknown: [Unknown], locks: [LockObservation],
               fingerprint: Fingerprint, companions: [:itself], part_load: :itself, lanes: [ProcessLanes]}) do
      # @return [String, nil] why all that needs the extension is missing; nil where it is not
      def why_no_extension = unknown.find { |one| one.cause == :no_extension }&.detail

      # @return [Integer] requests finished in the window
      def requests_count = endpoints.sum(&:requests_count)

      # @return [Integer, nil] CPU of all requests, garbage collection included; nil where a part is unknown
      def requests_cpu_ns = cpu_ns_of(endpoints)

      # @return [Integer, nil] what pool threads computed outside of requests,
      #   for each request; nil where a part is unknown
      def tail_cpu_ns
        used_ns = cpu_ns_of(threads)
        [(used_ns - requests_cpu_ns).fdiv(requests_count).round, 0].max if used_ns && requests_cpu_ns
      end

      private def cpu_ns_of(parts)
        all_ns = parts.map { |part| part.budget.on_core_ns }
        all_ns.sum unless all_ns.empty? || all_ns.include?(nil)
      end

      # @return [Float] requests finished per second
      def throughput_per_s = requests_count.fdiv(duration_ns) * 1_000_000_000
    end
  end
end
