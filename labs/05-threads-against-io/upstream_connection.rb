# frozen_string_literal: true

require "socket"

module Demo
  # A connection to upstream.rb.
  class UpstreamConnection
    # @param address [String] HOST:PORT
    def initialize(address)
      host, port = address.split(":")
      @socket = TCPSocket.new(host, Integer(port))
      @socket.setsockopt(:TCP, :NODELAY, true)
    end

    # @param milliseconds [Numeric]
    # @return [String]
    def wait(milliseconds)
      # Without letting go of the GVL, as database drivers do it. After IO#write the thread would have to get the GVL back
      # before it could begin to wait for an answer that is on its way already.
      @socket.write_nonblock("WAIT #{milliseconds}\n")
      @socket.gets&.chomp or raise EOFError, "the demo's upstream has gone"
    end
  end
end
