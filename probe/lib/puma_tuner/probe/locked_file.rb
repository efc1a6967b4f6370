# frozen_string_literal: true

module PumaTuner
  module Probe
    # A file that processes of one server take turns at.
    module LockedFile
      # @param path [String] made where there is none
      # @param mode [Integer] File::LOCK_SH or LOCK_EX; with LOCK_NB it does not wait
      # @yieldparam file [File] open for reading and writing bytes, and locked
      # @return [Object] the block's; nil where another has the lock, and mode is not to wait for it
      # @raise [SystemCallError]
      def self.open(path, mode)
        File.open(path, File::RDWR | File::CREAT | File::NOFOLLOW, 0o600, binmode: true) do |file|
          yield file if file.flock(mode)
        ensure
          # Closing does not do it: a worker forked by another thread meanwhile
          # has the lock, too, and would wait for itself.
          file.flock(File::LOCK_UN)
        end
      end
    end
  end
end
