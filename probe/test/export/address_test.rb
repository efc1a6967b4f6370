# frozen_string_literal: true

require "test_helper"
require "socket"
require "tmpdir"

class ExportAddressTest < TunerTest
  Address = PumaTuner::Export::Address

  test "ports and paths are understood, and written as they were" do
    texts = ["tcp://127.0.0.1:9394", "tcp://[::1]:9394", "tcp://localhost:1", "unix:///run/my app/exporter.sock"]
    assert_equal texts, texts.map { |text| Address.parse(text).to_s }
    assert_equal ["::1", 9394], Address.parse("tcp://[::1]:9394").then { |address| [address.host_or_path, address.port] }
  end

  test "anything else is a mistake" do
    ["", "9394", "localhost:9394", "http://127.0.0.1:9394", "unix://relative", "tcp://127.0.0.1", "unix:///run/caf\xE9.sock", 9394, nil].each do |text|
      assert_match(/not an address; write/, assert_raises(PumaTuner::UsageError) { Address.parse(text) }.message, text)
    end
  end

  test "an address that is none leaves nothing behind, so that another one can be given" do
    assert_raises(PumaTuner::UsageError) { PumaTuner.export("localhost:9394") }
    assert_nil PumaTuner::Export.address
  end

  test "a socket is its owner's only, and one that a killed server left is replaced" do
    Dir.mktmpdir do |folder|
      address = Address.parse("unix://#{folder}/exporter.sock")
      mask = File.umask
      first = address.listen
      assert_equal 0o600, File.stat(address.host_or_path).mode & 0o777
      assert_equal mask, File.umask
      assert_raises(Errno::EADDRINUSE) { address.listen }
      first.close
      assert_path_exists address.host_or_path
      address.listen.close
    end
  end

  # @param response [String] what whoever listens there says before it hangs up
  # @return [Object] the block's
  def answered(response)
    TCPServer.open("127.0.0.1", 0) do |listener|
      thread = Thread.new do
        client = listener.accept
        client.gets("\r\n\r\n")
        client.write(response)
        client.close
      end
      yield Address.parse("tcp://127.0.0.1:#{listener.addr[1]}")
    ensure
      thread&.join(5)
    end
  end

  test "a text is had whole, however long it is" do
    text = "puma_tuner_x{endpoint=\"GET /größe\"} 1\n" * 100_000
    got = answered("HTTP/1.1 200 OK\r\nContent-Length: #{text.bytesize}\r\n\r\n#{text}", &:get)
    assert_equal [text.bytesize, Encoding::UTF_8, true], [got.bytesize, got.encoding, got == text]
    assert_empty answered("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", &:get)
  end

  test "beside threads that compute it is had whole, too, from an exporter that waits for nobody" do
    text = "puma_tuner_x 1\n" * 80_000
    Dir.mktmpdir do |folder|
      address = Address.parse("unix://#{folder}/exporter.sock")
      http = PumaTuner::Export::HttpServer.new(address.listen, Struct.new(:text).new(text))
      pid = fork { loop { http.serve } }
      busy = Array.new(2) { Thread.new { loop { 1 + 1 } } }
      assert_equal text.bytesize, address.get.bytesize
    ensure
      busy&.each(&:kill)
      Process.kill(:KILL, pid) && Process.wait(pid) if pid
    end
  end

  test "a text that no memory holds is not waited for" do
    [2**40, 2**62, 2**64, 10**30].each do |count|
      error = assert_raises(IOError) { answered("HTTP/1.1 200 OK\r\nContent-Length: #{count}\r\n\r\nx", &:get) }
      assert_match(/tells of #{count} bytes|no Content-Length/, error.message)
    end
  end

  test "a text that ends before its end is none, and neither is one of which nobody tells the length" do
    {"HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\npuma_tuner_x 1\npuma_tu" => /ended after 22 of 30 bytes/, "HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n" => /ended after 0 of 30 bytes/,
     "HTTP/1.1 200 OK\r\n\r\npuma_tuner_x 1\n" => /no Content-Length/, "HTTP/1.1 503 No\r\n\r\n" => /answered "HTTP/}.each do |response, message|
      assert_match message, assert_raises(IOError) { answered(response, &:get) }.message
    end
  end
end
