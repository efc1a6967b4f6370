# frozen_string_literal: true

module PumaTuner
  module Probe
    # The folder that holds the ledgers of one server's processes, living and ended.
    #
    # Where no command has given one, it lies below PLACE/puma_tuner-UID, under the identity of the process that leads
    # the server. Both folders must be ours, with no right for anybody else, and no link; where one is not, that place
    # is not used. As containers may share the place, nothing is judged by a process id: who uses a folder holds a
    # shared lock on it, who writes a ledger locks that.
    class Ledgers
      # This folder is for files that live as long as a server. A mapped file on a disk would be written out again and
      # again, and whoever touches a page that is being written waits.
      IN_MEMORY = "/dev/shm"

      # The name of a server's folder, as Processes.identity makes it. No other folder is ever removed.
      NAME = /\A\d+-\d+-\d+\z/

      # A server of another container, which can't be seen from here, holds its folder again by then, restarted as a
      # new program.
      ABANDONED_AFTER_S = 60

      # No folder was found in which ledgers can be kept.
      class NoPlace < Error; end

      # @return [String]
      attr_reader :directory

      class << self
        # @param directory [String, nil] where the command that measures wants them; nil: a place of our own
        # @raise [NoPlace, SystemCallError]
        def of(directory:, leader_pid:) = directory ? of_run(directory) : of_server(leader_pid)

        # In a cluster only workers serve: what else records jobs is its master, or forked by the app.
        #
        # @param living [Hash{String => #facts}] ledgers of one server by path
        # @return [Hash{String => #facts}] those of the processes that serve
        def serving(living)
          workers = living.select { |_, ledger| ledger.facts["worker_index"] }
          workers.any? ? workers : living
        end

        # @param server_directory [String] a command's folder for one run of a server
        # @raise [SystemCallError]
        def of_run(server_directory)
          new(File.join(server_directory, "ledgers")).tap { |ledgers| make(ledgers.directory) }
        end

        # Returns the folder of the ledgers when no command has given one.
        # @param leader_pid [Integer]
        # @raise [NoPlace] with what is wrong with each place
        def of_server(leader_pid)
          wrong = places.map do |place|
            return in_place(place, leader_pid)
          rescue SystemCallError, NoPlace => error
            error.message
          end
          raise NoPlace, (wrong.empty? ? "there is no folder for temporary files" : wrong.join("; "))
        end

        # Without Dir.tmpdir: that is in a gem of Ruby's, and the process that leads a server loads none before the app
        # has chosen its version.
        #
        # @return [Array<String>] folders for what lives as long as a server, the best first
        def places
          temporary = [named, "/tmp"].compact.find { |path| usable?(path) && !open_to_all?(path) }
          [IN_MEMORY, temporary].compact.uniq.select { |path| usable?(path) }
        end

        private

        # An app may change its folder, so that processes would differ. A folder of a user who is not there ("~name"),
        # or seen from a folder that is gone, is none.
        def named
          ENV["TMPDIR"]&.then { |path| File.expand_path(path) }
        rescue ArgumentError, SystemCallError
          nil
        end

        def usable?(path) = File.directory?(path) && File.writable?(path)

        # Anybody could put another folder in the place of ours there.
        def open_to_all?(path) = File.world_writable?(path) && !File.sticky?(path)

        def in_place(place, leader_pid)
          base = File.join(place, "puma_tuner-#{Process.euid}")
          make(base)
          remove_abandoned(base)
          new(File.join(base, Processes.identity(leader_pid))).tap(&:use)
        end

        # @raise [NoPlace] when something is there that is not our folder, or not ours alone
        def make(path)
          Dir.mkdir(path, 0o700)
        rescue Errno::EEXIST
          stat = File.lstat(path)
          return if stat.directory? && stat.owned? && (stat.mode & 0o077).zero?
          raise NoPlace, "#{path} is not a folder that this user alone can write"
        end

        # Removes the folders of servers that have ended: those that nobody holds. Where all workers are being replaced,
        # nobody does for a moment, but their leader is there.
        def remove_abandoned(base)
          Dir.children(base).grep(NAME).each do |name|
            path = File.join(base, name)
            next if Processes.there?(name) || (of_other_container?(name) && young?(path))
            File.open(path, File::RDONLY | File::NOFOLLOW) do |folder|
              empty(path) if folder.flock(File::LOCK_EX | File::LOCK_NB)
            end
          rescue SystemCallError
            next # removed by somebody else meanwhile, or none of ours
          end
        end

        def of_other_container?(identity) = identity[/\d+\z/] != Processes.pid_namespace

        # As long as a server writes gauges, its folder is.
        def young?(path) = Time.now - File.lstat(path).mtime < ABANDONED_AFTER_S

        # Removes the folder's files; it never holds anything else.
        def empty(path)
          Dir.each_child(path) { |name| File.unlink(File.join(path, name)) }
          Dir.rmdir(path)
        end
      end

      # @param directory [String]
      def initialize(directory)
        @directory = directory
      end

      # Makes the folder, and holds it as long as this object, or a process forked from this one, lives. Until we have
      # the lock, another server that begins may take it for an abandoned one, and remove it.
      #
      # @raise [NoPlace, SystemCallError]
      def use
        loop do
          self.class.send(:make, @directory)
          @used = File.open(@directory, File::RDONLY | File::NOFOLLOW)
          @used.flock(File::LOCK_SH)
          return if File.identical?(@used, @directory)
        rescue Errno::ENOENT
          raise unless File.directory?(File.dirname(@directory))
        end
      end

      # @param extension [String] "ledger" or "json"
      # @return [String] of a new ledger for this process
      def new_path(extension)
        File.join(@directory,
          "#{Process.pid}-#{Process.clock_gettime(Process::CLOCK_REALTIME, :nanosecond)}.#{extension}")
      end

      # @yieldparam path [String]
      # @yieldreturn [Ledger, nil]; without a block it is read whole
      # @return [Hash{String => Ledger}] by path
      def read
        locked(File::LOCK_SH) do
          read = paths.to_h { |path| [path, reading(path) { |one| block_given? ? yield(one) : Ledger.read(one) }] }
          read.compact
        end
      end

      # Begins the samples of traces anew.
      def begin_window = paths.each { |path| Ledger.begin_window(path) }

      # Has each process record, for a short while, what its threads do when.
      def order_lanes = paths.each { |path| LaneReader.order(path) }

      # @return [Array<ProcessLanes>] of those that have, when all of it is there
      def lanes
        readers = LaneReader.of(paths)
        sleep(readers.map(&:left_ns).max.fdiv(Units::NS_PER_S)) if readers.any?
        LaneReader.read_all(paths)
      end

      # Processes that end leave their ledgers behind. Many would fill the memory of a server whose workers are replaced
      # every hour, so all but a few are added up into one file. Done by a process that begins, which waits for nobody:
      # a reader may hold the lock for long where it gets little of a core. Then the next one does it.
      #
      # @param most_bytes [Integer, nil] see Folding
      # @raise [SystemCallError]
      def fold_ended(most_bytes = nil) = locked(File::LOCK_EX | File::LOCK_NB) { Folding.new(self).call(most_bytes) }

      # @return [Array<String>]
      def paths = Dir[File.join(@directory, "*.{ledger,json}")].sort

      # @param path [String] of a ledger
      # @return [Boolean] whether nobody writes it any more. Who writes one of the extension's has it locked; of the
      #   other ones the process is asked for, by the id in its name.
      def ended?(path)
        return !Processes.alive?(File.basename(path).to_i) unless path.end_with?(".ledger")
        File.open(path) { |file| file.flock(File::LOCK_SH | File::LOCK_NB) } == 0
      rescue Errno::ENOENT
        true
      end

      private

      # One that another version of the probe has written, before the server was restarted in its place, can't be told.
      def reading(path)
        yield path
      rescue InvalidDocument
        nil
      end

      # While some ledgers become one, nobody may read both.
      def locked(mode) = LockedFile.open(File.join(@directory, "fold.lock"), mode) { yield }
    end
  end
end
