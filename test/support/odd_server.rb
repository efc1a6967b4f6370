# frozen_string_literal: true

require "socket"

# A server that answers a request with whatever bytes a test wants.
module OddServer
  # @param bytes [String] of a response, whole or not
  # @param endless [String, nil] what comes after them again and again, until who asked has gone
  # @param rest_s [Numeric] between two of these
  # @yieldparam url [String]
  def answering(bytes, endless: nil, rest_s: 0)
    server = TCPServer.new("127.0.0.1", 0)
    serving = Thread.new { loop { answer(server.accept, bytes, endless, rest_s) } }
    yield "http://127.0.0.1:#{server.addr[1]}/x"
  ensure
    serving&.kill&.join
    server&.close
  end

  private

  # What is unread resets a connection as it is closed.
  def answer(client, bytes, endless, rest_s)
    client.gets("\r\n\r\n")
    client.write(bytes)
    loop { client.write(endless) && sleep(rest_s) } if endless
  rescue SystemCallError
    nil
  ensure
    client.close
  end
end
