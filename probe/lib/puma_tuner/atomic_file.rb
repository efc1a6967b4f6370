# frozen_string_literal: true

module PumaTuner
  # Files that are whole or not there, for whoever reads them while they are written anew, and when the writing is cut
  # short. Loaded at once: a signal's handler loads nothing.
  module AtomicFile
    # @param path [String]
    # @param content [String, nil] nil: the block writes it
    # @yieldparam partial [String] beside it, where to write
    # @return [void]
    # @raise [SystemCallError]
    def self.write(path, content = nil)
      partial = "#{path}.#{Process.pid}.partial"
      content ? File.binwrite(partial, content) : yield(partial)
      File.rename(partial, path)
      nil
    ensure
      File.unlink(partial) if File.exist?(partial)
    end
  end
end
