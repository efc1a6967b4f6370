# frozen_string_literal: true

module Overhead
  # One of the things compared: a tool in one way of using it.
  #
  # key: its name here; tool: as in --tools, nil for the baselines; gem_name: nil without one
  # parts: where it takes part; threads: in forms with as many threads or more
  Variant = Data.define(:key, :tool, :label, :gem_name, :parts, :threads) do
    def initialize(key:, label:, tool: nil, gem_name: nil, parts: %w[cycle request], threads: 1) = super

    # @return [Boolean] whether it is the probe, or what is left of it
    def ours? = tool == "ours"

    # @return [String, nil] of the gem; nil when it is not in this bundle
    def version
      ours? ? PumaTuner::VERSION : Gem::Specification.find_all_by_name(gem_name).first&.version&.to_s
    end

    # @return [Boolean] whether it can be measured here
    def installed? = tool.nil? || !version.nil?

    # @return [String]
    def name = (gem_name || self == self.class::OURS) ? "#{label} #{version || "(not installed)"}" : label
  end

  class Variant
    NONE = new(key: "none", label: "none")
    # The A/A pair: what it differs by is noise.
    AGAIN = new(key: "again", label: "none, again")
    OURS = new(key: "ours", tool: "ours", label: "puma_tuner")

    ALL = [
      NONE, AGAIN, OURS,
      new(key: "lanes", tool: "ours", label: "and lanes recorded", parts: %w[cycle]),
      # What is left when parts of it do nothing: see Parts.
      new(key: "unnamed", tool: "ours", label: "endpoints not named", parts: %w[request]),
      new(key: "unrecorded", tool: "ours", label: "requests not recorded", parts: %w[request]),
      new(key: "no_blame", tool: "ours", label: "nobody blamed", parts: %w[cycle]),
      new(key: "no_steps", tool: "ours", label: "nor steps kept", parts: %w[cycle]),
      new(key: "hooks", tool: "ours", label: "hooks that do nothing", parts: %w[cycle]),
      new(key: "gvltools", tool: "gvltools", label: "gvltools", gem_name: "gvltools"),
      new(key: "gvl_timing", tool: "gvl_timing", label: "gvl_timing", gem_name: "gvl_timing"),
      # A timer for each thread that is at work, as its middleware does it.
      new(key: "gvl_timing_each", tool: "gvl_timing", label: "gvl_timing, a timer per thread,", gem_name: "gvl_timing",
        parts: %w[cycle], threads: 2),
      new(key: "rperf", tool: "rperf", label: "rperf", gem_name: "rperf", parts: %w[request]),
      new(key: "vernier", tool: "vernier", label: "vernier", gem_name: "vernier", parts: %w[request])
    ].freeze

    TOOLS = ALL.filter_map(&:tool).uniq.freeze

    # @param part [String] "cycle" or "request"
    # @param tools [Array<String>]
    # @return [Array<Variant>] the baselines and those tools that can be measured here
    def self.chosen(part, tools)
      wanted = ALL.select { |variant| variant.tool.nil? || tools.include?(variant.tool) }
      wanted.select { |variant| variant.parts.include?(part) && variant.installed? }
    end

    # @return [Array<String>] tools that were asked for and are not in this bundle
    def self.missing(tools) = ALL.reject(&:installed?).filter_map(&:tool).uniq & tools
  end

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

    # @param sample [Numeric, Bench::Failure]
    def add(round, variant, sample)
      sample.is_a?(Bench::Failure) ? @failures[variant.key] << sample.reason : @values.fetch(variant.key)[round] = sample
    end

    # @return [Array<Numeric>] what succeeded, in order of rounds
    def values(variant) = @values.fetch(variant.key, {}).sort.map(&:last)

    # @return [Array<String>] one reason for each failure
    def failures(variant) = @failures.fetch(variant.key, [])

    # @return [Float, nil]
    def median(variant) = Bench.median(values(variant))

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
    def difference(variant) = Bench::Difference.of(differences(variant).values)
  end
end
