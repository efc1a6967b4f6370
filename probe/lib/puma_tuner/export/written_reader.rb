# frozen_string_literal: true

module PumaTuner
  module Export
    # The same as LedgerReader, of a ledger that is JSON (Probe::Written): of
    # processes that have ended, or of one without the extension.
    class WrittenReader
      BUCKETS_COUNT = Probe::Histogram::BUCKETS_COUNT

      # @param path [String]
      def initialize(path)
        @path = path
      end

      # See LedgerReader.
      def look
        stat = File.stat(@path)
        version = [stat.ino, stat.mtime, stat.size]
        @ledger, @version = Probe::Written.read(@path), version unless @version == version
        self
      rescue Errno::ENOENT, JSON::ParserError, InvalidDocument
        nil # removed meanwhile, or written by another version
      end

      def facts = @ledger.facts

      def pid = @ledger.pid

      def began_at_ns = @ledger.began_at_ns

      # See LedgerReader.
      def each_row
        entries.each_with_index do |entry, index|
          yield entry.kind, entry.name, index, @version if entry.counts.first.positive?
        end
      end

      # See LedgerReader.
      def numbers(index) = entries[index].counts + entries[index].sums

      # See LedgerReader.
      def add(index, numbers, histograms)
        entry = entries[index]
        Probe::GvlClock.add(numbers, numbers(index).map(&:to_i).pack("Q*"))
        histograms.zip(LedgerReader::PLACES) do |sums, place|
          entry.histograms[place]&.then { |histogram| Probe::GvlClock.add(sums, packed(histogram)) }
        end
        Probe::Parts::SUMS.zip(entry.sums).filter_map { |part, ns| part if ns.nil? }
      end

      def close = nil

      private

      def entries = @ledger.entries.values

      def packed(histogram)
        counts = Array.new(BUCKETS_COUNT, 0)
        histogram.counts.each { |bucket, count| counts[bucket] = count }
        counts.pack("Q*")
      end
    end
  end
end
