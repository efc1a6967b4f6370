# frozen_string_literal: true

require "fileutils"
require "tmpdir"

module PumaTuner
  module Host
    # Folders of a run, where the ledgers of servers are (Probe::Ledgers). What is in memory must not stay there after a
    # crash: each folder is locked by its maker for as long as that lives, and whoever makes one removes those that
    # nobody holds. (A lock, not a process id in the name: containers may share the place.)
    module ScratchFolder
      PREFIX = "puma_tuner-run-"

      # A folder that has just been made is not locked yet.
      ABANDONED_AFTER_S = 60

      @locks = {}

      class << self
        # @return [String]
        # @raise [UsageError]
        def path
          Probe::Ledgers.places.first ||
            raise(UsageError, "there is no writable folder for temporary files; set TMPDIR to one")
        end

        # @return [String] a new folder; `remove` it
        def make
          remove_abandoned
          Dir.mktmpdir(PREFIX, path).tap do |folder|
            @locks[folder] = File.open(folder).tap { |lock| lock.flock(File::LOCK_EX) }
          end
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
            stat = File.lstat(folder)
            if stat.directory? && stat.owned? && Time.now - stat.mtime >= abandoned_after_s && abandoned?(folder)
              FileUtils.remove_entry_secure(folder)
            end
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
