# frozen_string_literal: true

module PumaTuner
  module Host
    # The folder for what can be had again: gems of variants, labs and profilers, calibrated machines.
    # bin/support/environment.sh says the same to scripts, labs/support/gems.rb to a lab's children, which don't load
    # this library.
    module CacheFolder
      # @return [String] PUMA_TUNER_CACHE, or puma_tuner in the user's cache folder, by the XDG base directory
      #   specification, where a path that is not absolute does not count
      # @raise [UsageError] for a user without a home
      def self.path = ENV.fetch("PUMA_TUNER_CACHE") { File.join(base, "puma_tuner") }

      # @return [String, nil] where the probe's extension is kept for apps on another Ruby, by what it is compiled from;
      #   nil for a user without a cache folder
      def self.extensions
        require "digest"
        sources = Dir[File.join(Probe::Extension::SOURCES, "*.{c,h,rb}")].sort.map { |path| File.read(path) }
        File.join(path, "extensions", Digest::SHA256.hexdigest(sources.join)[0, 16])
      rescue UsageError
        nil
      end

      def self.base
        given = ENV["XDG_CACHE_HOME"].to_s
        given.start_with?("/") ? given : File.join(Dir.home, ".cache")
      rescue ArgumentError
        raise UsageError, "there is no cache folder: none of PUMA_TUNER_CACHE, XDG_CACHE_HOME and HOME is set"
      end
      private_class_method :base
    end
  end
end
