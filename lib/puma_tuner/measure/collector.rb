# frozen_string_literal: true

require "json"
require "socket"
require "time"

module PumaTuner
  module Measure
    # In the command: asks the agents of a server for one window, and makes the Observation.
    class Collector
      # @param server [Host::ServerProcess] started with the probe
      # @param command [String] for the record
      def initialize(server, command:)
        @server = server
        @command = command
        @pids = server.serving_pids
      end

      # Begins the window in every serving process.
      def begin_window
        @started_at = Time.now
        @machine = Host::MachineFacts.read
        @pids.each_key { |pid| ask(pid, "reset") }
      end

      # Ends the window.
      # @param load [LoadSummary, nil] what it was filled with
      # @return [Observation]
      # @raise [VoidMeasurement] when nothing was served
      def end_window(load: nil)
        observation(@pids.keys.filter_map { |pid| ask(pid, "snapshot") }, load:)
      end

      # The same from the snapshots that ended processes have left.
      # @return [Observation]
      def from_last_snapshots
        snapshots = Dir[File.join(@server.directory, "last-*.json")].map { |path| JSON.parse(File.read(path)) }
        observation(snapshots, load: nil)
      end

      private

      def ask(pid, question)
        UNIXSocket.open(File.join(@server.directory, "agent-#{pid}.sock")) do |socket|
          socket.puts(question)
          JSON.parse(socket.gets || raise(EOFError))
        end
      rescue SystemCallError, EOFError
        raise VoidMeasurement, "a serving process (pid #{pid}) went away while it was measured, or was started without the probe. " \
                               "Does the app restart or fork its workers itself? Last lines of its output:\n#{@server.log_tail.join("\n")}"
      end

      def observation(snapshots, load:)
        why_not = snapshots.filter_map { |snapshot| snapshot["why_not"] }.first
        raise VoidMeasurement, "the app's Ruby can't be looked into: #{why_not}" if why_not
        endpoints = endpoints_of(snapshots)
        if endpoints.empty?
          raise VoidMeasurement, "no request was served while it was measured. Send traffic, or let us: --path / or --requests FILE."
        end
        Observation.new(
          started_at: @started_at.utc.iso8601, duration_ns: snapshots.map { |snapshot| snapshot["duration_ns"] }.max,
          command: @command, way_in: snapshots.first["way_in"], topology: @server.topology,
          min_threads_count: @server.announcement["min_threads_count"],
          server: Host::ServerFacts.from_document(snapshots.first["server"]), machine: @machine, load:,
          budget: endpoints.map(&:budget).reduce(:+), endpoints:, threads: threads_of(snapshots),
          processes: processes_of(snapshots), probe: probe_cost(snapshots), unknown: unknown(snapshots)
        )
      end

      def endpoints_of(snapshots)
        snapshots.flat_map { |snapshot| snapshot["endpoints"] }.group_by { |endpoint| endpoint["name"] }
          .map { |name, parts| endpoint_of(name, parts) }.sort_by { |endpoint| -endpoint.requests_count }
      end

      def endpoint_of(name, parts)
        traces = parts.flat_map { |part| part["traces"] }.map { |trace| trace_of(trace) }
        latencies = traces.map { |trace| trace.wall_ns + trace.queue_ns }.sort
        EndpointObservation.new(
          name:, requests_count: parts.sum { |part| part["requests_count"] },
          budget: parts.map { |part| budget_of(part["sums"]) }.reduce(:+),
          p50_ns: Stats::Quantile.of(latencies, 0.5)&.round, p99_ns: Stats::Quantile.of(latencies, 0.99)&.round, traces:
        )
      end

      def budget_of(sums)
        Budget.new(**Recorder::SUMS.to_h { |part| [:"#{part}_ns", sums.fetch(part.to_s)] }, idle_ns: nil)
      end

      def trace_of(fields)
        steps, wall_ns, queue_ns, cpu_ns, gc_ns = fields
        Trace.new(steps:, wall_ns:, queue_ns:, cpu_ns:, gc_ns:)
      end

      def threads_of(snapshots)
        snapshots.sort_by { |snapshot| snapshot["worker_index"] || 0 }.flat_map { |snapshot|
          snapshot["threads"].filter_map { |thread|
            next unless thread["numbers"]
            ThreadObservation.new(worker_index: snapshot["worker_index"], name: thread["name"],
              requests_count: thread["requests_count"], budget: ThreadBudget.of(thread["numbers"].transform_keys(&:to_sym)))
          }
        }
      end

      def processes_of(snapshots)
        serving = snapshots.map { |snapshot|
          ProcessObservation.new(
            role: snapshot["worker_index"] ? "worker" : "single", worker_index: snapshot["worker_index"], pid: snapshot["pid"],
            requests_count: snapshot["endpoints"].sum { |endpoint| endpoint["requests_count"] },
            cpu_ns: snapshot["cpu_ns"], gc_count: snapshot["gc_count"], **Host::Processes.memory(snapshot["pid"])
          )
        }
        return serving unless @server.cluster?
        master_pid = @server.announcement["pid"]
        [ProcessObservation.new(role: "master", worker_index: nil, pid: master_pid, requests_count: 0, cpu_ns: nil,
          gc_count: nil, **Host::Processes.memory(master_pid)), *serving]
      end

      def probe_cost(snapshots)
        events_count = snapshots.sum { |snapshot| snapshot["events_count"] }
        cost_ns = snapshots.map { |snapshot| snapshot["cost_per_event_ns"] }.max
        cpu_ns = snapshots.sum { |snapshot| snapshot["cpu_ns"] }
        ProbeCost.new(events_count:, cost_per_event_ns: cost_ns, cost_ratio: cpu_ns.zero? ? nil : (events_count * cost_ns).fdiv(cpu_ns))
      end

      def unknown(snapshots)
        reasons = {"traces" => "a uniform sample: at most #{Recorder::TRACES_MAX} per endpoint and thread"}
        unobserved = snapshots.sum { |snapshot| snapshot["unobserved_threads_count"] }
        reasons["threads"] = "#{unobserved} threads found no place among the 1,024 that are observed" if unobserved.positive?
        reasons["processes.cpu_ns"] = "of the master: it serves no request" if @server.cluster?
        reasons
      end
    end
  end
end
