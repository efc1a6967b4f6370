# frozen_string_literal: true

module PumaTuner
  module Probe
    # A reading of one process's ledger: the file in which it records, which stays when the
    # process ends, however it ends. Its places are those of ext/puma_tuner_probe/ledger.h;
    # `GvlClock.layout` tells what the extension was built with.
    #
    # pid, facts: of the process; facts are those of Recording
    # began_at_ns: by the clock that no time server sets, and which all processes of a machine share
    # entries: by kind and name; traces: by the same, since the last begin_window
    # locks: in the order of the ids that traces have for them, from 1 on; nil: nobody watched them
    # unplaced_locks_count: holds of locks that found no place;
    #   lock_pairs_count: all that was locked and unlocked while it was watched
    # cycles_count, gc_count, process_cpu_ns: numbers that grow; process_cpu_ns as of the last full second with requests
    Ledger = Data.define(:pid, :facts, :began_at_ns, :entries, :traces, :cycles_count, :cost_per_cycle_ns,
      :cost_per_request_ns,
      :process_cpu_ns, :gc_count, :unobserved_threads_count, :unnamed_count, :locks, :lock_pairs_count,
      :cost_per_lock_pair_ns, :unplaced_locks_count) do
      def initialize(locks: nil, lock_pairs_count: nil, cost_per_lock_pair_ns: nil, unplaced_locks_count: nil, **fields)
        super
      end
    end

    class Ledger
      MAGIC = 0x7265676465744c50
      LAYOUT = {
        layout: 2, entries_offset: 4_096, entry_bytes: 840, histograms_offset: 326_656,
        buckets_count: Probe::Histogram::BUCKETS_COUNT,
        histograms_count: 9, traces_offset: 29_522_944, trace_bytes: 4_160, facts_offset: 112, name_offset: 200,
        blames_offset: 328,
        sums_count: 17, counts_count: 6, locks_offset: 38_042_624, first_lock_offset: 40, lock_bytes: 248,
        lock_class_offset: 56, lock_place_offset: 120
      }.freeze

      KINDS = [nil, :request, :job, :pool_thread, :thread, :special].freeze
      KIND_NUMBERS = KINDS.each_with_index.to_h.compact.freeze

      # The places of an entry's sums, nanoseconds: those of GvlClock::NUMBERS. The first nine have a histogram each.
      SUMS = GvlClock::NUMBERS.first(LAYOUT[:sums_count]).freeze
      DISTRIBUTIONS = SUMS.first(LAYOUT[:histograms_count]).freeze

      # stamped: that came with a proxy's X-Request-Start; cycles: times a thread took the GVL, 0 of what is no thread
      COUNTS = %i[all unclosed slices long_holds stamped cycles].freeze

      HEADER = %i[magic layout pid epoch entries_count traces_count cycles_count cost_per_cycle_ns cost_per_request_ns
        process_cpu_ns gc_count unobserved_threads_count unnamed_count began_at_ns].freeze
      EPOCH_OFFSET = HEADER.index(:epoch) * 8

      # In an entry; its turn comes first, its sums after its counts.
      KIND_OFFSET = 8
      COUNTS_OFFSET = 16
      ENTRIES_MAX = 384
      TRACES_MAX = 2_048
      FACTS_BYTES = 3_584
      NAME_BYTES = 128
      TRACE_FIELDS_COUNT = 8

      # An entry being written is looked at again, so often: a process may have been killed in the middle of one.
      TRIES_MAX = 100

      # What one kind of work added up to.
      #
      # counts: COUNTS; sums: SUMS; histograms: of DISTRIBUTIONS; blames: [kind,
      #   name] of who held the GVL, to nanoseconds
      # A number nobody could tell is nil.
      Entry = Data.define(:kind, :name, :counts, :sums, :histograms, :blames) do
        # @param other [Entry] of the same kind and name
        def +(other) = combine(other, :+) { |one, two| one + two }

        # @param earlier [Entry] a reading of the same, before
        def -(other) = combine(other, :-) { |one, two| [one - two, 0].max }

        private

        def combine(other, operator)
          add = ->((one, two)) { one && two && yield(one, two) }
          both = histograms.zip(other.histograms).map { |one, two| one && two && one.public_send(operator, two) }
          keys = blames.keys | other.blames.keys
          with(counts: counts.zip(other.counts).map(&add), sums: sums.zip(other.sums).map(&add), histograms: both,
            blames: keys.to_h { |key| [key, add.call([blames.fetch(key, 0), other.blames.fetch(key, 0)])] })
        end
      end

      LOCK_KINDS = [nil, "mutex", "monitor", "pool"].freeze
      LOCKS_HEADER = %i[watched locks_count lock_pairs_count cost_per_lock_pair_ns unplaced_locks_count].freeze
      LOCK_NUMBERS = %i[kind size threads_count holds_count hold_ns waits_count wait_ns].freeze
      LOCK_CLASS_BYTES = 64
      LOCK_PLACE_BYTES = 128

      # A lock that was held while its thread let the GVL go, or waited for.
      #
      # kind: of LOCK_KINDS; ordinal: among the locks of its process that are the same in all but identity, from 0 on
      # size: how many may hold it at once; threads_count: how many ever have
      Lock = Data.define(:kind, :class_name, :place, :ordinal, :size, :threads_count, :holds_count, :hold_ns,
        :waits_count, :wait_ns) do
        # @return [Array] what is the same for the same lock in another process
        def key = [kind, class_name, place, ordinal]

        # @param other [Lock] the same in another process
        def +(other) = combine(other) { |one, two| one + two }.with(threads_count: threads_count + other.threads_count)

        # @param earlier [Lock] a reading of the same, before
        def -(other) = combine(other) { |one, two| [one - two, 0].max }

        private

        def combine(other)
          with(**%i[holds_count hold_ns waits_count wait_ns]
            .to_h { |name| [name, yield(public_send(name), other.public_send(name))] })
        end
      end

      class << self
        # @return [Ledger, nil] nil when it is not complete yet
        def read(path)
          path.end_with?(".json") ? Written.read(path) : File.open(path, "rb") { |file| Reader.new(file).ledger }
        rescue Errno::ENOENT
          nil
        end

        # @param ledgers [Array<Ledger>]
        # @return [Hash{Array => Entry}] their entries, those of the same kind and name added up
        def sum(ledgers)
          ledgers.each_with_object({}) do |ledger, sums|
            ledger.entries.each { |key, entry| sums[key] = sums.key?(key) ? sums[key] + entry : entry }
          end
        end

        # @param ledgers [Array<Ledger>]
        # @return [Hash{Array => Lock}] their locks by key, the same ones added up
        def sum_locks(ledgers)
          ledgers.flat_map { |ledger| ledger.locks.to_a }.group_by(&:key).transform_values { |same| same.reduce(:+) }
        end

        # Begins the sample of traces anew, in the process that writes.
        def begin_window(path)
          return if path.end_with?(".json")
          File.open(path, "r+b") do |file|
            epoch = file.pread(8, EPOCH_OFFSET).unpack1("Q")
            file.pwrite([epoch + 1].pack("Q"), EPOCH_OFFSET)
          end
        rescue Errno::ENOENT
          nil
        end
      end

      # Reads a ledger's file, which another process may be writing.
      class Reader
        def initialize(file)
          @file = file
        end

        def ledger
          bytes = header or return
          numbers = @header.slice(*Ledger.members)
          # Locks after the traces, which name them.
          Ledger.new(**numbers, facts: facts_in(bytes),
            entries: entries.compact.to_h { |entry| [[entry.kind, entry.name], entry] },
            traces: traces.group_by(&:shift).to_h { |index, traces| [key(index), traces.map(&:first)] }, **locks)
        rescue EOFError
          nil
        end

        private

        # @return [String, nil] all before the entries; nil when the ledger is not complete yet
        def header
          bytes = @file.pread(LAYOUT[:entries_offset], 0)
          @header = HEADER.zip(bytes.unpack("Q#{HEADER.size}")).to_h
          return if @header[:magic] != MAGIC
          unless @header[:layout] == LAYOUT[:layout]
            raise InvalidDocument.new(@file.path, "another version of puma_tuner writes it")
          end
          if @header[:entries_count] > ENTRIES_MAX || @header[:traces_count] > TRACES_MAX
            raise InvalidDocument.new(@file.path, "it is no ledger")
          end
          bytes
        end

        def facts_in(bytes)
          JSON.parse(text(bytes, LAYOUT[:facts_offset], FACTS_BYTES))
        rescue JSON::ParserError
          {"why_not" => "what the process tells of itself has no room in its ledger"}
        end

        def text(bytes, offset, length)
          bytes.byteslice(offset, length).unpack1("Z*").force_encoding(Encoding::UTF_8).scrub
        end

        def entries
          @bytes = Array.new(@header[:entries_count]) { |index| @file.pread(LAYOUT[:entry_bytes], entry_offset(index)) }
          @keys = @bytes.map { |bytes| key_in(bytes, 0) }
          @keys.each_with_index.map { |(kind, name), index| entry(kind, name, index) if name != "(scratch)" }
        end

        def entry_offset(index) = LAYOUT[:entries_offset] + index * LAYOUT[:entry_bytes]

        # Of the entry that begins there.
        def key_in(bytes, place)
          [KINDS.fetch(bytes.unpack1("Q", offset: place + KIND_OFFSET)),
            text(bytes, place + LAYOUT[:name_offset], NAME_BYTES)]
        end

        def key(index) = @keys.fetch(index)

        def entry(kind, name, index)
          numbers, histograms = settled(entry_offset(index)) do
            [@file.pread(LAYOUT[:entry_bytes], entry_offset(index)), histogram_bytes(kind, index)]
          end
          counts = numbers.unpack("Q#{COUNTS.size}", offset: COUNTS_OFFSET)
          sums = numbers.unpack("Q#{SUMS.size}", offset: COUNTS_OFFSET + COUNTS.size * 8)
          Entry.new(kind:, name:, counts:, sums:, histograms: histograms_of(histograms, counts.first),
            blames: blames(numbers))
        end

        # The block's result at a moment in which nobody wrote.
        def settled(offset)
          TRIES_MAX.times do |try|
            turn = @file.pread(8, offset)
            result = yield
            return result if (turn.unpack1("Q").even? && turn == @file.pread(8, offset)) || try == TRIES_MAX - 1
          end
        end

        def histogram_bytes(kind, index)
          return unless kind == :request || kind == :job
          length = LAYOUT[:buckets_count] * LAYOUT[:histograms_count] * 8
          @file.pread(length, LAYOUT[:histograms_offset] + index * length)
        end

        def histograms_of(bytes, count)
          return [] unless bytes
          bytes.unpack("Q*").each_slice(LAYOUT[:buckets_count]).map do |buckets|
            counts = buckets.each_with_index.filter_map { |number, bucket| [bucket, number].freeze if number.positive? }
            Probe::Histogram.new(zero_count: [count - counts.sum(&:last), 0].max, counts: counts.freeze)
          end
        end

        def blames(bytes)
          blames = Hash.new(0)
          bytes.unpack("Q*", offset: LAYOUT[:blames_offset]).each_slice(2) do |index, ns|
            blames[key(index)] += ns if ns.positive? && @keys[index]
          end
          blames.to_h
        end

        # @return [Array] [index of the entry, Trace]
        def traces
          Array.new(@header[:traces_count]) { |place| trace(LAYOUT[:traces_offset] + place * LAYOUT[:trace_bytes]) }
            .compact
        end

        def trace(offset)
          bytes = settled(offset) { @file.pread(LAYOUT[:trace_bytes], offset) }
          turn, index, epoch, wall_ns, queue_ns, cpu_ns, gc_ns, count = bytes.unpack("Q#{TRACE_FIELDS_COUNT}")
          # An endpoint that first occurs while this is read has traces here, and no entry yet.
          return if epoch != @header[:epoch] || turn.odd? || turn.zero? || index >= @keys.size
          steps = bytes.unpack("Q#{count}", offset: TRACE_FIELDS_COUNT * 8).flat_map do |step|
            kind = step >> 56
            [GvlClock::MARKERS[kind] || GvlClock::STEP_KINDS.fetch(kind), step & ((1 << 56) - 1)]
          end
          [index, Trace.new(steps: steps.freeze, wall_ns:, queue_ns:, cpu_ns:, gc_ns:)]
        end

        def locks
          header = LOCKS_HEADER.zip(@file.pread(LOCKS_HEADER.size * 8, LAYOUT[:locks_offset]).unpack("Q*")).to_h
          return {} if header[:watched].zero?
          ordinals = Hash.new(-1)
          {**header.slice(*Ledger.members), locks: Array.new(header[:locks_count]) { |index| lock(index, ordinals) }}
        end

        def lock(index, ordinals)
          bytes = @file.pread(LAYOUT[:lock_bytes],
            LAYOUT[:locks_offset] + LAYOUT[:first_lock_offset] + index * LAYOUT[:lock_bytes])
          numbers = LOCK_NUMBERS.zip(bytes.unpack("Q#{LOCK_NUMBERS.size}")).to_h
          kind = LOCK_KINDS.fetch(numbers.delete(:kind))
          class_name = text(bytes, LAYOUT[:lock_class_offset], LOCK_CLASS_BYTES)
          place = text(bytes, LAYOUT[:lock_place_offset], LOCK_PLACE_BYTES)
          Lock.new(kind:, class_name:, place:, ordinal: ordinals[[kind, class_name, place]] += 1, **numbers)
        end
      end
    end
  end
end
