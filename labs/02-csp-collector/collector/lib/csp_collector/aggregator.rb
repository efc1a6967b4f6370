# frozen_string_literal: true

require_relative "source"
require_relative "store"
require_relative "violation"

module CspCollector
  # Reads lines and counts them into a store.
  class Aggregator
    # Of a stream that is no file: a transaction for what comes in this time, or for a chunk.
    BATCH_S = 1.0

    # A file may be renamed while the others are read, and is then found the next time round.
    PASSES_COUNT = 3

    # @param store [Store]
    # @param reader [LineReader]
    def initialize(store, reader)
      @store = store
      @reader = reader
      @stop = false
      @waiting_bytes = {}
    end

    # Ends `follow` and `stream` after what is there now. Safe in a signal handler.
    def stop = @stop = true

    # @return [Integer] of unfinished lines, which are left for the next time
    def waiting_bytes = @waiting_bytes.values.sum

    # Reads what is there.
    # @param source [Source]
    # @return [void]
    def catch_up(source)
      PASSES_COUNT.times do
        chunks_count = 0
        source.each_file do |file|
          signs = source.signs(file)
          chunks_count += read_file(file)
          source.finished(file, signs)
        end
        break if chunks_count.zero?
      end
    end

    # Reads on until it is stopped.
    # @param source [Source]
    # @param interval_s [Numeric] between two looks
    # @return [void]
    def follow(source, interval_s: 0.25)
      until @stop
        catch_up(source)
        sleep(interval_s) unless @stop
      end
      catch_up(source)
    end

    # Reads what can't be read again. What has been taken from it and not been counted when this process is killed is lost.
    # @param io [IO]
    # @return [void]
    def stream(io)
      pending = +""
      loop do
        ended = gather(io, pending)
        take(pending)
        break if ended
      end
      @waiting_bytes[io] = pending.bytesize
    end

    private

    # @return [Boolean] whether that was all
    def gather(io, pending)
      until_s = now_s + BATCH_S
      while now_s < until_s && pending.bytesize < Source::CHUNK_BYTES
        if io.wait_readable(0.1)
          pending << io.readpartial(65_536)
        elsif @stop
          return true
        end
      end
      false
    rescue EOFError
      true
    end

    def take(pending)
      if (last = pending.rindex("\n"))
        @store.commit(*count(pending.slice!(0..last)))
      elsif pending.bytesize >= Source::CHUNK_BYTES
        pending.clear # what comes of it yet is a bad line of its own
      end
    end

    # @return [Integer] chunks that were counted
    def read_file(file)
      size_bytes = file.size # no further, or a writer who is quicker than this would keep it forever
      chunks_count = 0
      while (position = @store.position(file))
        chunk = Source.read(file, position.offset_bytes, position.skipping)
        break if chunk.bytes.zero?
        @store.commit(*count(chunk.text || +"", chunk.skipped_count), at: position, chunk:)
        chunks_count += 1
        break if position.offset_bytes + chunk.bytes >= size_bytes
      end
      @waiting_bytes[file.stat.ino] = position ? file.size - position.offset_bytes - chunk.bytes : file.size
      chunks_count
    end

    # @return [Array(Hash, Store::Tally)]
    def count(text, skipped_count = 0)
      counts = {}
      lines_count = bad_count = skipped_count
      other_kinds_count = 0
      text.force_encoding(Encoding::UTF_8).each_line(chomp: true) do |line|
        next if line.empty? # how writers end what another has left torn
        lines_count += 1
        entry = @reader.read(line)
        entry.violation ? add(counts, entry) : other_kinds_count += 1
      rescue LineReader::Bad
        bad_count += 1
      end
      [counts, Store::Tally.new(lines_count:, bad_count:, other_kinds_count:)]
    end

    def add(counts, entry)
      numbers = counts[[@store.window_start_s(entry.seen_at_s), entry.violation]] ||= [0, entry.seen_at_s, entry.seen_at_s]
      numbers[0] += 1
      numbers[1] = entry.seen_at_s if entry.seen_at_s < numbers[1]
      numbers[2] = entry.seen_at_s if entry.seen_at_s > numbers[2]
    end

    def now_s = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end
end
