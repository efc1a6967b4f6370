# frozen_string_literal: true

require "fileutils"
require "tmpdir"

module PumaTuner
  module Host
    # Where files go that live as long as a server: into memory, where there is a place for that. A mapped file on a disk
    # would be written out again and again, and whoever touches a page that is being written waits.
    #
    # What is in memory must not stay there after a crash: each folder is locked by its maker for as long as that lives, and
    # whoever makes one removes those that nobody holds. (A lock, not a process id in the name: containers may share the place.)
    module ScratchFolder
      IN_MEMORY = "/dev/shm"
      PREFIX = "puma_tuner-run-"

      # A folder that has just been made is not locked yet.
      ABANDONED_AFTER_S = 60

      @locks = {}

      class << self
        # @return [String]
        def path = (File.directory?(IN_MEMORY) && File.writable?(IN_MEMORY)) ? IN_MEMORY : Dir.tmpdir

        # @return [String] a new folder; `remove` it
        def make
          remove_abandoned
          Dir.mktmpdir(PREFIX, path).tap { |folder| @locks[folder] = File.open(folder).tap { |lock| lock.flock(File::LOCK_EX) } }
        end

        # @param folder [String]
        def remove(folder)
          FileUtils.remove_entry(folder)
          @locks.delete(folder)&.close
        end

        # @yieldparam folder [String] gone afterwards
        def open
          folder = make
          yield folder
        ensure
          remove(folder) if folder
        end

        # @param abandoned_after_s [Numeric]
        def remove_abandoned(abandoned_after_s: ABANDONED_AFTER_S)
          Dir[File.join(path, "#{PREFIX}*")].each do |folder|
            FileUtils.rm_rf(folder) if Time.now - File.mtime(folder) >= abandoned_after_s && abandoned?(folder)
          rescue SystemCallError
            next # another user's, or removed by now
          end
        end

        private

        def abandoned?(folder) = File.open(folder) { |lock| lock.flock(File::LOCK_EX | File::LOCK_NB) }
      end
    end
  end
end
