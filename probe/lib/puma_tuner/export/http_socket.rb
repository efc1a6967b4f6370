# frozen_string_literal: true

module PumaTuner
  module Export
    # Reads from and writes to whoever has connected by HTTP, each within a time limit.
    module HttpSocket
      HEAD_BYTES_MAX = 8_192

      # Who reads byte by byte keeps others waiting for so many time limits at most.
      WHOLE_LIMITS = 15

      module_function

      # @param client [BasicSocket]
      # @param limit_s [Numeric]
      # @return [String, nil] the head of a request, in bytes; nil when no whole one came in time
      # @raise [SystemCallError, IOError] when the client has gone
      def head(client, limit_s)
        deadline_s = Clock.now_s + limit_s
        text = +"".b
        until text.include?("\r\n\r\n")
          left_s = deadline_s - Clock.now_s
          return if left_s <= 0 || text.bytesize > HEAD_BYTES_MAX || !client.wait_readable(left_s)
          part = client.read_nonblock(HEAD_BYTES_MAX, exception: false)
          return if part.nil?
          text << part if part.is_a?(String)
        end
        text
      end

      # The time limit counts from what was last taken: the reader may be a thread of a busy app, which has to wait for
      # its GVL again and again.
      #
      # @param client [BasicSocket]
      # @param bytes [String]
      # @param limit_s [Numeric] for which a client may take nothing
      # @return [Boolean] false of a client that did not read them in time
      # @raise [SystemCallError, IOError] when the client has gone
      def write(client, bytes, limit_s)
        ends_s = Clock.now_s + WHOLE_LIMITS * limit_s
        until bytes.empty?
          written = client.write_nonblock(bytes, exception: false)
          next bytes = bytes.byteslice(written..) if written.is_a?(Integer)
          left_s = [limit_s, ends_s - Clock.now_s].min
          return false if left_s <= 0 || !client.wait_writable(left_s)
        end
        true
      end
    end
  end
end
