# frozen_string_literal: true

module Accuracy
  # All samples, by condition, workload and tool. Pure.
  class Results
    # A part's errors over the rounds, in per cent of wall time.
    Spread = Data.define(:part, :values) do
      # @return [Float]
      def median = PumaTuner::Stats::Quantile.of(values.sort, 0.5)

      def min = values.min

      def max = values.max
    end

    def initialize
      @answers = Hash.new { |answers, key| answers[key] = [] }
    end

    # @param answer [Sample, Failure]
    def add(condition, workload, tool, answer) = @answers[[condition, workload, tool]] << answer

    # @return [Array<Sample>]
    def samples(condition, workload, tool) = answers(condition, workload, tool).grep(Sample)

    # @return [Array<Failure>]
    def failures(condition, workload, tool) = answers(condition, workload, tool).grep(Failure)

    # @return [Hash{Array(String, String, String) => Array<Failure>}] condition, workload and tool => failures, if any
    def all_failures = @answers.transform_values { |answers| answers.grep(Failure) }.reject { |_, failures| failures.empty? }

    # @return [Array<Spread>] of the parts that the tool tells, the worst first
    def spreads(condition, workload, tool)
      samples = samples(condition, workload, tool)
      parts = samples.flat_map { |sample| sample.reported.keys }.uniq
      found = parts.map { |part| Spread.new(part:, values: samples.filter_map { |sample| sample.error_percent(part) }) }
      found.sort_by { |spread| -spread.median.abs }
    end

    # @return [String, nil] of the tool, as it said in a child
    def version(tool) = @answers.filter_map { |(_, _, name), answers| answers.grep(Sample).first&.version if name == tool }.first

    private

    def answers(*key) = @answers.fetch(key, [])
  end
end
