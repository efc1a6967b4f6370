# frozen_string_literal: true

module PumaTuner
  module Top
    # One look at a server: two of them make a Status.
    #
    # at_ns: of the monotonic clock
    # ledgers: {path => Probe::Ledger} of its processes, those that have ended included; without traces and locks, and
    #   with the histogram of wall times alone
    # totals: {[kind, name] => Probe::Ledger::Entry} of all processes together, pool threads apart; those that nobody
    #   has written since the reading before are the very same
    # processes: Array<ServerProcess>, the living ones that serve
    Reading = Data.define(:at_ns, :ledgers, :totals, :processes)

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
        @totals = Totals.new
      end

      # @param traced [Boolean] whether ledgers have traces and locks, too, of which forecasts are made
      # @return [Reading]
      def take(traced: false)
        ledgers = @ledgers.read { |path| ledger(path, traced) }
        (@opened.keys - ledgers.keys).each { |path| @opened.delete(path).close }
        living = ledgers.reject { |path, _| @ledgers.ended?(path) }
        processes = Probe::Ledgers.serving(living).filter_map { |path, ledger| process(path, ledger) }
        @memory.select! { |pid, _| processes.any? { |process| process.pid == pid } }
        Reading.new(at_ns: Clock.now_ns, ledgers:, totals: @totals.call(ledgers),
          processes: processes.sort_by { |one| [one.worker_index || -1, one.began_at_ns] })
      end

      private

      # @raise [Errno::ENOENT] of one that was folded meanwhile, which the folder's lock keeps from happening
      def ledger(path, traced)
        return Probe::Ledger.read(path) if path.end_with?(".json")
        @opened[path] ||= LedgerReader.new(File.open(path, File::RDONLY | File::NOFOLLOW, binmode: true))
        @opened[path].ledger(traced:, locks: traced)
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

    # Adds up what all processes have recorded, again and again: only what was written since.
    class Totals
      def initialize
        @kept = {}
      end

      # @param ledgers [Hash{String => Probe::Ledger}]
      # @return [Hash{Array => Probe::Ledger::Entry}] by kind and name
      def call(ledgers)
        lists = Hash.new { |all, key| all[key] = [] }
        ledgers.each_value do |ledger|
          ledger.entries.each { |key, entry| lists[key] << entry unless entry.kind == :pool_thread }
        end
        @kept = lists.to_h { |key, list| [key, same?(@kept[key], list) ? @kept[key] : [list, sum(list)]] }
        @kept.transform_values(&:last)
      end

      private

      def same?(kept, list)
        kept && kept.first.size == list.size && kept.first.each_with_index.all? { |one, index| one.equal?(list[index]) }
      end

      # What Probe::Ledger::Entry#+ would make of them, one after the other.
      def sum(entries)
        return entries.first if entries.one?
        blames = entries.each_with_object(Hash.new(0)) do |entry, sums|
          entry.blames.each { |holder, ns| sums[holder] += ns }
        end
        entries.first.with(counts: columns(entries.map(&:counts)), sums: columns(entries.map(&:sums)), blames:,
          histograms: entries.map(&:histograms).transpose.map { |same| PackedHistogram.sum(same) })
      rescue IndexError # some have all histograms, as those of processes that ended long ago
        entries.reduce(:+)
      end

      # A number that one does not know is unknown in the sum.
      def columns(rows) = rows.transpose.map { |numbers| numbers.include?(nil) ? nil : numbers.sum }
    end

    # Reads of a ledger what a Status shows: of histograms the first alone, as those of parts take three times as
    # long to read as all else.
    class LedgerReader < Probe::Ledger::Reader
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

      def histograms_count = 1

      def histograms_of(bytes, count) = bytes ? [PackedHistogram.new(count, bytes)] : []
    end

    # A histogram as it stands in a ledger. Those of many processes are added up as they are, and only the difference of
    # two sums is taken apart, once for each endpoint: with eight workers that takes a tenth of the time. In all else it
    # stands for a Probe::Histogram.
    class PackedHistogram
      # @param histograms [Array<PackedHistogram, Probe::Histogram>]
      # @return [PackedHistogram, Probe::Histogram]
      def self.sum(histograms)
        return histograms.reduce(:+) unless histograms.all?(PackedHistogram)
        bytes = histograms.first.bytes.dup
        histograms.drop(1).each { |other| Probe::GvlClock.add(bytes, other.bytes) }
        new(histograms.sum(&:count), bytes)
      end

      # @param histogram [PackedHistogram, Probe::Histogram, nil]
      # @return [Probe::Histogram, nil]
      def self.plain(histogram)
        return histogram unless histogram.is_a?(PackedHistogram)
        Probe::Histogram.new(zero_count: histogram.zero_count, counts: histogram.counts)
      end

      # @return [Integer] durations, those of exactly 0 included, which have no bucket
      attr_reader :count

      # @return [String] a number for each bucket
      attr_reader :bytes

      # @param count [Integer]
      # @param bytes [String]
      def initialize(count, bytes)
        @count = count
        @bytes = bytes
      end

      # @param other [PackedHistogram, Probe::Histogram]
      # @return [PackedHistogram, Probe::Histogram]
      def +(other)
        return plain + other unless other.is_a?(PackedHistogram)
        PackedHistogram.new(count + other.count, Probe::GvlClock.add(bytes.dup, other.bytes))
      end

      # @param other [PackedHistogram, Probe::Histogram] a reading of the same, before
      # @return [Probe::Histogram]
      def -(other)
        return plain - other unless other.is_a?(PackedHistogram)
        histogram(count - other.count, other.bytes)
      end

      def counts = plain.counts

      def zero_count = plain.zero_count

      # @param ratio [Float]
      def quantile_ns(ratio) = plain.quantile_ns(ratio)

      private

      # So many buckets are held against each other at a time: most have not changed.
      SLICE = 32
      private_constant :SLICE

      def plain = @plain ||= histogram(count, "\0" * bytes.bytesize)

      def histogram(count, earlier)
        counts = []
        (0...bytes.bytesize).step(8 * SLICE) do |place|
          now, before = [bytes, earlier].map { |all| all.byteslice(place, 8 * SLICE) }
          next if now == before
          now.unpack("Q*").zip(before.unpack("Q*")).each_with_index do |(number, was), bucket|
            counts << [place / 8 + bucket, number - was].freeze if number > was
          end
        end
        Probe::Histogram.new(zero_count: [count - counts.sum(&:last), 0].max, counts: counts.freeze)
      end
    end
  end
end
