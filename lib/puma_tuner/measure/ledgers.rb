# frozen_string_literal: true

require "fileutils"
require "json"

module PumaTuner
  module Measure
    # The folder that holds the ledgers of one server's processes, living and ended.
    class Ledgers
      # @return [String]
      attr_reader :directory

      # @param directory [String, nil] where the command that measures wants them; nil: a place of our own
      def self.of(directory:, leader_pid:) = directory ? of_run(directory) : of_server(leader_pid)

      # @param server_directory [String] a command's folder for one run of a server
      def self.of_run(server_directory) = new(File.join(server_directory, "ledgers")).tap(&:create)

      # Where the ledgers go when no command has given a folder: by the process that leads the server.
      # @param leader_pid [Integer]
      def self.of_server(leader_pid)
        base = File.join(Host::ScratchFolder.path, "puma_tuner-#{Process.uid}")
        FileUtils.mkdir_p(base, mode: 0o700)
        remove_abandoned(base)
        new(File.join(base, leader_pid.to_s)).tap(&:create)
      end

      # Removes the folders of servers that have ended. A leader's id may serve another process by now: then the folder
      # stays a while longer.
      def self.remove_abandoned(base)
        Dir.children(base).each do |name|
          FileUtils.rm_rf(File.join(base, name)) unless Host::Processes.alive?(name.to_i)
        end
      end
      private_class_method :remove_abandoned

      # @param directory [String]
      def initialize(directory)
        @directory = directory
      end

      def create = FileUtils.mkdir_p(@directory, mode: 0o700)

      # @param extension [String] "ledger" or "json"
      # @return [String] of a new ledger for this process
      def new_path(extension)
        File.join(@directory, "#{Process.pid}-#{Process.clock_gettime(Process::CLOCK_REALTIME, :nanosecond)}.#{extension}")
      end

      # @yieldparam path [String]
      # @yieldreturn [Ledger, nil]; without a block it is read whole
      # @return [Hash{String => Ledger}] by path
      def read
        locked(File::LOCK_SH) do
          paths.filter_map { |path| (block_given? ? yield(path) : Ledger.read(path))&.then { |ledger| [path, ledger] } }.to_h
        end
      end

      # Begins the samples of traces anew.
      def begin_window = paths.each { |path| Ledger.begin_window(path) }

      # Processes that end leave their ledgers behind. Many would fill the memory of a server whose workers are replaced
      # every hour, so all but a few are added up into one file. Done by a process that begins.
      def fold_ended = locked(File::LOCK_EX) { Folding.new(self).call }

      # @return [Array<String>]
      def paths = Dir[File.join(@directory, "*.{ledger,json}")].sort

      private

      # While some ledgers become one, nobody may read both.
      def locked(mode) = Host::LockedFile.open(File.join(@directory, "fold.lock"), mode) { yield }
    end
  end
end
