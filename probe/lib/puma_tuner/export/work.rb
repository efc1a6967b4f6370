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
  end
end
