# frozen_string_literal: true

require "zlib"

module PumaTuner
  module AccessLog
    # The lines of a log, one by one, once from its beginning to its end: of a file or a pipe, packed by gzip or not.
    # None is kept but the first ones, so a log of any length takes no more memory than these and its longest line.
    class Lines
      include Enumerable

      # A longer one is no request's, and is cut, as somebody may give a file that is no log at all.
      LINE_BYTES_MAX = 64 * 1024

      STANDARD_INPUT = "-"
      GZIP = "\x1F\x8B".b

      # @return [Integer, nil] of the file, packed if it is; nil of a pipe
      attr_reader :total_bytes

      # @return [Module] one of AccessLog's formats
      attr_reader :format

      # @return [Array<String>] those that say which format it is
      attr_reader :first_lines

      # @param path [String] or STANDARD_INPUT
      # @param format [String, nil] one of FORMATS; nil: by its first lines
      # @raise [UsageError]
      def initialize(path, format: nil)
        @path = path
        @io = (path == STANDARD_INPUT) ? $stdin : File.open(path, "rb")
        @io.binmode
        @total_bytes = @io.stat.size if @io.stat.file?
        @packed = peek(GZIP.bytesize) == GZIP
        @first_lines = Array.new(PROBED_LINES) { gets }.compact
        @format = format ? AccessLog.format(format) : AccessLog.guess(@first_lines, path)
      rescue SystemCallError => error
        raise UsageError, "cannot read #{path}: #{error.message}"
      end

      # @return [String] "combined"
      def format_name = @format.name[/\w+\z/].downcase

      # @yieldparam line [String] UTF-8
      # @raise [UsageError]
      def each(&)
        @first_lines.each(&)
        while (line = gets)
          yield line
        end
      ensure
        close
      end

      # @return [Integer, nil] bytes of the file that were read; nil of a pipe
      def done_bytes = (@io.pos if @total_bytes && !@io.closed?)

      # @return [void]
      def close
        @io.close unless @io.closed? || @io.equal?($stdin)
      end

      BYTE_ORDER_MARK = "\xEF\xBB\xBF".b
      private_constant :BYTE_ORDER_MARK

      private

      # @return [String, nil] nil after the last one
      def gets
        line = (@packed ? gets_unpacked : @io.gets("\n", LINE_BYTES_MAX)) or return
        line.force_encoding(Encoding::BINARY).delete_prefix!(BYTE_ORDER_MARK) unless @begun
        @begun = true
        line.force_encoding(Encoding::UTF_8).scrub("?")
      rescue SystemCallError, Zlib::Error => error
        raise UsageError, "cannot read #{@path}: #{error.message}"
      end

      def peek(size) = @io.read(size)&.tap { |bytes| @io.ungetbyte(bytes) }

      # Reads all members of a file: a load balancer's logs are many small ones, which people put together with cat.
      def gets_unpacked
        loop do
          @member ||= @io.eof? ? (return nil) : Zlib::GzipReader.new(@io)
          line = @member.gets("\n", LINE_BYTES_MAX)
          return line if line
          rest = @member.unused
          @member.finish
          @member = nil
          @io.ungetbyte(rest) if rest
        end
      end
    end
  end
end
