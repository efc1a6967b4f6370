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

      # Takes no more than is needed, the oldest first: whoever adds 17 of 150 endpoints up serves two seconds later.
      #
      # Contract: the folder is locked. A ledger that can't be read, as of an earlier version that this server ran
      # before, is removed with the others: nobody can.
      #
      # @param most_bytes [Integer, nil] beyond which all are added up however few they are; nil: there is room
      # @raise [SystemCallError] and then they stay, some without traces and locks where the place was full
      def call(most_bytes = nil)
        remove(folded_names) # those that an end in the middle of this left behind
        ended = @ledgers.paths.select { |path| path != folded_path && @ledgers.ended?(path) }
        too_large = most_bytes && taken_bytes(ended) > most_bytes
        ended = oldest(ended, ended.size - ENDED_MAX) unless too_large
        return if ended.empty?
        readings = ended.filter_map { |path| reading(path) }
        names = ended.map { |path| File.basename(path) }
        return remove(names) if readings.empty?
        write(Written.document([*reading(folded_path), *readings]).merge(folded: names), ended)
        remove(names)
      end

      private

      # @return [Array<String>] so many of them, by when they were written last
      def oldest(paths, count) = paths.min_by([count, 0].max) { |path| File.mtime(path) }

      # Blocks that nobody has used take no memory, though they are part of the size.
      def taken_bytes(paths) = paths.sum { |path| File.stat(path).blocks * 512 }

      def folded_path = File.join(@ledgers.directory, "ended.json")

      # Names of ledgers alone: nothing else in the folder is removed, whatever has become of the file.
      def folded_names
        told = JSON.parse(AtomicFile.read(folded_path))
        told.is_a?(Hash) ? Array(told["folded"]).grep(/\A\d+-\d+\.(?:ledger|json)\z/) : []
      rescue Errno::ENOENT, JSON::ParserError, ArgumentError # of bytes that are no text
        []
      end

      # Whoever has them open still, as an exporter has until it is asked again, keeps their memory: so traces go first,
      # which are most of it.
      def remove(names)
        names.each do |name|
          path = File.join(@ledgers.directory, File.basename(name))
          drop_traces(path)
          File.unlink(path)
        rescue Errno::ENOENT
          next
        end
      end

      def reading(path)
        Ledger.read(path, traced: false)
      rescue InvalidDocument, JSON::ParserError, KeyError, TypeError
        nil
      end

      # Of no more ledgers than room is needed for: where others take the room meanwhile, what is dropped is lost.
      def write(document, ended)
        text = JSON.generate(document)
        ended = ended.dup
        begin
          AtomicFile.write(folded_path, text)
        rescue Errno::ENOSPC, Errno::EDQUOT
          path = ended.shift or raise
          drop_traces(path)
          retry
        end
      end

      # What stands behind the histograms reads as zeros then: no traces, locks or lanes.
      def drop_traces(path)
        from = Ledger::LAYOUT[:traces_offset]
        return if from.nil? || !path.end_with?(".ledger")
        File.open(path, File::RDWR | File::NOFOLLOW) do |file|
          bytes = file.size
          next if bytes < from
          file.truncate(from)
          file.truncate(bytes)
        end
      end
    end
  end
end
