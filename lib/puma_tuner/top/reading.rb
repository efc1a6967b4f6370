# frozen_string_literal: true

module PumaTuner
  module Top
    # One look at a server: two of them make a Status.
    #
    # at_ns: of the monotonic clock
    # ledgers: {path => Probe::Ledger} of its processes, those that have ended included; without traces and locks, and
    #   with the histogram of wall times alone
    # processes: Array<ServerProcess>, the living ones that serve
    Reading = Data.define(:at_ns, :ledgers, :processes)

    # A process that serves.
    #
    # path: of its ledger; worker_index: nil of a single process; cpu_ns: so far
    # memory: pss_bytes and rss_bytes; code_bytes: machine code of a compiler, nil where it is not told
    ServerProcess = Data.define(:path, :pid, :worker_index, :began_at_ns, :cpu_ns, :memory, :code_bytes)

    # Reads the same server again and again, at little cost: ledgers stay open, and an entry is read anew only when it
    # was written since. It folds nothing, and asks no process for anything.
    class Reader
      # The memory of all processes is read this seldom: reading the smaps of a large one takes milliseconds.
      MEMORY_FRESH_S = 10

      # @param server [Server]
      def initialize(server)
        @ledgers = server.ledgers
        @processes = Processes.new(server.pid)
        @opened = {}
        @memory = {}
      end

      # @return [Reading]
      def take
        ledgers = @ledgers.read { |path| ledger(path) }
        (@opened.keys - ledgers.keys).each { |path| @opened.delete(path).close }
        processes = ledgers.filter_map { |path, ledger| process(path, ledger) unless @ledgers.ended?(path) }
        @memory.select! { |pid, _| processes.any? { |process| process.pid == pid } }
        Reading.new(at_ns: Clock.now_ns, ledgers:,
          processes: processes.sort_by { |one| [one.worker_index || -1, one.began_at_ns] })
      end

      private

      # @raise [Errno::ENOENT] of one that was folded meanwhile, which the folder's lock keeps from happening
      def ledger(path)
        return Probe::Ledger.read(path) if path.end_with?(".json")
        (@opened[path] ||= LedgerReader.new(File.open(path, File::RDONLY | File::NOFOLLOW | File::BINARY))).ledger
      end

      def process(path, ledger)
        pid = @processes.pid_of(ledger.pid) or return
        memory, code_bytes = memory_of(pid)
        ServerProcess.new(path:, pid:, worker_index: ledger.facts["worker_index"], began_at_ns: ledger.began_at_ns,
          cpu_ns: Probe::Processes.cpu_ns(pid), memory:, code_bytes:)
      end

      def memory_of(pid)
        taken_s, *found = @memory[pid]
        return found if taken_s && Clock.now_s - taken_s < MEMORY_FRESH_S
        found = [Probe::Processes.memory(pid), Probe::Processes.code_bytes(pid)]
        @memory[pid] = [Clock.now_s, *found]
        found
      end
    end

    # Reads of a ledger what a Status shows.
    class LedgerReader < Probe::Ledger::Reader
      LAYOUT = Probe::Ledger::LAYOUT

      def initialize(file)
        @kept = {}
        super
      end

      # @return [void]
      def close = @file.close

      private

      # An entry's turn tells whether it was written since it was read.
      def entry(kind, name, index)
        turn = @bytes[index].unpack1("Q")
        read, entry = @kept[index]
        return entry if read == turn
        super.tap { |now| @kept[index] = [turn, now] if turn.even? }
      end

      # Of the wall time, which is the first.
      def histogram_bytes(kind, index)
        return unless kind == :request || kind == :job
        length = LAYOUT[:buckets_count] * 8
        @file.pread(length, LAYOUT[:histograms_offset] + index * length * LAYOUT[:histograms_count])
      end

      def traces = []

      def locks = {}
    end
  end
end
