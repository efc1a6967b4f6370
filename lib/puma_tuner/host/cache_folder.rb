# frozen_string_literal: true

module PumaTuner
  module Host
    # The folder for what can be had again: gems of variants, labs and profilers, calibrated machines.
    # bin/support/environment.sh says the same to scripts, labs/support/gems.rb to a lab's children, which don't load
    # this library.
    module CacheFolder
      # @return [String] absolute: PUMA_TUNER_CACHE, or puma_tuner in the user's cache folder
      # @raise [UsageError] for a user without a home
      def self.path
        given = ENV["PUMA_TUNER_CACHE"].to_s
        return File.expand_path(given) unless given.empty?
        base = StateFile.user_folder("XDG_CACHE_HOME", ".cache") or
          raise UsageError, "there is no cache folder: none of PUMA_TUNER_CACHE, XDG_CACHE_HOME and HOME is set"
        File.join(base, "puma_tuner")
      end

      # @return [String, nil] where the probe's extension is kept for apps on another Ruby, by what it is compiled from;
      #   nil for a user without a cache folder
      def self.extensions
        require "digest"
        sources = Dir[File.join(Probe::Extension::SOURCES, "*.{c,h,rb}")].sort.map { |path| File.read(path) }
        File.join(path, "extensions", Digest::SHA256.hexdigest(sources.join)[0, 16])
      rescue UsageError
        nil
      end
    end
  end
end
