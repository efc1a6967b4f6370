# frozen_string_literal: true

require "test_helper"
require "open3"
require "socket"
require "tmpdir"

class DelayProxyTest < TunerTest
  time_limit 60

  SOURCE = File.expand_path("../../../labs/real_apps/delay_proxy.c", __dir__)
  DELAY_MS = 20

  # @yieldparam port [Integer] of the proxy
  # @yieldparam server [UNIXServer] behind it
  # @return [String] what the proxy said at its end
  def proxied(delay_ms: DELAY_MS)
    Dir.mktmpdir do |folder|
      program, socket = %w[delay_proxy socket].map { |name| File.join(folder, name) }
      output, status = Open3.capture2e("cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, SOURCE)
      assert_predicate status, :success?, output
      UNIXServer.open(socket) do |server|
        out, said = Array.new(2) { IO.pipe }
        pid = Process.spawn(program, socket, (delay_ms * 1_000).to_s, out: out.last, err: said.last)
        [out, said].each { |_, write| write.close }
        yield Integer(out.first.gets), server
        Process.kill(:TERM, pid)
        assert_predicate Process.wait2(pid).last, :success?
        pid = nil
        return said.first.read
      ensure
        Process.kill(:KILL, pid) && Process.wait(pid) if pid
        [out, said].flatten.each { |io| io.close unless io.closed? }
      end
    end
  end

  def now_ms = Process.clock_gettime(Process::CLOCK_MONOTONIC, :float_millisecond)

  # Ends when the other side does.
  def echoing(server) = Thread.new { server.accept.then { |io| IO.copy_stream(io, io) && io.close } }

  test "a round trip takes twice the delay at least, whatever else is under way" do
    said = proxied do |port, server|
      echo = Array.new(3) { echoing(server) }
      clients = Array.new(3) { TCPSocket.new("127.0.0.1", port) }
      took_ms = clients.map do |client|
        Thread.new do
          Array.new(5) do
            began = now_ms
            client.write("ping")
            assert_equal "ping", client.readpartial(4)
            now_ms - began
          end
        end
      end.flat_map(&:value)
      assert_operator took_ms.min, :>=, 2 * DELAY_MS
      clients.each(&:close)
      echo.each(&:join)
    end
    assert_match(/\Adelay_proxy: 30 pieces, 120 bytes; late by \d+\.\d{3} ms on average, \d+\.\d{3} ms at most; \d+\.\d\d s of CPU\n\z/, said)
  end

  test "what follows without a wait for the response is all under way at once" do
    messages = Array.new(20) { |number| "message %02d" % number }
    proxied do |port, server|
      echo = echoing(server)
      client = TCPSocket.new("127.0.0.1", port)
      client.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
      times_ms = [now_ms]
      messages.each { |message| client.write(message) && assert_equal(message, client.read(message.size)) }
      times_ms << now_ms
      messages.each { |message| client.write(message) && sleep(0.001) }
      assert_equal messages.join, client.read(messages.join.size)
      times_ms << now_ms
      waiting_ms, following_ms = times_ms.each_cons(2).map { |began, ended| ended - began }
      assert_operator following_ms, :<, waiting_ms / 2
      client.close
      echo.join
    end
  end

  test "megabytes arrive whole and in order, and an end of one direction leaves the other open" do
    bytes = Random.new(1).bytes(12 << 20)
    proxied(delay_ms: 1) do |port, server|
      answering = Thread.new do
        io = server.accept
        io.write(io.read) # to the end, and then as much back
        io.close
      end
      client = TCPSocket.new("127.0.0.1", port)
      sending = Thread.new { client.write(bytes) && client.close_write }
      assert_equal bytes, client.read
      [sending, answering].each(&:join)
      client.close
    end
  end

  test "a client that goes away is told to the server" do
    proxied do |port, server|
      client = TCPSocket.new("127.0.0.1", port)
      client.write("half")
      io = server.accept
      client.close
      assert_equal "half", io.read
      io.close
    end
  end
end
