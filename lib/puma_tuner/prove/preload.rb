# frozen_string_literal: true

module PumaTuner
  module Prove
    # A library to be loaded before all others. The loader only warns when it is
    # not there, and the server runs without it.
    module Preload
      FOLDERS = ["/usr/lib/*-linux-*", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/opt/homebrew/lib"].freeze

      # @param name [String] "libjemalloc.so.2", or a path
      # @return [String] a path
      # @raise [UsageError]
      def self.find(name)
        candidates = if name.include?("/")
          [File.expand_path(name)]
        else
          FOLDERS.flat_map { |folder| Dir[File.join(folder, name)] }
        end
        candidates.find { |path| File.file?(path) } or
          raise UsageError, "preload=#{name}: there is no such library. " \
            "On Debian: sudo apt-get install libjemalloc2 (libjemalloc.so.2), " \
            "libtcmalloc-minimal4, libmimalloc2.0; or give a path."
      end
    end
  end
end
