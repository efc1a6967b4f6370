# frozen_string_literal: true

require "tmpdir"

module PumaTuner
  module Host
    # Where files go that live as long as a server: into memory, where there is a place for that. A mapped file on a disk
    # would be written out again and again, and whoever touches a page that is being written waits.
    module ScratchFolder
      IN_MEMORY = "/dev/shm"

      # @return [String]
      def self.path = (File.directory?(IN_MEMORY) && File.writable?(IN_MEMORY)) ? IN_MEMORY : Dir.tmpdir
    end
  end
end
