# frozen_string_literal: true

module PumaTuner
  module Export
    # A metric with all its samples.
    #
    # type: "counter", "gauge" or "histogram"; help: one sentence
    # samples: {labels => number or Buckets}, labels {name => value} without those that every sample gets
    Family = Data.define(:name, :type, :help, :samples) do
      # @param name [String] without what all of ours begin with
      # @param samples [Hash] of which those that nobody knows, nil, are left out
      # @return [Family]
      def self.of(name, type, help, samples) = new(name: "puma_tuner_#{name}", type:, help:, samples: samples.compact)

      # @return [Boolean] whether there is anything to tell
      def any? = samples.any?
    end
  end
end
