# frozen_string_literal: true

module PumaTuner
  module Export
    # The sums of one kind of work, over all processes.
    #
    # kind: :request or :job; sums_ns: by part; histograms: Buckets by part, as
    #   in LedgerReader::BOUNDS; nil where a part is unknown
    # durations: the whole durations, in coarser Buckets
    Work = Data.define(:kind, :name, :sums_ns, :histograms, :durations) do
      # @param rows [Array(LedgerReader, Integer, Object)] one after the other: ledger, index, version
      # @return [Work, nil] nil of none that has ended yet
      def self.of(kind, name, rows)
        numbers = [0].pack("Q") * LedgerReader::NUMBERS_COUNT
        histograms = LedgerReader::PLACES.map { [0].pack("Q") * Probe::Histogram::BUCKETS_COUNT }
        unknown = rows.each_slice(3).flat_map { |ledger, index, _| ledger.add(index, numbers, histograms) }.uniq
        count = numbers.unpack1("Q")
        return if count.zero?
        sums_ns = Probe::Parts::SUMS.zip(numbers.unpack("Q*").last(Probe::Parts::SUMS.size)).to_h
        unknown.each { |part| sums_ns[part] = nil }
        buckets = LedgerReader::BOUNDS.zip(histograms).to_h do |(part, bounds), bytes|
          [part, sums_ns[part] && Buckets.of(bytes.unpack("Q*"), count, bounds, sums_ns[part])]
        end
        new(kind:, name:, sums_ns: sums_ns.freeze, histograms: buckets.freeze,
          durations: buckets[:wall].coarser(Bounds::COARSE))
      end
    end

    # One look at all ledgers and gauges of a server: everything since it started, processes that have ended included,
    # so that what is made of it never falls when a worker is replaced.
    class Reading
      # The memory of all processes is read this seldom: reading the smaps of a large one takes milliseconds.
      MEMORY_FRESH_S = 10

      # Living processes; began_at_ns: 0 where unknown. worker: "0", "1", … or
      # "master"; gauges: as ProcessGauges wrote them, {} without
      # threads_sums: of each pool thread, nanoseconds in the order of Probe::Parts::SUMS; [] without a ledger
      ServerProcess = Data.define(:pid, :worker, :began_at_ns, :cpu_ns, :memory, :gauges, :threads_sums)

      # @return [Array<Work>] requests by endpoint, then jobs
      attr_reader :works

      # @return [Array<ServerProcess>]
      attr_reader :processes

      # @return [Integer, nil] of the server's control group, as Kubernetes tells it of a container; nil without a group
      attr_reader :working_set_bytes

      # @return [Array<String>] why less than everything is known, of any process
      attr_reader :why_not

      # @param ledgers [Probe::Ledgers]
      def initialize(ledgers, leader_pid:, endpoints_max:)
        @ledgers = ledgers
        @leader_pid = leader_pid
        @names = AdmittedNames.new(ledgers.directory, endpoints_max)
        @opened = {}
        @kept = {}
        @memory = {}
      end

      # @return [self]
      def take
        readers = look
        @works = find_works(readers)
        @why_not = readers.filter_map { |ledger| ledger.facts["why_not"] }.uniq
        @processes = find_processes(readers.to_h { |ledger| [ledger.pid, ledger] })
        @working_set_bytes = Probe::ControlGroup.of(@leader_pid).working_set_bytes
        self
      end

      private

      # Ledgers that were folded since are closed last: until then they can be read as they were.
      def look
        looked = @ledgers.read { |path| (@opened[path] ||= LedgerReader.open(path)).look }
        (@opened.keys - looked.keys).each { |path| @opened.delete(path).close }
        looked.values
      end

      # Entries that nobody has asked for since the last reading are kept as they are: an app has many endpoints, and
      # few are used between two scrapes.
      def find_works(readers)
        rows = Hash.new { |all, key| all[key] = [] }
        readers.each do |ledger|
          ledger.each_row do |kind, name, index, version|
            rows[[kind, @names.admit(kind, name)]].push(ledger, index, version) if kind == :request || kind == :job
          end
        end
        @kept = rows.to_h { |key, list| [key, (@kept[key]&.first == list) ? @kept[key] : [list, Work.of(*key, list)]] }
        @kept.values.filter_map(&:last).sort_by { |work| [-work.kind.size, work.name] }
      end

      # A master that has a server of its own, for Puma's control app, has gauges and a ledger, too, and is no worker.
      def find_processes(readers)
        gauges = ProcessGauges.read_all(@ledgers.directory).to_h { |one| [one.fetch("pid"), one] }
        pids = [*gauges.keys, *readers.keys].uniq.select { |pid| pid.positive? && Probe::Processes.alive?(pid) }
        indices = pids.to_h { |pid| [pid, gauges.dig(pid, "worker_index") || readers[pid]&.facts&.dig("worker_index")] }
        others = pids - [@leader_pid]
        cluster = !pids.include?(@leader_pid) || indices.values.any?
        found = (cluster ? others : pids).map do |pid|
          process(pid, (indices[pid] || 0).to_s, gauges.fetch(pid, {}), readers[pid])
        end
        found.unshift(process(@leader_pid, "master", {}, nil)) if cluster
        remember_memory(found)
        # Of two with one index the one that counts comes last: what an app has forked in a worker, and measures a job,
        # has no gauges, as it serves nothing; of workers, while one is replaced, it is the younger one.
        found.sort_by.with_index { |one, place| [one.gauges.empty? ? 0 : 1, one.began_at_ns, place] }
      end

      def process(pid, worker, gauges, ledger)
        ServerProcess.new(pid:, worker:, began_at_ns: ledger&.began_at_ns || 0, cpu_ns: Probe::Processes.cpu_ns(pid),
          memory: memory(pid), gauges:, threads_sums: ledger ? threads_sums(ledger) : [])
      end

      def threads_sums(ledger)
        sums = []
        ledger.each_row do |kind, _, index, _|
          sums << ledger.numbers(index).last(Probe::Parts::SUMS.size) if kind == :pool_thread
        end
        sums
      end

      def memory(pid)
        taken_s, memory = @memory[pid]
        return memory if taken_s && Clock.now_s - taken_s < MEMORY_FRESH_S
        Probe::Processes.memory(pid).tap { |read| @memory[pid] = [Clock.now_s, read] }
      end

      def remember_memory(processes) = @memory.select! { |pid, _| processes.any? { |process| process.pid == pid } }
    end
  end
end
