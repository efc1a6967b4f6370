# frozen_string_literal: true

module PumaTuner
  module Export
    # A metric with all its samples.
    #
    # type: "counter", "gauge" or "histogram"; help: one sentence
    # samples: {labels => number or Buckets}, labels {name => value} without those that every sample gets
    Family = Data.define(:name, :type, :help, :samples) do
      # @return [Boolean] whether there is anything to tell
      def any? = samples.any?
    end
  end
end
