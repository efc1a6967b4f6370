# frozen_string_literal: true

require "time"

module PumaTuner
  module Probe
    # The whole server's Observation, since it started or since a moment: from inside any of its processes, or of
    # another one.
    class Snapshot
      # @param recording [Recording]
      def initialize(recording)
        @recording = recording
      end

      # @return [Observation]
      # @raise [InvalidMeasurement] when neither a request nor a job has ended
      def take
        raise InvalidMeasurement, @recording.why_not unless @recording.any?
        GvlClock.sweep
        fingerprint = Fingerprint.read.reject { |(kind, _), _| kind == :extension }
        Snapshot.of(@recording.ledgers.read, machine: Probe::MachineFacts.read, fingerprint:)
      end

      # The same from outside of the server.
      #
      # @param ledgers [Hash{String => Ledger}] of all its processes, by path
      # @param machine [MachineFacts] where it runs
      # @param fingerprint [Hash] of its settings; empty where nobody asked it
      # @param since [Moment, nil] nil: since the server started
      # @return [Observation]
      # @raise [InvalidMeasurement] when neither a request nor a job has ended
      def self.of(ledgers, machine:, fingerprint: {}, since: nil)
        Reading.new(ledgers, machine, fingerprint, since || Moment.start_of(ledgers)).observation
      end

      # When what is told begins: what ledgers had counted then, and what processes had used.
      #
      # ledgers: {path => Ledger}; cpu_ns: {pid => nanoseconds}; run_queue_waits: of Processes; at_ns: of the monotonic
      #   clock
      Moment = Data.define(:ledgers, :cpu_ns, :run_queue_waits, :at_ns) do
        # @param ledgers [Hash{String => Ledger}] by path
        # @return [Moment] now
        def self.now(ledgers)
          pids = ledgers.values.map(&:pid)
          new(ledgers:, cpu_ns: pids.to_h { |pid| [pid, Probe::Processes.cpu_ns(pid)] },
            run_queue_waits: Probe::Processes.run_queue_waits(pids), at_ns: Clock.now_ns)
        end

        # @param ledgers [Hash{String => Ledger}]
        # @return [Moment] when the first of them began
        def self.start_of(ledgers)
          at_ns = ledgers.values.map(&:began_at_ns).min || Clock.now_ns
          new(ledgers: {}, cpu_ns: {}, run_queue_waits: {}, at_ns:)
        end
      end

      # One look at all ledgers.
      Reading = Data.define(:ledgers, :machine, :fingerprint, :since)
    end

    class Snapshot::Reading
      # See Snapshot.of.
      def observation
        account = Account.new(since.ledgers, ledgers)
        raise InvalidMeasurement, "no request or job has ended yet" if account.empty?
        observed(account, Clock.now_ns - since.at_ns)
      end

      private

      def observed(account, duration_ns)
        threads = account.threads(run_queue_waits)
        workers = ledgers.values.filter_map { |ledger| ledger.facts["worker_index"] }.uniq.size
        server = ledgers.values.last.facts
        Observation.new(started_at: (Time.now - Rational(duration_ns, Units::NS_PER_S)).utc.iso8601, duration_ns:,
          command: nil, way_in: server["way_in"], topology: topology(workers, threads), min_threads_count: nil,
          server: Probe::ServerFacts.from_document(server["server"]), machine:, load: nil,
          budget: (account.endpoints + account.jobs).map(&:budget).reduce(:+), endpoints: account.endpoints,
          jobs: account.jobs, threads:, background: account.background,
          processes: processes(account), probe: account.probe(nil), unknown: account.unknown,
          locks: account.locks, fingerprint:)
      end

      def run_queue_waits
        Probe::Processes.run_queue_waits_since(since.run_queue_waits, ledgers.values.map(&:pid))
      end

      # It counts the threads that most living processes may have by now, or, where they may not be resized, that the
      # newest ledger's server may have; where that is not told, as many as have served. It returns nil where none has
      # (a process of jobs).
      def topology(workers_count, threads)
        living = ledgers.select { |_, ledger| Probe::Processes.alive?(ledger.pid) }.keys
        most = Probe::Resize.threads_counts(living).values.tally.max_by(&:last)&.first ||
          ledgers.values.max_by(&:began_at_ns).facts["threads_count"] ||
          threads.group_by(&:worker_index).values.map(&:size).max
        Topology.from(workers_count, most) if most
      end

      def processes(account)
        living = ledgers.select { |_, ledger| Probe::Processes.alive?(ledger.pid) }
        Probe::Ledgers.serving(living).map do |path, ledger|
          ProcessObservation.new(role: ledger.facts["worker_index"] ? "worker" : "single",
            worker_index: ledger.facts["worker_index"], pid: ledger.pid, requests_count: account.requests_count(path),
            cpu_ns: cpu_ns(ledger.pid), gc_count: account.gc_count(path),
            **Probe::Processes.memory(ledger.pid))
        end
      end

      def cpu_ns(pid) = Probe::Processes.cpu_ns(pid)&.-(since.cpu_ns[pid] || 0)
    end
  end
end
