# frozen_string_literal: true

require "socket"

# A little HTTP server in this process: a thread per connection, so that a slow answer keeps nobody else waiting, and
# what it notes of each is what the client must have seen.
class ScriptedServer
  Received = Struct.new(:http_method, :path, :headers, :body)
  Reply = Struct.new(:status, :headers, :body)

  # @return [Array<Integer>] nanoseconds from having read a request to having answered it
  attr_reader :latencies_ns

  # Runs the block with a server that lets `answer` reply to each request, and stops it.
  # @param answer [#call] gets Received and the request's number on its connection; returns a status, a Reply or, for a
  #   connection that ends with it, the bytes of a response
  def self.serve(answer)
    server = new(answer)
    yield server
  ensure
    server&.stop
  end

  def initialize(answer)
    @answer = answer
    @latencies_ns = []
    @lock = Mutex.new
    @listener = TCPServer.new("127.0.0.1", 0)
    @threads = [Thread.new { accept_all }]
  end

  def url = "http://127.0.0.1:#{@listener.addr[1]}"

  def stop
    @listener.close
    @threads.each(&:kill).each(&:join)
  end

  private

  def accept_all
    loop do
      socket = @listener.accept
      socket.setsockopt(:TCP, :NODELAY, true)
      @threads << Thread.new { serve(socket) }
    end
  rescue IOError
    nil
  end

  def serve(socket)
    number = 0
    while (received = receive(socket))
      began_ns = now_ns
      reply(socket, received, number)
      @lock.synchronize { @latencies_ns << now_ns - began_ns }
      number += 1
    end
  rescue Errno::ECONNRESET, Errno::EPIPE
    nil
  ensure
    socket.close
  end

  def receive(socket)
    http_method, path, = socket.gets&.split
    return unless http_method
    headers = {}
    until (line = socket.gets.chomp).empty?
      name, value = line.split(": ", 2)
      headers[name] = value
    end
    length = headers["Content-Length"]
    Received.new(http_method, path, headers, length && socket.read(length.to_i))
  end

  def reply(socket, received, number)
    answer = @answer.call(received, number)
    return socket.write(answer) && raise(Errno::EPIPE) if answer.is_a?(String)
    answer = Reply.new(answer, {}, "ok") unless answer.is_a?(Reply)
    lines = ["HTTP/1.1 #{answer.status} Status", "Content-Length: #{answer.body.bytesize}", *answer.headers.map { |pair| pair.join(": ") }]
    socket.write(lines.join("\r\n"), "\r\n\r\n", answer.body)
  end

  def now_ns = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
end
