# frozen_string_literal: true

require "json"

module PumaTuner
  module Probe
    # A reading of one process's ledger: the file in which it records, which stays when the process ends, however it
    # ends. What is where in it: ext/puma_tuner_probe/ledger.h.
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
      # Places and names in the file, as the extension was built with; empty without it, and then there is no such file
      # to read.
      LAYOUT = GvlClock.layout

      names = ->(list) { LAYOUT.fetch(list, []).map(&:downcase).freeze }

      KINDS = [nil, *names.call(:kinds)].freeze
      KIND_NUMBERS = KINDS.each_with_index.to_h.compact.freeze

      # So many steps a trace has room for; what a request does afterwards adds to the last ones of the same kind.
      STEPS_MAX = LAYOUT.empty? ? 0 : (LAYOUT[:trace_bytes] - LAYOUT[:steps_offset]) / 8

      # An entry being written is looked at again, so often: a process may have been killed in the middle of one.
      TRIES_MAX = 100

      # The sums of one kind of work.
      #
      # counts: Parts::COUNTS; sums: Parts::SUMS, nanoseconds; histograms: of Parts::DISTRIBUTIONS
      # blames: [kind, name] of who held the GVL, to nanoseconds
      # A number nobody could tell is nil.
      Entry = Data.define(:kind, :name, :counts, :sums, :histograms, :blames) do
        # @param other [Entry] of the same kind and name
        def +(other) = combine(other, :+) { |one, two| one + two }

        # @param other [Entry] a reading of the same, before
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

      LOCK_KINDS = [nil, *names.call(:lock_kinds).map(&:name)].freeze

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

        # @param other [Lock] a reading of the same, before
        def -(other) = combine(other) { |one, two| [one - two, 0].max }

        private

        def combine(other)
          with(**%i[holds_count hold_ns waits_count wait_ns]
            .to_h { |name| [name, yield(public_send(name), other.public_send(name))] })
        end
      end

      class << self
        # @param traced [Boolean] whether traces are read, which are most of a ledger
        # @param kind [Symbol, nil] of the only entries that are read, then without locks; nil: all
        # @return [Ledger, nil] nil when it is not complete yet
        def read(path, traced: true, kind: nil)
          return Written.read(path) if path.end_with?(".json")
          File.open(path, "rb") { |file| Reader.new(file).ledger(traced:, kind:) }
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
          change(path) do |file|
            epoch = file.pread(8, LAYOUT[:epoch_offset]).unpack1("Q")
            file.pwrite([epoch + 1].pack("Q"), LAYOUT[:epoch_offset])
          end
        end

        # Opens a ledger for a reader's own fields. What is no ledger is left as it is, as root may be shown another
        # user's files.
        #
        # @yieldparam file [File]
        # @return [Object, nil] the block's; nil where it is no ledger of the extension's, or has gone
        def change(path)
          return if path.end_with?(".json")
          File.open(path, File::RDWR | File::NOFOLLOW, binmode: true) do |file|
            yield file if file.pread(8, 0).unpack1("Q") == LAYOUT[:magic]
          end
        rescue Errno::ENOENT, Errno::ELOOP, EOFError
          nil
        end
      end

      # Reads a ledger's file, which another process may be writing.
      class Reader
        # @raise [InvalidDocument] without the extension
        def initialize(file)
          @file = file
          return unless LAYOUT.empty?
          raise InvalidDocument.new(file.path, "reading it needs the extension, and #{GvlClock.why_not}")
        end

        # @param traced [Boolean] whether traces are read
        # @param kind [Symbol, nil] of the only entries that are read; nil: all
        # @param locks [Boolean] whether locks are read
        # @return [Ledger, nil] nil when it is not complete yet
        def ledger(traced: true, kind: nil, locks: kind.nil?)
          bytes = header or return
          numbers = @header.slice(*Ledger.members)
          # Locks after the traces, which name them.
          Ledger.new(**numbers, facts: facts_in(bytes),
            entries: entries(kind).compact.to_h { |entry| [[entry.kind, entry.name], entry] },
            traces: traced ? traces.group_by(&:shift).to_h { |index, traces| [key(index), traces.map(&:first)] } : {},
            **(locks ? watched_locks : {}))
        rescue EOFError
          nil
        rescue *DAMAGES
          damaged
        end

        # Numbers that stand for no kind, no place and no count raise these.
        DAMAGES = [IndexError, RangeError, ArgumentError].freeze

        # @return [Array(Integer, Integer, Hash, Array), nil] the process's id, the last order for lanes, its facts, and
        #   the entries' kinds and names in their order; nil when the ledger is not complete yet
        def identity
          bytes = header or return
          names = Array.new(@header[:entries_count]) do |index|
            key_in(@file.pread(LAYOUT[:entry_bytes], entry_offset(index)), 0)
          end
          [@header[:pid], @header[:lanes_order], facts_in(bytes), names]
        rescue *DAMAGES
          damaged
        end

        # @return [Hash{Symbol => Integer}] numbers that a structure begins with, by the names of its fields
        def fields(structure, bytes) = LAYOUT[structure].zip(bytes.unpack("Q#{LAYOUT[structure].size}")).to_h

        # @return [String] that stands there, up to the first zero
        def text(bytes, offset, length)
          Processes.text(bytes.byteslice(offset, length).unpack1("Z*"))
        end

        private

        def damaged = raise(InvalidDocument.new(@file.path, "it is not a ledger, or it is damaged"))

        # @return [String, nil] all before the entries; nil when the ledger is not complete yet
        def header
          bytes = @file.pread(LAYOUT[:entries_offset], 0)
          @header = fields(:header, bytes)
          return if @header[:magic] != LAYOUT[:magic]
          unless @header[:layout] == LAYOUT[:layout]
            raise InvalidDocument.new(@file.path, "another version of puma_tuner writes it")
          end
          fits = @header[:entries_count] <= LAYOUT[:entries_max] && @header[:traces_count] <= LAYOUT[:traces_max]
          fits ? bytes : damaged
        end

        def facts_in(bytes)
          facts = JSON.parse(text(bytes, LAYOUT[:facts_offset], LAYOUT[:facts_bytes]))
          facts.is_a?(Hash) ? facts : damaged
        rescue JSON::ParserError
          {"why_not" => "what the process tells of itself has no room in its ledger"}
        end

        def entries(only = nil)
          @bytes = Array.new(@header[:entries_count]) { |index| @file.pread(LAYOUT[:entry_bytes], entry_offset(index)) }
          @keys = @bytes.map { |bytes| key_in(bytes, 0) }
          @keys.each_with_index.map do |(kind, name), index|
            entry(kind, name, index) if name != "(scratch)" && (only.nil? || kind == only)
          end
        end

        def entry_offset(index) = LAYOUT[:entries_offset] + index * LAYOUT[:entry_bytes]

        # Returns the key of the entry that begins there.
        def key_in(bytes, place)
          kind = KINDS.fetch(bytes.unpack1("Q", offset: place + LAYOUT[:kind_offset]))
          [kind, text(bytes, place + LAYOUT[:name_offset], LAYOUT[:name_bytes])]
        end

        def key(index) = @keys.fetch(index)

        def entry(kind, name, index)
          numbers, histograms = settled(entry_offset(index)) do
            [@file.pread(LAYOUT[:entry_bytes], entry_offset(index)), histogram_bytes(kind, index)]
          end
          counts = numbers.unpack("Q#{Parts::COUNTS.size}", offset: LAYOUT[:counts_offset])
          sums = numbers.unpack("Q#{Parts::SUMS.size}", offset: LAYOUT[:sums_offset])
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
          length = LAYOUT[:buckets_count] * 8
          @file.pread(length * histograms_count,
            LAYOUT[:histograms_offset] + index * length * LAYOUT[:histograms_count])
        end

        # How many of an entry's histograms are read; the first is of the wall time.
        def histograms_count = LAYOUT[:histograms_count]

        def histograms_of(bytes, count)
          return [] unless bytes
          length = LAYOUT[:buckets_count] * 8
          # A reader may have read fewer than there are.
          Array.new(bytes.bytesize / length) do |place|
            counts = counted(bytes.byteslice(place * length, length))
            Probe::Histogram.new(zero_count: [count - counts.sum(&:last), 0].max, counts: counts.freeze)
          end
        end

        # Most buckets are empty, and of a server with many endpoints and workers there are millions: those that are
        # empty together are left out together.
        TOGETHER = 32
        EMPTY = ("\0" * TOGETHER * 8).b.freeze
        private_constant :TOGETHER, :EMPTY

        def counted(bytes)
          (0...bytes.bytesize).step(EMPTY.bytesize).flat_map do |at|
            some = bytes.byteslice(at, EMPTY.bytesize)
            next [] if some == EMPTY
            numbers = some.unpack("Q*").each_with_index
            numbers.filter_map { |number, place| [at / 8 + place, number].freeze if number.positive? }
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
          trace = fields(:trace, bytes)
          turn, index = trace.values_at(:turn, :entry)
          # An endpoint that first occurs while this is read has traces here, and no entry yet.
          return if trace[:epoch] != @header[:epoch] || turn.odd? || turn.zero? || index >= @keys.size
          [index, Trace.new(steps: steps_in(bytes, trace[:steps_count]), **trace.slice(*Trace.members))]
        end

        # Kinds by their numbers.
        KINDS_OF_STEPS = Parts::CODES.invert.freeze
        private_constant :KINDS_OF_STEPS

        def steps_in(bytes, count)
          raise RangeError, "#{count} steps" if count > STEPS_MAX
          bits = LAYOUT[:step_ns_bits]
          bytes.unpack("Q#{count}", offset: LAYOUT[:steps_offset])
            .flat_map { |step| [KINDS_OF_STEPS.fetch(step >> bits), step & ((1 << bits) - 1)] }.freeze
        end

        def watched_locks
          header = fields(:locks_header, @file.pread(LAYOUT[:first_lock_offset], LAYOUT[:locks_offset]))
          return {} if header[:watched].zero?
          raise RangeError, "#{header[:locks_count]} locks" if header[:locks_count] > LAYOUT[:locks_max]
          ordinals = Hash.new(-1)
          {**header.slice(*Ledger.members), locks: Array.new(header[:locks_count]) { |index| lock(index, ordinals) }}
        end

        def lock(index, ordinals)
          bytes = @file.pread(LAYOUT[:lock_bytes],
            LAYOUT[:locks_offset] + LAYOUT[:first_lock_offset] + index * LAYOUT[:lock_bytes])
          numbers = fields(:lock, bytes)
          kind = LOCK_KINDS.fetch(numbers.delete(:kind))
          class_name = text(bytes, LAYOUT[:lock_class_offset], LAYOUT[:lock_class_bytes])
          place = text(bytes, LAYOUT[:lock_place_offset], LAYOUT[:lock_place_bytes])
          Lock.new(kind:, class_name:, place:, ordinal: ordinals[[kind, class_name, place]] += 1, **numbers)
        end
      end
    end
  end
end
