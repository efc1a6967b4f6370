# frozen_string_literal: true

require "time"

module PumaTuner
  module Measure
    # Runs in the command: it reads the ledgers of a server's processes before and after one window, and makes the
    # Observation.
    class Collector
      # @param server [Host::ServerProcess] started with the probe
      # @param command [String] for the record
      # @param folder [String, nil] for the record, see Host::Command#folder_name
      # @param lanes [Boolean] whether it is recorded, at the window's beginning, what each thread does when
      def initialize(server, command:, folder: nil, lanes: false)
        @server = server
        @command = command
        @folder = folder
        @lanes = lanes
        @ledgers = Probe::Ledgers.of_run(server.directory)
        @meter = Host::SignalQuery.new(server.directory)
      end

      # Begins the window.
      def begin_window
        @started_at = Time.now
        @machine = Probe::MachineFacts.read(@server.announcement["pid"])
        @ledgers.begin_window
        @before = read
        @cpu_ns_before = cpu_ns_by_pid(@before)
        @run_queue_waits_before = Probe::Processes.run_queue_waits(@before.values.map(&:pid))
        @queries_before = queries
        @ledgers.order_lanes if @lanes
        @began_ns = Clock.now_ns
      end

      # Ends the window. Processes may have come and gone since it began; what they recorded stays.
      # @param load [LoadSummary, nil] what it was filled with
      # @return [Observation]
      # @raise [InvalidMeasurement] when nothing was served
      def end_window(load: nil)
        duration_ns = Clock.now_ns - @began_ns
        @after = read
        account = Probe::Account.new(@before, @after)
        ensure_served(account)
        processes = processes(account)
        Probe::Observation.new(started_at: @started_at.utc.iso8601, duration_ns:, command: @command,
          folder: @folder, load:,
          way_in: facts["way_in"], topology: @server.topology,
          min_threads_count: @server.announcement["min_threads_count"],
          server: Probe::ServerFacts.from_document(facts["server"]), machine: @machine,
          budget: account.endpoints.map(&:budget).reduce(:+), endpoints: endpoints(account), jobs: account.jobs,
          threads: account.threads(run_queue_waits), background: account.background, processes:,
          probe: account.probe(processes.filter_map(&:cpu_ns).sum), unknown: unknown(account), locks: account.locks,
          fingerprint:, lanes: (lanes if @lanes))
      end

      private

      # Processes that the app has forked beside its server, as Solid Queue's plugin does, record their jobs in this
      # run's folder, too. Their threads are in the way of no request, and their memory is none of a worker's.
      def read
        pids = @server.pids
        @ledgers.read.select { |_, ledger| own?(ledger.facts["worker_index"], ledger.pid, pids) }
      end

      def lanes
        pids = @server.pids
        @ledgers.lanes.select { |process| own?(process.worker_index, process.pid, pids) }.freeze
      end

      # Workers may have ended since, and what many have left is one ledger of no process.
      def own?(worker_index, pid, pids) = worker_index || !pid.positive? || pids.include?(pid)

      def facts = @after.values.last.facts

      # @return [Hash{Integer => Hash}] by process, queries by endpoint and name, see Probe::ActiveRecordQueries
      def queries = @meter.call("queries", @server.serving_pids)

      # With the queries that were made in the window, of the processes that were there when it began.
      def endpoints(account)
        made = queries.filter_map { |pid, now| [now, @queries_before[pid]] if @queries_before[pid] }
        account.endpoints.map do |endpoint|
          counts = made.map { |now, before| grown(now.fetch(endpoint.name, {}), before.fetch(endpoint.name, {})) }
          sums = counts.inject({}) { |one, other| one.merge(other) { |_, first, second| first + second } }
          endpoint.with(queries: sums.sort_by { |_, count| -count }.to_h.freeze)
        end
      end

      def grown(now, before)
        now.to_h { |name, count| [name, count - before.fetch(name, 0)] }.select { |_, count| count.positive? }
      end

      # @return [Hash] without what tells one app from another, and changes nothing: variables whose values are nobody's
      #   business, and the files behind gems
      def fingerprint
        Host::WhatRan.of(@server, @meter).reject do |(kind, _), text|
          kind == :extension || (kind == :env && text.match?(Probe::Fingerprint::HIDDEN))
        end.freeze
      end

      def ensure_served(account)
        return unless account.endpoints.empty?
        if @after.empty?
          raise InvalidMeasurement.new("no process of the server is being recorded. Check that #{@command} starts " \
            "Puma.",
            output: @server.log_tail)
        end
        raise InvalidMeasurement, "no request was served during the measurement. Send it traffic, or have puma_tuner " \
          "send some with --load."
      end

      def processes(account)
        gauges = @meter.call("gauges", @server.serving_pids)
        serving = @after.select { |_, ledger| ledger.pid.positive? }
          .filter_map { |path, ledger| process(account, path, ledger, gauges) }
        return serving unless @server.cluster?
        master_pid = @server.announcement["pid"]
        [Probe::ProcessObservation.new(role: "master", worker_index: nil, pid: master_pid, requests_count: 0,
          cpu_ns: nil, gc_count: nil, **Probe::Processes.memory(master_pid)), *serving]
      end

      # One that ended before the window is not of it.
      def process(account, path, ledger, gauges)
        index = ledger.facts["worker_index"]
        requests_count = account.requests_count(path)
        return if requests_count.zero? && !Probe::Processes.alive?(ledger.pid)
        Probe::ProcessObservation.new(role: index ? "worker" : "single", worker_index: index, pid: ledger.pid,
          requests_count:, cpu_ns: cpu_ns(ledger) - @cpu_ns_before.fetch(ledger.pid, 0),
          gc_count: account.gc_count(path), gauges: gauges.fetch(ledger.pid, {}).transform_keys(&:name).freeze,
          **Probe::Processes.memory(ledger.pid))
      end

      def cpu_ns_by_pid(ledgers) = ledgers.values.to_h { |ledger| [ledger.pid, cpu_ns(ledger)] }

      # For a process that has ended, the time is that of its last full second with requests.
      def cpu_ns(ledger) = Probe::Processes.cpu_ns(ledger.pid) || ledger.process_cpu_ns

      def run_queue_waits
        Probe::Processes.run_queue_waits_since(@run_queue_waits_before, @after.values.map(&:pid))
      end

      def unknown(account)
        [*account.unknown, *(Unknown.of(:cpu_ns, :serves_nothing, whose: "master") if @server.cluster?)].freeze
      end
    end

    # A window of a server that was started without the probe: it is put in now,
    # after all that must not be touched by it has been measured.
    module LateWindow
      # @param server [Host::ServerProcess] whose processes can be asked
      # @param meter [Host::SignalQuery]
      # @yield sends load
      # @return [Observation, nil] nil of a server that is no Puma, or can't be looked into
      def self.call(server, meter)
        return unless server.topology
        replies = meter.call("probe", server.serving_pids)
        return if replies.size < server.serving_pids.size || replies.values.any?
        collector = Collector.new(server, command: "")
        collector.begin_window
        yield
        collector.end_window
      rescue InvalidMeasurement
        nil # no request was seen: then there is nothing to tell
      end
    end
  end
end
