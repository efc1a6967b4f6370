# frozen_string_literal: true

module PumaTuner
  module Profile
    # From a profiler's file to Samples, one for each profiler, and called as that is.
    module Readers
      autoload :Gecko, "puma_tuner/profile/readers/gecko"
      autoload :MemoryProfiler, "puma_tuner/profile/readers/memory_profiler"
      autoload :Perf, "puma_tuner/profile/readers/perf"
      autoload :Pf2, "puma_tuner/profile/readers/pf2"
      autoload :Reader, "puma_tuner/profile/readers/reader"
      autoload :Rperf, "puma_tuner/profile/readers/rperf"
      autoload :RubyProf, "puma_tuner/profile/readers/ruby_prof"
      autoload :Stackprof, "puma_tuner/profile/readers/stackprof"
      autoload :Vernier, "puma_tuner/profile/readers/vernier"

      # What a profiler's file says.
      #
      # @param profiler [Class] of Profile.profilers
      # @param path [String]
      # @param mode [String, nil] in which it must have been recorded; nil: any
      # @return [Samples]
      # @raise [UnreadableProfile] for a file that is none, cut short, or of a version that is not known
      def self.read(profiler, path, mode: nil)
        profiler.known_mode(mode)
        return profiler.read(path, mode:) if profiler::OUTSIDE
        const_get(Probe::Profilers::ALL.fetch(profiler::NAME)).new(profiler, path, mode).samples
      end
    end
  end
end
