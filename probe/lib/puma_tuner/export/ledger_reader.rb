# frozen_string_literal: true

module PumaTuner
  module Export
    # Reads of a ledger what is exported, as Buckets, and no traces. What an endpoint had when it was asked for last is kept for as long
    # as it is not asked for again: of the many endpoints of an app, few are between two scrapes. What a scrape costs:
    # docs/scrape.md.
    class LedgerReader < Probe::Ledger::Reader
      # Of which parts there are histograms, and in which buckets; by place in Probe::Ledger::DISTRIBUTIONS.
      BOUNDS = {wall: Bounds::FINE, queue: Bounds::WAITS, gvl_wait: Bounds::WAITS}.transform_keys { |part| Probe::Ledger::DISTRIBUTIONS.index(part) }.freeze

      PLACES_COUNT = Probe::Ledger::DISTRIBUTIONS.size

      LAYOUT = Probe::Ledger::LAYOUT
      HISTOGRAM_BYTES = LAYOUT[:buckets_count] * 8
      COUNT_OFFSET = 16

      class << self
        # @param path [String]
        # @param kept [Hash] what was read of this ledger before; is changed
        # @return [Probe::Ledger, nil] whose entries have Buckets for histograms
        def read(path, kept)
          return File.open(path, "rb") { |file| new(file, kept).ledger } unless path.end_with?(".json")
          ledger = Probe::Ledger.read(path) or return
          ledger.with(entries: ledger.entries.transform_values { |entry| entry.with(histograms: buckets_of(entry)) })
        end

        private

        def buckets_of(entry)
          Array.new(PLACES_COUNT) { |place| BOUNDS[place] && entry.histograms[place]&.then { |histogram| Buckets.of(histogram, BOUNDS[place], entry.sums[place]) } }
        end
      end

      def initialize(file, kept)
        super(file)
        @kept = kept
      end

      private

      def traces = []

      # @return [Array<String, nil>, nil] by place; nil of what has not changed, and where there are none
      def histogram_bytes(kind, index, numbers)
        @sums = numbers.unpack("Q#{PLACES_COUNT}", offset: COUNT_OFFSET + Probe::Ledger::COUNTS.size * 8)
        return unless kind == :request || kind == :job
        return if @kept[index]&.first == numbers.unpack1("Q", offset: COUNT_OFFSET)
        Array.new(PLACES_COUNT) { |place| @file.pread(HISTOGRAM_BYTES, LAYOUT[:histograms_offset] + (index * PLACES_COUNT + place) * HISTOGRAM_BYTES) if BOUNDS.key?(place) }
      end

      def histograms_of(bytes, index, count)
        @kept[index] = [count, bytes.each_with_index.map { |one, place| one && Buckets.of_counts(one.unpack("Q*"), count, BOUNDS[place], @sums[place]) }.freeze] if bytes
        @kept.dig(index, 1) || []
      end
    end
  end
end
