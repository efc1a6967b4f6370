# frozen_string_literal: true

module PumaTuner
  # Files that are whole or not there, for whoever reads them while they are written anew, and when the writing is cut
  # short. Loaded at once: a signal's handler loads nothing.
  module AtomicFile
    NEW = File::WRONLY | File::CREAT | File::EXCL | File::NOFOLLOW
    private_constant :NEW

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

    def self.write_new(path, content, permissions)
      File.unlink(path) if File.symlink?(path) || File.exist?(path)
      # File::BINARY is 0 on Linux, and Rails sets Encoding.default_internal, into which a text file would be converted.
      File.open(path, NEW, binmode: true) do |file|
        file.chmod(permissions) if permissions
        file.write(content)
      end
    end
    private_class_method :write_new
  end
end
