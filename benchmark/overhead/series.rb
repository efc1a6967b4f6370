# frozen_string_literal: true

module Overhead
  # What one form of measuring gave: for each variant a number a round, or why there is none.
  class Series
    # @return [String]
    attr_reader :key, :title, :unit

    # @return [Array<Variant>]
    attr_reader :variants

    # @param key [String] for the judge
    # @param title [String] for people
    # @param unit [String] of the numbers, e.g. "ns"
    # @param variants [Array<Variant>]
    def initialize(key:, title:, unit:, variants:)
      @key = key
      @title = title
      @unit = unit
      @variants = variants
      @values = variants.to_h { |variant| [variant.key, {}] }
      @failures = Hash.new { |failures, variant_key| failures[variant_key] = [] }
    end

    # @param sample [Numeric, Failure]
    def add(round, variant, sample)
      sample.is_a?(Failure) ? @failures[variant.key] << sample.reason : @values.fetch(variant.key)[round] = sample
    end

    # @return [Array<Numeric>] what succeeded, in order of rounds
    def values(variant) = @values.fetch(variant.key, {}).sort.map(&:last)

    # @return [Array<String>] one reason for each failure
    def failures(variant) = @failures.fetch(variant.key, [])

    # @return [Float, nil]
    def median(variant) = PumaTuner::Stats::Quantile.of(values(variant).sort, 0.5)

    # @return [Numeric, nil] beyond the baseline's fastest; what disturbs a process only ever makes it slower
    def fastest_difference(variant)
      own, baseline = values(variant).min, values(Variant::NONE).min
      own - baseline if own && baseline
    end

    # @return [Hash{Integer => Numeric}] round => what the variant took beyond the baseline
    def differences(variant)
      baseline = @values.fetch(Variant::NONE.key)
      @values.fetch(variant.key, {}).filter_map { |round, value| [round, value - baseline[round]] if baseline[round] }.to_h
    end

    # @return [PumaTuner::Stats::Estimate, nil] beyond the baseline
    def difference(variant) = Difference.of(differences(variant).values)
  end

  # A sample that is none.
  Failure = Data.define(:reason) do
    # @param output [String] of a child
    # @param status [Process::Status]
    # @return [Failure] in one line: how it ended, and the first thing it said, without the folders of this machine
    def self.of_child(output, status)
      how = status.signaled? ? "killed by SIG#{Signal.signame(status.termsig)}" : "status #{status.exitstatus}"
      said = output.scrub.lines.map(&:strip).find { |line| !line.empty? }
      new(reason: [how, said&.gsub(%r{(?:/[^\s:/]+)+/}, "")&.slice(0, 100)].compact.join(", "))
    end
  end
end
