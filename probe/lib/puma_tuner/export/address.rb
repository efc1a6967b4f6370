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

      # @param text [String]
      # @return [Address]
      # @raise [UsageError]
      def self.parse(text)
        case text
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

      # @return [String] the exporter's text
      # @raise [SystemCallError, IOError]
      def get
        require "socket"
        socket = (kind == "tcp") ? TCPSocket.new(host_or_path, port) : UNIXSocket.new(host_or_path)
        socket.timeout = self.class::GET_LIMIT_S
        socket.write("GET /metrics HTTP/1.1\r\n\r\n")
        # The whole response is split at once, as pieces of it would each be copied, with the GVL.
        head, text = socket.read.split("\r\n\r\n", 2)
        raise IOError, "it answered #{head.inspect}" unless head&.start_with?("HTTP/1.1 200 ")
        text.force_encoding(Encoding::UTF_8)
      ensure
        socket&.close
      end

      def to_s
        return "unix://#{host_or_path}" if kind == "unix"
        "tcp://#{host_or_path.include?(":") ? "[#{host_or_path}]" : host_or_path}:#{port}"
      end

      private

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
