# frozen_string_literal: true

require "test_helper"
require "net/http"
require "socket"
require "zlib"

class ExportHttpServerTest < TunerTest
  Export = PumaTuner::Export

  # Counts how often it was asked for its text.
  class CountedServer
    attr_reader :asked_count

    def text
      @asked_count = asked_count.to_i + 1
      "puma_tuner_x 1\n"
    end
  end

  def setup
    listener = TCPServer.new("127.0.0.1", 0)
    @port = listener.addr[1]
    @server = CountedServer.new
    http = Export::HttpServer.new(listener, @server)
    @thread = Thread.new { loop { http.serve } }
    @listener = listener
  end

  def teardown
    @thread.kill.join
    @listener.close
  end

  def raw(text)
    TCPSocket.open("127.0.0.1", @port) do |socket|
      socket.write(text)
      socket.close_write
      socket.read
    end
  end

  test "it answers in the format that it names" do
    response = Net::HTTP.get_response(URI("http://127.0.0.1:#{@port}/metrics?x=1"))
    assert_equal ["200", "text/plain; version=0.0.4; charset=utf-8"], [response.code, response["content-type"]]
    assert_equal "puma_tuner_x 1\n", response.body
  end

  test "anything else is told what there is" do
    assert_equal "404", Net::HTTP.get_response(URI("http://127.0.0.1:#{@port}/")).code
    assert_match(%r{\AHTTP/1.1 405 }, raw("DELETE /metrics HTTP/1.1\r\n\r\n"))
    assert_match(/\AHTTP\/1\.1 400 /, raw("hello\r\n\r\n"))
    assert_raises(Errno::ECONNRESET, Errno::EPIPE) { 3.times { raw("GET /metrics HTTP/1.1\r\n#{"x" * 20_000}") } }
    assert_nil @server.asked_count
  end

  # @return [Array(String, String)] head and body of the response
  def scrape(more = "") = raw("GET /metrics HTTP/1.1\r\n#{more}\r\n").b.split("\r\n\r\n", 2)

  test "a long text is packed for who takes that, and for nobody else" do
    long = "puma_tuner_x{endpoint=\"GET /größe\"} 1\n" * 1_000
    @server.define_singleton_method(:text) { long }
    head, body = scrape("Accept-Encoding: deflate, gzip;q=0.9\r\n")
    assert_match(/^Content-Encoding: gzip\r$/, head)
    assert_match(/^Vary: Accept-Encoding\r$/, head)
    assert_equal body.bytesize, head[/^Content-Length: (\d+)/, 1].to_i
    assert_operator body.bytesize, :<, long.bytesize / 5
    assert_equal long, Zlib.gunzip(body).force_encoding(Encoding::UTF_8)
    ["", "Accept-Encoding: deflate\r\n", "Accept-Encoding: gzip;q=0, deflate\r\n", "X-Takes: gzip\r\n"].each do |more|
      head, body = scrape(more)
      refute_match(/Content-Encoding/, head, more)
      assert_match(/^Vary: Accept-Encoding\r$/, head, more)
      assert_equal long.b, body, more
    end
    long = "puma_tuner_x 2\n" * 1_000
    assert_equal long, Zlib.gunzip(scrape("accept-encoding:gzip\r\n").last), "it is not the text before"
  end

  test "a short text is not packed" do
    assert_equal "puma_tuner_x 1\n", scrape("Accept-Encoding: gzip\r\n").last
  end

  test "HEAD has the head of GET, and no body" do
    assert_match(/^Content-Length: 15\r\n.*\r\n\r\n\z/m, raw("HEAD /metrics HTTP/1.1\r\n\r\n"))
  end

  test "a client that sends nothing is dropped, and the next one is served" do
    silent = TCPSocket.new("127.0.0.1", @port)
    assert_equal "200", Net::HTTP.get_response(URI("http://127.0.0.1:#{@port}/metrics")).code
    assert_match(%r{\AHTTP/1\.1 400 }, silent.read, "the connection has been ended by the server")
  ensure
    silent&.close
  end

  test "what cannot be answered is told once, and does not harm the next response" do
    @server.define_singleton_method(:text) { raise "out of order" }
    _, errors = capture_io { 3.times { assert_empty raw("GET /metrics HTTP/1.1\r\n\r\n") } }
    assert_match(/\A.*exporter could not answer \(RuntimeError: out of order\).*\n\z/, errors)
    @server.singleton_class.remove_method(:text)
    assert_equal "200", Net::HTTP.get_response(URI("http://127.0.0.1:#{@port}/metrics")).code
  end

  test "the server's own processes get the text by the address" do
    address = Export::Address.parse("tcp://127.0.0.1:#{@port}")
    assert_equal "puma_tuner_x 1\n", address.get
    @server.define_singleton_method(:text) { raise "out of order" }
    capture_io { assert_raises(IOError) { address.get } }
  end

  test "scrapes in quick succession get the same text" do
    ledgers = Struct.new(:directory, :looks_count) { def read(&) = (self.looks_count += 1) && {} }.new(Dir.mktmpdir, 0)
    server = Export::Server.new(ledgers, leader_pid: Process.pid, labels: {service: "shop"}, endpoints_max: 9)
    texts = Array.new(50) { server.text }
    assert_equal 1, texts.uniq.size
    assert_equal 1, ledgers.looks_count
    assert_match(/^puma_tuner_exporter_resident_memory_bytes\{service="shop"\} \d{7,}$/, texts.first)
  ensure
    FileUtils.rm_rf(ledgers.directory)
  end

  test "labels are plain text in UTF-8, whatever they are given as" do
    safe = Class.new(String) { def to_s = self }
    given = ["Größe", "Größe".b, "Größe".dup.force_encoding(Encoding::US_ASCII), "Größe".encode(Encoding::ISO_8859_1), safe.new("Größe"), :Größe]
    told = given.map { |value| Export.utf8(value) }
    assert_equal [["Größe", String, true]], told.map { |text| [text, text.class, text.valid_encoding?] }.uniq
    assert_equal "a\uFFFD", Export.utf8("a\xFF")
  end

  test "labels that are ours, or no names, are a mistake" do
    [{endpoint: "x"}, {"le" => "x"}, {"a-b": "x"}, {"" => "x"}].each do |labels|
      assert_match(/can't be a label of the exporter's/, assert_raises(PumaTuner::UsageError) { PumaTuner.export(nil, labels:) }.message)
    end
  end
end
