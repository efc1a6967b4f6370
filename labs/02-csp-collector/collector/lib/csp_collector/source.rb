# frozen_string_literal: true

require "digest"

module CspCollector
  # A file of lines, and what became of it by rotation: reports.jsonl, reports.jsonl.1, reports.jsonl-20260102 and the like.
  #
  # A file is known by how it begins, not by name or inode: its first line has a time in it. So a renamed file is
  # continued, and so is one that was copied before it was truncated; and an inode that the system uses again is not
  # mistaken for the file it was.
  class Source
    HEAD_BYTES = 4096

    # Shorter than any line of the collector: so little does not tell one file from another.
    LEAST_HEAD_BYTES = 48

    # The chunk that is read at once, and the longest line that is read at all. The collector's longest is some 400 kB.
    CHUNK_BYTES = 1 << 20

    COMPRESSED = /\.(?:gz|bz2|xz|zst|lz4|zip)\z/

    # text: whole lines, or nil when there are none yet; bytes: how far to go on; skipping: within a line that is too long;
    # skipped_count: of such lines that ended here; waiting_bytes: of an unfinished line
    Chunk = Data.define(:text, :bytes, :skipping, :skipped_count, :waiting_bytes)

    # @param path [String]
    # @param siblings [Boolean] also reads files that were rotated away
    def initialize(path, siblings: true)
      @path = path
      @siblings = siblings
      @finished = {}
    end

    # @yieldparam file [File] the oldest first; those that have not changed since they were found finished are left out
    # @return [void]
    def each_file
      (rotated + [@path]).each do |path|
        File.open(path, "rb") { |file| yield file unless @finished[key(file)] == signs(file) }
      rescue Errno::ENOENT
        nil # not there yet, or renamed: the next time it is found under its other name
      end
    end

    # @param file [File] of which everything there is has been read
    def finished(file, signs)
      @finished[key(file)] = signs
      @finished.shift if @finished.size > 1_000
    end

    # @return [Array] what changes when a file is written to; to be taken before it is read
    def signs(file) = file.stat.then { |stat| [stat.size, stat.mtime] }

    # @return [String] how the file begins
    def self.head(file) = file.size.zero? ? "" : file.pread(HEAD_BYTES, 0)

    # @return [String]
    def self.digest(text) = Digest::SHA256.hexdigest(text)

    # @param offset_bytes [Integer]
    # @param skipping [Boolean] the offset is within a line that is too long
    # @return [Chunk]
    def self.read(file, offset_bytes, skipping)
      bytes = (file.size > offset_bytes) ? file.pread(CHUNK_BYTES, offset_bytes) : ""
      return past_long_line(bytes) if skipping
      last = bytes.rindex("\n")
      return Chunk.new(text: bytes[0..last], bytes: last + 1, skipping: false, skipped_count: 0, waiting_bytes: bytes.bytesize - last - 1) if last
      too_long = bytes.bytesize == CHUNK_BYTES
      Chunk.new(text: nil, bytes: too_long ? CHUNK_BYTES : 0, skipping: too_long, skipped_count: 0, waiting_bytes: bytes.bytesize)
    rescue EOFError # truncated between two calls
      Chunk.new(text: nil, bytes: 0, skipping:, skipped_count: 0, waiting_bytes: 0)
    end

    def self.past_long_line(bytes)
      ended = bytes.index("\n")
      Chunk.new(text: nil, bytes: ended ? ended + 1 : bytes.bytesize, skipping: !ended, skipped_count: ended ? 1 : 0, waiting_bytes: 0)
    end
    private_class_method :past_long_line

    private

    def rotated
      return [] unless @siblings
      Dir.glob("#{File.basename(@path)}[.-]*", base: File.dirname(@path)).grep_v(COMPRESSED)
        .map { |name| File.join(File.dirname(@path), name) }
        .filter_map { |path| [modified(path), path] if modified(path) }.sort.map(&:last)
    end

    def modified(path)
      stat = File.stat(path)
      stat.mtime if stat.file?
    rescue SystemCallError
      nil
    end

    def key(file) = file.stat.then { |stat| [stat.dev, stat.ino] }
  end
end
