# frozen_string_literal: true

module PumaTuner
  module Lab
    # Something counted: what was to be expected, and what was. counted: nil when it could not be counted.
    Count = Document.define(:expected, :counted)

    # Something that somebody published, or that this lab expects, and what was measured of it here.
    #
    # text: what is claimed; published: as it was published, with its units; nil when it is our own
    # published_ratio: the claimed ratio, nil where none was claimed
    # measured: of the same ratio (unit "ratio"), or a number that is only told (unit "ns", "per_s", "count"); nil of counts
    # exact: nil, or the counts
    # outcome: by Outcome, always computed anew; nil of a number that is only told
    # note: a sentence, nil without one
    Claim = Document.define(:text, :published, :published_ratio, :measured, :unit, :exact, :outcome, :note,
      nested: {measured: Stats::Estimate, exact: Count}) do
      # @param measured [Stats::Estimate, nil]
      # @param published [String, nil]
      # @param published_ratio [Numeric, Range, nil] a range where a span was published, or a direction alone (HIGHER, LOWER):
      #   what lies in it and is nearest to the measured ratio stands for it
      # @return [Claim]
      def self.of_ratio(text, measured, published: nil, published_ratio: nil, note: nil)
        published_ratio = measured&.value&.clamp(published_ratio) if published_ratio.is_a?(Range)
        new(text:, published:, published_ratio:, measured:, unit: "ratio", exact: nil, note:)
      end

      # @param expected [Integer] by the publication, or by a reason given in the note
      # @param counted [Integer, nil]
      # @return [Claim]
      def self.of_count(text, expected:, counted:, published: nil, note: nil)
        new(text:, published:, published_ratio: nil, measured: nil, unit: "count", exact: Count.new(expected:, counted:), note:)
      end

      # @param measured [Stats::Estimate, nil] a number in that unit, to stand beside the published one
      # @param unit [String] "ns", "per_s" or "count"
      # @return [Claim]
      def self.of_number(text, measured, unit:, published: nil, note: nil)
        new(text:, published:, published_ratio: nil, measured:, unit:, exact: nil, note:)
      end

      # An outcome that is given, as by a file, is not believed.
      def initialize(outcome: nil, **fields)
        super(**fields, outcome: outcome_of(**fields.slice(:published_ratio, :measured, :unit, :exact)))
      end

      private

      def outcome_of(published_ratio:, measured:, unit:, exact:)
        return Outcome.of_count(exact.expected, exact.counted) if exact
        Outcome.of_ratio(published_ratio, measured) if unit == "ratio"
      end
    end

    # Ratios, where only their direction was published.
    Claim::HIGHER = (1.0.next_float..Float::INFINITY)
    Claim::LOWER = (0.0..1.0.prev_float)
  end
end
