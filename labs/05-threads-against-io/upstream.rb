# frozen_string_literal: true

require "socket"
require_relative "companion"

module Demo
  # The slow process that the app waits for: answers the line "WAIT 12.5" after that many milliseconds.
  #
  # A thread per connection that sleeps: with 50 of them waiting at once, answers come some 0.2 ms late in the middle and
  # 0.7 ms at the 99th percentile, for 0.05 ms of CPU each (a shared virtual machine of two cores).
  class Upstream
    ROW = "#{"row " * 30}\n".freeze

    # @return [String] HOST:PORT
    attr_reader :address

    def initialize
      @listener = TCPServer.new("127.0.0.1", 0)
      @address = "127.0.0.1:#{@listener.addr[1]}"
    end

    # Never returns.
    def serve
      loop do
        socket = @listener.accept
        socket.setsockopt(:TCP, :NODELAY, true)
        Thread.new { answer(socket) }
      end
    end

    private

    def answer(socket)
      while (line = socket.gets)
        sleep line.delete_prefix("WAIT ").to_f / 1_000
        socket.write(ROW)
      end
    rescue Errno::ECONNRESET, Errno::EPIPE
      nil
    ensure
      socket.close
    end
  end
end

if $PROGRAM_NAME == __FILE__
  server_pid = Integer(ARGV.fetch(0))
  $PROGRAM_NAME = "demo upstream of #{server_pid}"
  upstream = Demo::Upstream.new
  Thread.new { upstream.serve }
  Demo::Companion.ready(upstream.address)
  Demo::Companion.stay_with(server_pid)
end
