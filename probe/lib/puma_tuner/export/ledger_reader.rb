# frozen_string_literal: true

module PumaTuner
  module Export
    # Reads of a ledger what is exported, and no traces. Its file stays open, and each row tells how often it was
    # written: who looks again reads those that were written since. Rows of many ledgers are added up as they stand
    # there, packed, and told apart by buckets afterwards, once. What a scrape costs: docs/measured/scrape.md.
    class LedgerReader < Probe::Ledger::Reader
      # These parts have distributions, in these buckets.
      BOUNDS = {wall: Bounds::FINE, queue: Bounds::WAITS, gvl_wait: Bounds::WAITS}.freeze

      LAYOUT = Probe::Ledger::LAYOUT
      ENTRY_BYTES = LAYOUT[:entry_bytes]
      NUMBERS_COUNT = Probe::Parts::COUNTS.size + Probe::Parts::SUMS.size
      NUMBERS_BYTES = NUMBERS_COUNT * 8
      HISTOGRAM_BYTES = Probe::Histogram::BUCKETS_COUNT * 8
      PLACES = BOUNDS.keys.map { |part| Probe::Parts::DISTRIBUTIONS.index(part) }.freeze

      # @param path [String]
      # @return [LedgerReader, WrittenReader]
      # @raise [Errno::ENOENT]
      def self.open(path) = path.end_with?(".json") ? WrittenReader.new(path) : new(File.open(path, "rb"))

      # @return [Hash{String => Object}] see Recording
      attr_reader :facts

      # Finds the rows there are by now. To be called first.
      # @return [self, nil] nil when the ledger is not complete yet
      def look
        bytes = header or return
        @facts ||= facts_in(bytes)
        count = @header[:entries_count]
        table = @file.pread(count * ENTRY_BYTES, LAYOUT[:entries_offset])
        @keys = Array.new(count) { |index| @keys&.at(index) || key_in(table, index * ENTRY_BYTES) }
        @turns = Array.new(count) { |index| table.unpack1("Q", offset: index * ENTRY_BYTES) }
        self
      rescue EOFError
        nil
      rescue *DAMAGES
        damaged
      end

      def pid = @header[:pid]

      # @return [Integer] by the wall clock
      def began_at_ns = @header[:began_at_ns]

      # @yieldparam kind [Symbol]
      # @yieldparam name [String]
      # @yieldparam index [Integer]
      # @yieldparam version [Object] another one when the row was written since
      def each_row
        @keys.each_with_index do |(kind, name), index|
          yield kind, name, index, @turns[index] if @turns[index].positive?
        end
      end

      # @return [Array<Integer, nil>] its counts, and its sums; nil: unknown
      def numbers(index)
        settled(entry_offset(index)) { @file.pread(NUMBERS_BYTES, entry_offset(index) + LAYOUT[:counts_offset]) }
          .unpack("Q*")
      end

      # Adds a row to others.
      # @param numbers [String] packed: counts and sums
      # @param histograms [Array<String>] in the order of BOUNDS
      # @return [Array<Symbol>] parts that are unknown
      def add(index, numbers, histograms)
        @numbers ||= String.new(capacity: NUMBERS_BYTES)
        @histograms ||= PLACES.map { String.new(capacity: HISTOGRAM_BYTES) }
        settled(entry_offset(index)) { read_row(index) }
        Probe::GvlClock.add(numbers, @numbers)
        histograms.zip(@histograms) { |sums, more| Probe::GvlClock.add(sums, more) }
        []
      end

      def close = @file.close

      private

      def read_row(index)
        @file.pread(NUMBERS_BYTES, entry_offset(index) + LAYOUT[:counts_offset], @numbers)
        PLACES.zip(@histograms) do |place, bytes|
          @file.pread(HISTOGRAM_BYTES, LAYOUT[:histograms_offset] +
            (index * LAYOUT[:histograms_count] + place) * HISTOGRAM_BYTES, bytes)
        end
      end
    end
  end
end
