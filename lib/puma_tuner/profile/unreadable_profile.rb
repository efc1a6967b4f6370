# frozen_string_literal: true

module PumaTuner
  module Profile
    # A file that should hold a profiler's output does not.
    class UnreadableProfile < UsageError
      # @param path [String]
      # @param problem [String] why, as a clause
      def initialize(path, problem)
        super("#{path} can't be read as a profile: #{problem}. Record it again with `puma_tuner profile`.")
      end
    end
  end
end
