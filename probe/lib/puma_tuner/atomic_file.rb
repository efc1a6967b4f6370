# frozen_string_literal: true

module PumaTuner
  # Files that are whole or not there, for whoever reads them while they are written anew, and when the writing is cut
  # short. Loaded at once: a signal's handler loads nothing.
  module AtomicFile
    NEW = File::WRONLY | File::CREAT | File::EXCL | File::NOFOLLOW
    PART_BYTES = 1 << 20
    private_constant :NEW, :PART_BYTES

    # The folder may be another user's, who may have put a link there, which would lead root anywhere.
    #
    # @param path [String]
    # @param content [String, nil] nil: the block writes it
    # @param permissions [Integer, nil] nil: those that new files have
    # @yieldparam partial [String] beside it, where to write
    # @return [void]
    # @raise [SystemCallError]
    def self.write(path, content = nil, permissions: nil)
      partial = "#{path}.#{Process.pid}.partial"
      content ? write_new(partial, content, permissions) : yield(partial)
      File.rename(partial, path)
      nil
    ensure
      File.unlink(partial) if File.exist?(partial)
    end

    # @param path [String]
    # @return [String] what stands there, in UTF-8, as all that we write. File.read would take it for text of the
    #   locale, US-ASCII where none is set, and convert it where there is an Encoding.default_internal.
    # @raise [SystemCallError]
    def self.read(path) = File.binread(path).force_encoding(Encoding::UTF_8)

    # As `read`, of what somebody else names: it may be a log of gigabytes, a device without end, or a pipe.
    #
    # @param path [String]
    # @param most_bytes [Integer]
    # @return [String, nil] nil where there is more; then no more than one byte too many was read, and of a file none
    # @raise [SystemCallError]
    def self.read_at_most(path, most_bytes)
      File.open(path, "rb") { |file| bytes_of(file, most_bytes) }&.force_encoding(Encoding::UTF_8)
    end

    # Asked for all at once, Ruby would make room for the most.
    def self.bytes_of(file, most_bytes)
      size = file.stat.file? ? file.size : 0
      return if size > most_bytes
      bytes = String.new(capacity: size)
      while (wanted = most_bytes + 1 - bytes.bytesize).positive?
        part = file.read([wanted, PART_BYTES].min, part) or return bytes
        bytes << part
      end
      nil
    end

    def self.write_new(path, content, permissions)
      File.unlink(path) if File.symlink?(path) || File.exist?(path)
      # File::BINARY is 0 on Linux, and Rails sets Encoding.default_internal, into which a text file would be converted.
      File.open(path, NEW, binmode: true) do |file|
        file.chmod(permissions) if permissions
        file.write(content)
      end
    end
    private_class_method :write_new, :bytes_of
  end
end
