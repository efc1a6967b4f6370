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

      # With less of it, as in a container's /dev/shm that a browser has filled, one reply of a server after the other
      # finds no place and is waited for in vain: a recording took up to two minutes. An app of 20 endpoints in two
      # workers takes about so much.
      ROOM_MIB = 8

      @locks = {}

      class << self
        # @return [String] the best place
        # @raise [UsageError]
        def path = places.first

        # @return [String] a new folder; `remove` it
        def make
          remove_abandoned
          Dir.mktmpdir(PREFIX, place_with_room).tap do |folder|
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
          Dir[*places.map { |place| File.join(place, "#{PREFIX}*") }].each do |folder|
            stat = File.lstat(folder)
            if stat.directory? && stat.owned? && Time.now - stat.mtime >= abandoned_after_s && abandoned?(folder)
              FileUtils.remove_entry_secure(folder)
            end
          rescue SystemCallError
            next # another user's, or removed by now
          end
        end

        private

        def places
          Probe::Ledgers.places.tap do |found|
            raise UsageError, "there is no writable folder for temporary files; set TMPDIR to one" if found.empty?
          end
        end

        # @return [String] the best one, too, where none has room: there it is told what is missing
        def place_with_room
          best, *others = places
          return best if others.empty? || room?(best)
          place = others.find { |other| room?(other) } or return best
          # On a disk, pages of a mapped file are written out again and again, which whoever touches them waits for.
          @told_full ||= Kernel.warn("puma_tuner: #{best} has less than #{ROOM_MIB} MiB left, so files of a run go " \
            "to #{place}, which may make what is measured slower; a container gets more by --shm-size") || true
          place
        end

        # It is tried, as nothing in Ruby tells how much is left: in a file without a name, which nobody else removes,
        # and which stays in no memory where we are killed meanwhile.
        def room?(place)
          path = File.join(place, "puma_tuner-room-#{Process.pid}-#{Clock.now_ns}")
          File.open(path, "wbx") do |file|
            File.unlink(path)
            ROOM_MIB.times { file.write("\0" * (1 << 20)) }
          end
          true
        rescue SystemCallError
          false
        end

        def abandoned?(folder) = File.open(folder) { |lock| lock.flock(File::LOCK_EX | File::LOCK_NB) }
      end
    end
  end
end
