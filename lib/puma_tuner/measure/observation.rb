# frozen_string_literal: true

module PumaTuner
  module Measure
    # One recorded request, as the steps its thread went through.
    #
    # steps: alternating kind and nanoseconds: ["cpu", 81000, "io", 920000, "gvl_wait", 4000, "cpu", …];
    #   "cpu" is time with the GVL, GC included; "gvl_wait", "io", "lock" and "sleep" as in Budget
    # wall_ns: their sum; queue_ns: in Puma's todo list before that
    # cpu_ns: by the thread's CPU clock, GC included; what exceeds the "cpu" steps was computed without the GVL
    # gc_ns: of the garbage collector, inside the "cpu" steps
    Trace = Document.define(:steps, :wall_ns, :queue_ns, :cpu_ns, :gc_ns)

    # One endpoint: a route, never a raw path.
    #
    # requests_count: all requests in the window, of which `traces` holds a sample
    # budget: the sum over all of them
    # p50_ns, p99_ns: of the time from being queued in Puma to the end of the response
    EndpointObservation = Document.define(:name, :requests_count, :budget, :p50_ns, :p99_ns, :traces,
      nested: {budget: Budget, traces: [Trace]})

    # One pool thread over the window. `worker_index` is nil in single mode.
    ThreadObservation = Document.define(:worker_index, :name, :requests_count, :budget, nested: {budget: Budget})

    # One process of the server over the window.
    #
    # role: "single", "master" or "worker"; pss_bytes: resident memory with shared pages divided among their users
    ProcessObservation = Document.define(:role, :worker_index, :pid, :requests_count, :cpu_ns, :gc_count,
      :rss_bytes, :pss_bytes)

    # What measuring cost, by our own count.
    #
    # events_count: GVL events seen in the window; cost_per_event_ns: of our callback, timed in this process
    # cost_ratio: both, over the CPU time of the window
    ProbeCost = Document.define(:events_count, :cost_per_event_ns, :cost_ratio)

    # What the window was filled with, when it was us who filled it; nil when the traffic was the user's own.
    #
    # throughput_per_s, mean_ns, p50_ns, p99_ns: as the client saw them
    # unexpected_count: answers with a status outside the expected ones
    LoadSummary = Document.define(:generator, :connections_count, :duration_ns, :requests_count, :unexpected_count,
      :throughput_per_s, :mean_ns, :p50_ns, :p99_ns) do
      # @param outcome [Load::Outcome]
      def self.of(outcome) = new(**outcome.to_h.slice(*members))
    end

    # A running app, measured over one window.
    #
    # way_in: "command", "plugin", "run" or "rack"
    # unknown: names of fields that are nil, with the reason
    Observation = Document.define(:started_at, :duration_ns, :command, :way_in, :topology, :min_threads_count, :server,
      :machine, :load, :budget, :endpoints, :threads, :processes, :probe, :unknown,
      kind: :observation,
      nested: {topology: Topology, server: Host::ServerFacts, machine: Host::MachineFacts, load: LoadSummary,
               budget: Budget, endpoints: [EndpointObservation], threads: [ThreadObservation],
               processes: [ProcessObservation], probe: ProbeCost}) do
      # @return [Integer] requests finished in the window
      def requests_count = endpoints.sum(&:requests_count)

      # @return [Float] requests finished per second
      def throughput_per_s = requests_count.fdiv(duration_ns) * 1_000_000_000
    end
  end
end
