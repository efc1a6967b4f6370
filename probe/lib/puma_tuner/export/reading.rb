# frozen_string_literal: true

module PumaTuner
  module Export
    # One look at all ledgers and gauges of a server: everything since it started, processes that have ended included, so that
    # what is made of it never falls when a worker is replaced.
    class Reading
      # Of all processes: reading the smaps of a large one takes milliseconds.
      MEMORY_FRESH_S = 10

      # kind: :request or :job; sums: Probe::Ledger::SUMS; histograms: as LedgerReader has them
      Work = Data.define(:kind, :name, :sums, :histograms) do
        # @return [Buckets, nil] nil where unknown
        def histogram(part) = histograms[Probe::Ledger::DISTRIBUTIONS.index(part)]

        # @return [Integer, nil] nanoseconds
        def sum_ns(part) = sums[Probe::Ledger::SUMS.index(part)]
      end

      # Living processes; began_at_ns: 0 where unknown. worker: "0", "1", … or "master"; gauges: as ProcessGauges wrote them, {} without
      # pool_threads: entries of its ledger, [] without
      ServerProcess = Data.define(:pid, :worker, :began_at_ns, :cpu_ns, :memory, :gauges, :pool_threads)

      # @return [Array<Work>] endpoints, then jobs
      attr_reader :works

      # @return [Array<ServerProcess>]
      attr_reader :processes

      # @return [Array<String>] why less than everything is known, of any process
      attr_reader :why_not

      # @param ledgers [Probe::Ledgers]
      def initialize(ledgers, leader_pid:, endpoints_max:)
        @ledgers = ledgers
        @leader_pid = leader_pid
        @names = AdmittedNames.new(ledgers.directory, endpoints_max)
        @kept = {}
        @memory = {}
      end

      # @return [self]
      def take
        # The threads of this process, up to now; others bring theirs up to date once a second while they serve.
        Probe::GvlClock.sweep
        readings = @ledgers.read { |path| read(path) }
        @works = sum(readings.values)
        @why_not = readings.values.filter_map { |ledger| ledger.facts["why_not"] }.uniq
        @processes = find_processes(readings.values.to_h { |ledger| [ledger.pid, ledger] })
        forget(readings.keys)
        self
      end

      private

      # Ledgers of processes that have ended change no more; only what they were added up in is written anew.
      def read(path)
        kept = @kept[path] ||= {changed: nil, ledger: nil, entries: {}}
        return LedgerReader.read(path, kept[:entries]) if !path.end_with?("ended.json") && Probe::Processes.alive?(File.basename(path).to_i)
        changed = [File.mtime(path), File.size(path)]
        return kept[:ledger] if kept[:changed] == changed
        LedgerReader.read(path, kept[:entries]).tap { |ledger| kept.merge!(changed:, ledger:) }
      rescue Errno::ENOENT
        nil
      end

      def forget(paths) = @kept.select! { |path, _| paths.include?(path) }

      def sum(ledgers)
        ledgers.each_with_object({}) { |ledger, sums|
          ledger.entries.each_value do |entry|
            next unless %i[request job].include?(entry.kind) && entry.counts.first.positive?
            name = @names.admit(entry.kind, entry.name)
            sums[[entry.kind, name]] = plus(sums[[entry.kind, name]], entry.with(name:, blames: {}))
          end
        }.values.map { |entry| Work.new(kind: entry.kind, name: entry.name, sums: entry.sums, histograms: entry.histograms) }.sort_by { |work| [-work.kind.size, work.name] }
      end

      def plus(sum, entry) = sum ? sum + entry : entry

      # A master that has a server of its own, for Puma's control app, has gauges and a ledger, too, and is no worker.
      def find_processes(ledgers)
        gauges = ProcessGauges.read_all(@ledgers.directory).to_h { |one| [one.fetch("pid"), one] }
        pids = [*gauges.keys, *ledgers.keys].uniq.select { |pid| pid.positive? && Probe::Processes.alive?(pid) }
        indices = pids.to_h { |pid| [pid, gauges.dig(pid, "worker_index") || ledgers[pid]&.facts&.dig("worker_index")] }
        others = pids - [@leader_pid]
        cluster = !pids.include?(@leader_pid) || indices.values.any?
        found = (cluster ? others : pids).map { |pid| process(pid, (indices[pid] || 0).to_s, gauges.fetch(pid, {}), ledgers[pid]) }
        found.unshift(process(@leader_pid, "master", {}, nil)) if cluster
        remember_memory(found)
        # While a worker is replaced there are two of one index: the younger one comes last.
        found.sort_by.with_index { |one, place| [one.began_at_ns, place] }
      end

      def process(pid, worker, gauges, ledger)
        ServerProcess.new(pid:, worker:, began_at_ns: ledger&.began_at_ns || 0, cpu_ns: Probe::Processes.cpu_ns(pid), memory: memory(pid), gauges:,
          pool_threads: ledger ? ledger.entries.values.select { |entry| entry.kind == :pool_thread && entry.counts.first.positive? } : [])
      end

      def memory(pid)
        taken_s, memory = @memory[pid]
        return memory if taken_s && now_s - taken_s < MEMORY_FRESH_S
        Probe::Processes.memory(pid).tap { |read| @memory[pid] = [now_s, read] }
      end

      def remember_memory(processes) = @memory.select! { |pid, _| processes.any? { |process| process.pid == pid } }

      def now_s = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
