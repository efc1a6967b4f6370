# frozen_string_literal: true

module PumaTuner
  module Profile
    # From a profiler's file to Samples; in the command, one for each profiler.
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
    end
  end
end
