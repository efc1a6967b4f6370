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

    # Turns a profiler's file into Samples. There is one reader for each profiler, of the same name.
    module Readers
      PumaTuner.autoload_folder(self, "#{__dir__}/readers")

      # Reads what a profiler's file says.
      #
      # @param profiler [Class] of Profile.profilers
      # @param path [String]
      # @param mode [String, nil] in which it must have been recorded; nil: any
      # @return [Samples]
      # @raise [UnreadableProfile] for a file that is none, cut short, or of a version that is not known
      def self.read(profiler, path, mode: nil)
        profiler.known_mode(mode)
        return profiler.read(path, mode:) if profiler::OUTSIDE
        const_get(profiler.name[/\w+\z/]).new(profiler, path, mode).samples
      end
    end
  end
end
