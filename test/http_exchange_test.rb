# frozen_string_literal: true

require "test_helper"
require "support/odd_server"

class HttpExchangeTest < TunerTest
  kind :integration

  include OddServer

  HttpExchange = PumaTuner::HttpExchange

  # @return [Array(Net::HTTPResponse, String)] with what was yielded of the body
  def ask(url, **limits)
    body = +""
    uri = URI(url)
    response = HttpExchange.call(uri, Net::HTTP::Get.new(uri), part_limit_s: 5, whole_limit_s: 5, **limits) { |part| body << part }
    [response, body]
  end

  test "a body comes in parts, unpacked, to who wants it" do
    packed = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n".b + Zlib.gzip("fine")
    answering(packed) { |url| assert_equal ["200", "fine"], ask(url).then { |response, body| [response.code, body] } }
    elsewhere = "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
    answering(elsewhere) { |url| assert_equal "302", ask(url).first.code }
  end

  test "whatever a server says wrongly is one of the faults" do
    ["", "SSH-2.0-x\r\n", "HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\nx", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nnot packed",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "HTTP/1.1 200 OK\r\nno header\r\n\r\n", "HTTP/1.1 200 OK\r\nX-A: b\rc\r\n\r\n", "HTTP/1.1 2"].each do |bytes|
      answering(bytes) do |url|
        ask(url)
        flunk("#{bytes.inspect} was taken")
      rescue *HttpExchange::FAULTS => error
        refute_empty error.message
      end
    end
  end

  test "a body that is too large is not read to its end, packed or not, also where nobody keeps it" do
    answering("HTTP/1.1 200 OK\r\n\r\n", endless: "x" * 1_000) do |url|
      uri = URI(url)
      assert_raises(HttpExchange::TooLarge) do
        HttpExchange.call(uri, Net::HTTP::Get.new(uri), part_limit_s: 5, whole_limit_s: 30, most_bytes: 20_000)
      end
    end
    packed = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n".b + Zlib.gzip(" " * 1_000_000)
    answering(packed) { |url| assert_raises(HttpExchange::TooLarge) { ask(url, most_bytes: 2_000) } }
  end

  test "who sends a byte now and then, in the head or after it, is given up after the whole limit" do
    ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nX-A: ", ""].each do |head|
      answering(head, endless: "x", rest_s: 0.02) do |url|
        assert_instance_of Timeout::Error, assert_raises(Timeout::Error) { ask(url, whole_limit_s: 0.3) }
      end
    end
  end
end
