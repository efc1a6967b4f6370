# frozen_string_literal: true

require "test_helper"
require "net/http"
require "socket"

class ExportHttpServerTest < TunerTest
  Export = PumaTuner::Export

  # Families that count how often they were asked for.
  class CountedServer
    attr_reader :asked_count

    def families
      @asked_count = asked_count.to_i + 1
      [Export::Family.new(name: "puma_tuner_x", type: "gauge", help: "X.", samples: {{} => 1})]
    end

    def labels = {service: "shop"}

    def text(format) = format.call(families, labels)
  end

  def setup
    @port = TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
    @server = CountedServer.new
    @http = Export::HttpServer.new(Export::Address.parse("tcp://127.0.0.1:#{@port}"), Export::Text.method(:of), @server)
    @http.start
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
    assert_includes response.body, "puma_tuner_x{service=\"shop\"} 1\n"
  end

  test "anything else is told what there is" do
    assert_equal "404", Net::HTTP.get_response(URI("http://127.0.0.1:#{@port}/")).code
    assert_match(%r{\AHTTP/1.1 405 }, raw("DELETE /metrics HTTP/1.1\r\n\r\n"))
    assert_match(/\AHTTP\/1\.1 400 /, raw("hello\r\n\r\n"))
    assert_raises(Errno::ECONNRESET, Errno::EPIPE) { 3.times { raw("GET /metrics HTTP/1.1\r\n#{"x" * 20_000}") } }
    assert_nil @server.asked_count
  end

  test "HEAD has no body" do
    assert_match(/\r\n\r\n\z/, raw("HEAD /metrics HTTP/1.1\r\n\r\n"))
  end

  test "a client that sends nothing is dropped, and the next one is served" do
    silent = TCPSocket.new("127.0.0.1", @port)
    assert_equal "200", Net::HTTP.get_response(URI("http://127.0.0.1:#{@port}/metrics")).code
    assert_match(%r{\AHTTP/1\.1 400 }, silent.read, "the connection has been ended by the server")
  ensure
    silent&.close
  end

  test "what cannot be answered harms the next answer as little" do
    @server.define_singleton_method(:labels) { raise "out of order" }
    _, errors = capture_io { assert_empty raw("GET /metrics HTTP/1.1\r\n\r\n") }
    assert_match(/exporter could not answer \(RuntimeError: out of order\)/, errors)
    @server.singleton_class.remove_method(:labels)
    assert_equal "200", Net::HTTP.get_response(URI("http://127.0.0.1:#{@port}/metrics")).code
  end

  test "who asks again and again gets the text that is there" do
    ledgers = Struct.new(:directory) { def read(&) = {} }.new(Dir.mktmpdir)
    server = Export::Server.new(ledgers, leader_pid: Process.pid)
    made = 0
    format = ->(families, labels) { "#{made += 1} #{families.size} #{labels}" }
    texts = Array.new(50) { server.text(format) }
    assert_equal 1, texts.uniq.size
    assert_equal 1, made
  ensure
    FileUtils.rm_rf(ledgers.directory)
  end

  test "labels that are ours, or no names, are a mistake" do
    [{endpoint: "x"}, {"le" => "x"}, {"a-b": "x"}, {"" => "x"}].each do |labels|
      assert_match(/can't be a label of the exporter's/, assert_raises(PumaTuner::UserMistake) { PumaTuner.export(nil, labels:) }.message)
    end
  end
end
