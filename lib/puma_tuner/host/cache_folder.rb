# frozen_string_literal: true

module PumaTuner
  module Host
    # Where what can be had again is kept: gems of variants, labs and profilers. bin/support/environment.sh says the same to
    # scripts, labs/support/gems.rb to a lab's children, which don't load this library.
    module CacheFolder
      # @return [String] PUMA_TUNER_CACHE, or puma_tuner in the user's cache folder
      def self.path = ENV.fetch("PUMA_TUNER_CACHE") { File.join(ENV.fetch("XDG_CACHE_HOME") { File.join(Dir.home, ".cache") }, "puma_tuner") }
    end
  end
end
