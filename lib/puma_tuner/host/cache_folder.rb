# frozen_string_literal: true

module PumaTuner
  module Host
    # The folder for what can be had again: gems of variants, labs and profilers, calibrated machines.
    # bin/support/environment.sh says the same to scripts, labs/support/gems.rb to a lab's children, which don't load
    # this library.
    module CacheFolder
      # @return [String] absolute: PUMA_TUNER_CACHE, or puma_tuner in the user's cache folder
      # @raise [UsageError] for a user without a home, and as `find` does
      def self.path
        find or raise UsageError, "there is no cache folder: none of PUMA_TUNER_CACHE, XDG_CACHE_HOME and HOME is set"
      end

      # @return [String, nil] the same; nil for a user without a home
      # @raise [UsageError] of "~name" in PUMA_TUNER_CACHE, a user who is not there
      def self.find
        given = ENV["PUMA_TUNER_CACHE"].to_s
        return UserPath.expand("PUMA_TUNER_CACHE=#{given}", given) unless given.empty?
        StateFile.user_folder("XDG_CACHE_HOME", ".cache")&.then { |base| File.join(base, "puma_tuner") }
      end

      # @return [String, nil] where the probe's extension is kept for apps on another Ruby, by what it is compiled from;
      #   nil for a user without a cache folder
      # @raise [UsageError] as `find` does
      def self.extensions
        folder = find or return
        require "digest"
        sources = Dir[File.join(Probe::Extension::SOURCES, "*.{c,h,rb}")].sort.map { |path| File.read(path) }
        File.join(folder, "extensions", Digest::SHA256.hexdigest(sources.join)[0, 16])
      end
    end
  end
end
