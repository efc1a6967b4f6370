# frozen_string_literal: true

module PumaTuner
  module Export
    # The address at which the exporter listens, or the page of `puma_tuner top`: "tcp://127.0.0.1:9394", or
    # "unix:///run/my_app/puma_tuner.sock", which only its owner can open. A host that is not the loopback is the choice
    # of whoever writes it.
    #
    # kind: "tcp" or "unix"; port: nil of a path
    Address = Data.define(:kind, :host_or_path, :port) do
      const_set(:GET_LIMIT_S, 10)
      # Somebody else may listen there.
      const_set(:TEXT_BYTES_MAX, 256 * Units::MIB)

      # @param text [String]
      # @return [Address]
      # @raise [UsageError]
      def self.parse(text)
        case (text if text.is_a?(String) && text.valid_encoding?) # in broken text Ruby looks for no pattern
        when %r{\Atcp://(\[[\h:]+\]|[^:/]+):(\d{1,5})\z} then new(kind: "tcp", host_or_path: $1.delete("[]"),
          port: Integer($2, 10))
        when %r{\Aunix://(/.+)\z} then new(kind: "unix", host_or_path: $1, port: nil)
        else raise UsageError, "#{text.inspect} is not an address; write tcp://127.0.0.1:9394 or " \
          "unix:///path/of/socket"
        end
      end

      # @return [TCPServer, UNIXServer]
      def listen
        require "socket"
        return TCPServer.new(host_or_path, port) if kind == "tcp"
        File.unlink(host_or_path) if abandoned?
        # Between bind and chmod it must not be open to others either.
        mask = File.umask(0o177)
        begin
          UNIXServer.new(host_or_path)
        ensure
          File.umask(mask)
        end
      end

      # @return [String] the exporter's text, whole: Prometheus rejects all of a text that ends amid a line
      # @raise [SystemCallError, IOError]
      def get
        require "socket"
        socket = (kind == "tcp") ? TCPSocket.new(host_or_path, port) : UNIXSocket.new(host_or_path)
        socket.timeout = self.class::GET_LIMIT_S
        socket.write("GET /metrics HTTP/1.1\r\n\r\n")
        text = head(socket)
        place = text.index("\r\n\r\n")
        raise IOError, "it answered #{text.inspect}" unless place && text.start_with?("HTTP/1.1 200 ")
        head = text.slice!(0, place + 4)
        rest(socket, text, head[/^Content-Length: (\d{1,20})\r$/, 1]&.to_i).force_encoding(Encoding::UTF_8)
      ensure
        socket&.close
      end

      def to_s
        return "unix://#{host_or_path}" if kind == "unix"
        "tcp://#{host_or_path.include?(":") ? "[#{host_or_path}]" : host_or_path}:#{port}"
      end

      private

      # This does without `gets`, which fills the socket's buffer: while that holds anything, Ruby reads by its size.
      # @return [String] the head, and what came with it
      def head(socket)
        text = socket.readpartial(HttpSocket::HEAD_BYTES_MAX).b
        until text.include?("\r\n\r\n") || text.bytesize > HttpSocket::HEAD_BYTES_MAX
          text << socket.readpartial(HttpSocket::HEAD_BYTES_MAX)
        end
        text
      end

      # A read of a known length takes all that there is. Without one, Ruby reads pieces of 8 KiB, and gives up the GVL
      # at each: beside five threads that compute, it waits half a second for it. 1.1 MB take 5 s there, and took longer
      # than the exporter waits.
      def rest(socket, text, bytes_count)
        raise IOError, "it tells no Content-Length" unless bytes_count
        raise IOError, "it tells of #{bytes_count} bytes" if bytes_count > self.class::TEXT_BYTES_MAX
        text << socket.read(bytes_count - text.bytesize).to_s if text.bytesize < bytes_count
        return text if text.bytesize == bytes_count
        raise IOError, "it ended after #{text.bytesize} of #{bytes_count} bytes"
      end

      # A socket that nobody listens at any more was left by a server that was killed.
      def abandoned?
        return false unless File.socket?(host_or_path)
        UNIXSocket.new(host_or_path).close
        false
      rescue Errno::ECONNREFUSED
        true
      end
    end
  end
end
