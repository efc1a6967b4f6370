# frozen_string_literal: true

module Bench
  # By how much one thing takes more than another, from pairs measured side by side.
  #
  # PumaTuner::Stats::PairedRatio, but of differences: a cost comes on top of what was there, and does not grow with it.
  # The point is the median of the Walsh averages (Hodges and Lehmann), the interval inverts the exact signed-rank test.
  module Difference
    # @param differences [Array<Numeric, nil>] variant less baseline, one a round; nil where one of them failed
    # @param level_ratio [Float] the coverage wanted
    # @return [PumaTuner::Stats::Estimate, nil] its level_ratio is nil when there are too few pairs for the wanted one (95%
    #   needs six), and the interval is the range of the averages; nil without any pair
    def self.of(differences, level_ratio: 0.95)
      pairs = differences.compact
      return if pairs.empty?
      averages = pairs.each_with_index.flat_map { |value, index| pairs[index..].map { |other| (value + other) / 2.0 } }.sort
      rank, reached = PumaTuner::Stats::PairedRatio.rank_and_level(pairs.size, level_ratio)
      PumaTuner::Stats::Estimate.new(value: PumaTuner::Stats::Quantile.of(averages, 0.5), low: averages[rank - 1],
        high: averages[-rank], level_ratio: reached, samples_count: pairs.size)
    end
  end

  # One target, held against what was measured.
  #
  # claim: what is promised; estimate: of what it takes, nil when nothing could be measured; target: in the same unit
  # noise: the same estimate for the A/A pair; nil where it was not measured; NO_PAIR of what is no difference, whose interval holds all its noise
  Verdict = Data.define(:claim, :unit, :target, :estimate, :noise) do
    # How far two equal things were found apart, at most.
    # @return [Float, nil] nil where they were not measured
    def noise_width
      return 0.0 if noise == self.class::NO_PAIR
      noise && [noise.low.abs, noise.high.abs].max
    end

    # Noise counts against either: it widens the interval, and what two equal things were found apart is added to it. So a noisy
    # machine can neither meet a target nor miss it, nor can one with too few rounds for an interval, or without the A/A pair. What is
    # not shown is no success: the run ends with a status of its own.
    #
    # @return [Symbol] :met when the whole interval, with the noise on top, is within the target; :missed when all of it, less the noise, lies
    #   beyond, or when there is no number at all; otherwise :not_shown
    def outcome
      return :missed if estimate.nil?
      return :not_shown unless noise && estimate.level_ratio
      return :met if estimate.high + noise_width <= target
      (estimate.low - noise_width > target) ? :missed : :not_shown
    end
  end

  class Verdict
    NO_PAIR = :no_pair

    EXPLAINED = <<~TEXT
      The noise is the far end of the A/A pair's interval. A target is **met** when the whole interval is within it even with the
      noise on top; **missed** when the whole interval lies beyond it even less the noise; all else is **not shown**, which is no success:
      the run then ends with status 3. So noise, or too few rounds, can't make a target met.
    TEXT

    class << self
      # @param verdicts [Array<Verdict>]
      # @yieldparam number [Numeric]
      # @yieldparam verdict [Verdict]
      # @yieldparam signed [Boolean] whether it is a measured figure, not the noise
      # @yieldreturn [String]
      # @return [String] Markdown
      def table(verdicts, &)
        rows = verdicts.map do |verdict|
          estimate = verdict.estimate
          [verdict.claim, figure(estimate&.value, verdict, unit: verdict.unit, &), estimate ? [estimate.low, estimate.high].map { |number| figure(number, verdict, &) }.join(" to ") : "-",
            figure(verdict.noise_width, verdict, unit: verdict.unit, signed: false, &), OUTCOMES.fetch(verdict.outcome)]
        end
        Markdown.table(["target", "measured", "interval", "noise", "outcome"], rows)
      end

      private

      def figure(number, verdict, unit: nil, signed: true) = number ? [yield(number, verdict, signed), unit].compact.join(" ") : "-"
    end
  end

  # A sample that is none.
  #
  # kind: "crashed", or "hung"; reason: in one line
  Failure = Data.define(:kind, :reason) do
    # @param output [String] of a child
    # @param status [Process::Status]
    # @return [Failure] how it ended and the first thing it said, without the folders of this machine
    def self.of_child(output, status)
      how = status.signaled? ? "killed by SIG#{Signal.signame(status.termsig)}" : "status #{status.exitstatus}"
      said = output.scrub.lines.map(&:strip).find { |line| !line.empty? }
      new(reason: [how, said&.gsub(%r{(?:/[^\s:/]+)+/}, "")&.slice(0, 100)].compact.join(", "))
    end

    def initialize(reason:, kind: "crashed") = super
  end
end
