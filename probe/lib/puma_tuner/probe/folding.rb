# frozen_string_literal: true

require "json"

module PumaTuner
  module Probe
    # Adds the ledgers of processes that have ended up into one file, and removes them.
    class Folding
      # So many ledgers stay as they are, with their traces.
      ENDED_MAX = 16

      # @param ledgers [Ledgers]
      def initialize(ledgers)
        @ledgers = ledgers
      end

      # Contract: the folder is locked. A ledger that can't be read, as of an earlier version that this server ran
      # before, is removed with the others: nobody can.
      def call
        remove(folded_names) # those that an end in the middle of this left behind
        ended = @ledgers.paths.select { |path| path != folded_path && @ledgers.ended?(path) }
        return if ended.size <= ENDED_MAX
        readings = ended.filter_map { |path| reading(path) }
        return if readings.empty?
        names = ended.map { |path| File.basename(path) }
        write(Written.document([*reading(folded_path), *readings]).merge(folded: names))
        remove(names)
      end

      private

      def folded_path = File.join(@ledgers.directory, "ended.json")

      def folded_names
        JSON.parse(AtomicFile.read(folded_path)).fetch("folded", [])
      rescue Errno::ENOENT, JSON::ParserError
        []
      end

      def remove(names)
        names.each do |name|
          File.unlink(File.join(@ledgers.directory, File.basename(name)))
        rescue Errno::ENOENT
          next
        end
      end

      def reading(path)
        Ledger.read(path, traced: false)
      rescue InvalidDocument, JSON::ParserError, KeyError, TypeError
        nil
      end

      def write(document) = AtomicFile.write(folded_path, JSON.generate(document))
    end
  end
end
