# frozen_string_literal: true

module PumaTuner
  # What a running server's code costs, by the well-kept profilers that there are.
  #
  # Who profiles: profilers, one file each, found in library; what they have in common is a profiler. Each starts and stops
  # inside the server; perf alone watches from outside. What they leave: a file of their own, that readers turn into samples.
  module Profile
    autoload :Allocation, "puma_tuner/profile/samples"
    autoload :Call, "puma_tuner/profile/samples"
    autoload :Frame, "puma_tuner/profile/samples"
    autoload :Library, "puma_tuner/profile/library"
    autoload :PlainMarshal, "puma_tuner/profile/plain_marshal"
    autoload :Profiler, "puma_tuner/profile/profiler"
    autoload :Profilers, "puma_tuner/profile/profilers"
    autoload :Readers, "puma_tuner/profile/readers"
    autoload :Samples, "puma_tuner/profile/samples"
    autoload :Stack, "puma_tuner/profile/samples"
    autoload :UnreadableProfile, "puma_tuner/profile/unreadable_profile"
  end
end
