# frozen_string_literal: true

module PumaTuner
  module Lab
    # Something counted: what was to be expected, and what was. counted: nil when it could not be counted.
    Count = Document.define(:expected, :counted)

    # Something that somebody published, or that this lab expects, and what was measured of it here.
    #
    # text: what is claimed; published: as it was published, with its units; nil when it is our own
    # published_ratio: the claimed ratio, nil where none was claimed; margin: what counts as that, nil likewise
    # measured: of the same ratio (unit "ratio"), or a number that is only told
    #   (unit "ns", "per_s", "count"); nil of counts
    # round_ratios: what the interval is made of; nil of numbers, and of files of before they were kept
    # exact: nil, or the counts
    # outcome, detail: by Outcome, always computed anew; nil of a number that is only told
    # note: a sentence, nil without one
    Claim = Document.define(:text, :published, :published_ratio, :margin, :measured, :round_ratios, :unit, :exact,
      :outcome, :detail, :note,
      nested: {margin: Margin, measured: Stats::Estimate, exact: Count}, added: %i[margin round_ratios detail]) do
      # How often the intervals of a finding's claims, all together, may leave out the truth.
      const_set(:FAMILY_ERROR_RATIO, 0.05)

      # @param measured [Ratios::OfRounds, Stats::Estimate, nil]
      # @param published [String, nil]
      # @param published_ratio [Numeric, Range, nil] a range where a span was
      #   published, or a direction alone (HIGHER, LOWER)
      # @param margin_ratio [Numeric, nil] see Margin; nil: 10% of an effect, 5% where equality is claimed
      # @return [Claim]
      def self.of_ratio(text, measured, published: nil, published_ratio: nil, margin_ratio: nil, note: nil)
        margin = published_ratio && Margin.of(published_ratio, margin_ratio)
        # Of a span, what lies in it and is nearest stands for it.
        published_ratio = measured&.value&.clamp(published_ratio) if published_ratio.is_a?(Range)
        measured, round_ratios = measured.estimate, measured.ratios if measured.is_a?(Ratios::OfRounds)
        new(text:, published:, published_ratio:, margin:, measured:, round_ratios:, unit: "ratio", exact: nil, note:)
      end

      # @param expected [Integer] by the publication, or by a reason given in the note
      # @param counted [Integer, nil]
      # @return [Claim]
      def self.of_count(text, expected:, counted:, published: nil, note: nil)
        new(text:, published:, published_ratio: nil, measured: nil, unit: "count",
          exact: Count.new(expected:, counted:), note:)
      end

      # @param measured [Stats::Estimate, nil] a number in that unit, to stand beside the published one
      # @param unit [String] "ns", "per_s" or "count"
      # @return [Claim]
      def self.of_number(text, measured, unit:, published: nil, note: nil)
        new(text:, published:, published_ratio: nil, measured:, unit:, exact: nil, note:)
      end

      # All that intervals decide share an error (Bonferroni): each has its interval at the level that its share leaves.
      #
      # @param claims [Array<Claim>] of one finding
      # @return [Array<Claim>] the same, at that level
      def self.family(claims)
        count = claims.count(&:by_interval?)
        claims.map { |claim| claim.at(1 - self::FAMILY_ERROR_RATIO / count) }
      end

      # An outcome that is given, as by a file, is not believed.
      def initialize(margin: nil, round_ratios: nil, **fields)
        published_ratio, measured, unit, exact = fields.values_at(:published_ratio, :measured, :unit, :exact)
        margin ||= published_ratio && Margin.of(published_ratio, declared: false)
        outcome = if exact
          Outcome.of_count(exact.expected, exact.counted)
        elsif unit == "ratio"
          Outcome.of_ratio(margin, measured)
        end
        detail = (Outcome.detail(published_ratio, measured) if outcome == :contradicted)
        super(**fields, margin:, round_ratios: round_ratios&.dup&.freeze, outcome:, detail:)
      end

      # @return [Boolean] whether it is an interval that decides
      def by_interval? = unit == "ratio" && !measured.nil?

      # @param level_ratio [Float]
      # @return [Claim] with its interval at that level; itself where the rounds are not known
      def at(level_ratio)
        (by_interval? && round_ratios) ? with(measured: Ratios::OfRounds.new(round_ratios).at(level_ratio)) : self
      end

      # @return [Boolean] whether its interval is Student's, as the rounds are too few for an exact one at that level
      def student?
        by_interval? && !round_ratios.nil? && !measured.level_ratio.nil? &&
          Stats::PairedRatio.rank_and_level(round_ratios.size, measured.level_ratio).last.nil?
      end
    end

    # Ratios, where only their direction was published.
    Claim::HIGHER = (1.0.next_float..Float::INFINITY)
    Claim::LOWER = (0.0..1.0.prev_float)
  end
end
