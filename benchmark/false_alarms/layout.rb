# frozen_string_literal: true

module FalseAlarms
  # Which trial is whose. Both arrays hold log speeds, in the order in which they were measured.
  Layout = Data.define(:baseline, :variant) do
    # Two to a round, in the order that PumaTuner::Prove::Rounds gives them: shuffled, and each order followed by its reverse.
    #
    # @param log_speeds [Array<Float>] of trials after each other
    # @param effect [Float] log of how much faster the variant truly is
    def self.pairs(log_speeds, random, effect: 0.0)
      baseline_first = Array.new((log_speeds.size + 3) / 4) { random.rand < 0.5 }.flat_map { |first| [first, !first] }
      pairs = log_speeds.each_slice(2).zip(baseline_first).map { |pair, as_is| as_is ? pair : pair.reverse }
      baseline, variant = pairs.transpose
      new(baseline:, variant: variant.map { |log| log + effect })
    end

    # First all of the baseline, then all of the variant.
    def self.blocks(log_speeds, effect: 0.0)
      baseline, variant = log_speeds.each_slice(log_speeds.size / 2).to_a
      new(baseline:, variant: variant.map { |log| log + effect })
    end

    # @return [Layout] the rounds up to then
    def first(rounds_count) = with(baseline: baseline.first(rounds_count), variant: variant.first(rounds_count))

    # @return [Array<Float>] log-ratio of each round
    def differences = variant.zip(baseline).map { |one, other| one - other }
  end
end
