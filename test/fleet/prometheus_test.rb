# frozen_string_literal: true

require "test_helper"
require "zlib"
require_relative "fake_prometheus"

class FleetPrometheusTest < TunerTest
  kind :integration

  include PumaTuner::Fleet

  def ask(url: nil, timeout_s: 5, headers: [], &answer)
    FakePrometheus.open(answer || proc { {resultType: "vector", result: []} }) do |fake|
      @fake = fake
      prometheus = Prometheus.new(url || fake.url, timeout_s:, headers:)
      [prometheus.instant("up", 1_000), prometheus]
    end
  end

  def unanswered(**, &) = assert_raises(Unanswered) { ask(**, &) }.message

  test "a refused connection says to start Prometheus" do
    port = refusing_port
    assert_match(/cannot connect to http:\/\/127\.0\.0\.1:#{port} .*Start Prometheus/, unanswered(url: "http://127.0.0.1:#{port}"))
    assert_match(/cannot connect/, unanswered { nil })
  end

  test "a query that takes too long says how to shorten it" do
    message = unanswered(timeout_s: 0.3) { sleep(1) && nil }
    assert_match(/accepts connections, but did not answer within 0\.3 s.*rules\.yml/, message)
  end

  test "a server that is not Prometheus is named as such" do
    assert_match(/answered 502 and no JSON: that is no Prometheus' API/, unanswered { [502, "<html>Bad gateway</html>"] })
    assert_match(/answered 200 and no JSON/, unanswered { [200, "[1,"] })
    assert_match(/as Prometheus does: key not found: "data"/, unanswered { [200, '{"status":"success"}'] })
  end

  # Reads head and body: what is unread resets a connection as it is closed.
  def read_request(client)
    client.read(client.gets("\r\n\r\n")[/^content-length: (\d+)/i, 1].to_i)
  end

  # Answers one request with these bytes, whatever was asked.
  def answering(address, bytes)
    server = TCPServer.new(address, 0)
    thread = Thread.new do
      client = server.accept
      read_request(client)
      client.write(bytes)
      client.close
    end
    yield server.addr[1]
  ensure
    thread&.join(1)
    server&.close
  end

  # Answers one request with this part of a body again and again, until who asked has gone.
  #
  # @yieldparam url [String]
  def answering_without_end(part, rest_s: 0)
    server = TCPServer.new("127.0.0.1", 0)
    serving = Thread.new do
      client = server.accept
      read_request(client)
      client.write("HTTP/1.1 200 OK\r\n\r\n")
      loop { client.write(part) && sleep(rest_s) }
    rescue SystemCallError
      nil
    ensure
      client&.close
    end
    yield "http://127.0.0.1:#{server.addr[1]}"
  ensure
    serving&.kill&.join
    server&.close
  end

  test "a response that comes byte by byte, and has no end, is given up after ten time limits" do
    tries do
      answering_without_end(" ", rest_s: 0.02) do |url|
        assert_match(/accepts connections, but sent no whole response within 3\.0 s\. Shorten --window/, unanswered(timeout_s: 0.3, url:))
      end
    end
  end

  test "a response that is too large is refused while it comes, packed or not" do
    refused = ->(url) { assert_raises(Unanswered) { Prometheus.new(url, timeout_s: 5, most_bytes: 2_000).instant("up", 1_000) }.message }
    too_large = /sent more than 0 MiB for one query\. Shorten --window/
    answering_without_end("x" * 1_000) { |url| assert_match(too_large, refused.call(url)) }
    answering("127.0.0.1", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n".b + Zlib.gzip(" " * 1_000_000)) do |port|
      assert_match(too_large, refused.call("http://127.0.0.1:#{port}"))
    end
  end

  test "a packed response is read, and one that was cut short, or is not packed, is no bug of ours" do
    whole = Zlib.gzip('{"status":"success","data":{"result":[]}}')
    broken = /cannot connect to .* \(.+\)\. Start/
    {whole => nil, whole[0, 20] => broken, "x" * 20 => broken}.each do |body, message|
      answering("127.0.0.1", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n".b + body) do |port|
        url = "http://127.0.0.1:#{port}"
        message ? assert_match(message, unanswered(url:)) : assert_equal([], ask(url:).first)
      end
    end
  end

  test "a server that does not speak HTTP is named as such" do
    answering("127.0.0.1", "SSH-2.0-x\r\n") { |port| assert_match(/does not speak HTTP, so it is not Prometheus/, unanswered(url: "http://127.0.0.1:#{port}")) }
  end

  test "who is not let in, or sent elsewhere, is told what to give, and no secret of the other address" do
    {401 => "no org id", 403 => '{"message":"Forbidden"}'}.each do |status, body|
      assert_match(/does not let this request in \(status #{status}\)\. Give --header, such as "Authorization: Bearer TOKEN"/, unanswered { [status, body] })
    end
    answering("127.0.0.1", "HTTP/1.1 302 Found\r\nLocation: https://me:s3cret@sso.example/login?state=s3cret\r\nContent-Length: 0\r\n\r\n") do |port|
      message = unanswered(url: "http://127.0.0.1:#{port}")
      assert_match(%r{refers to "https://sso\.example/login" \(status 302\)\. Give that address with --url}, message)
      refute_includes message, "s3cret"
    end
  end

  test "a proxy that gave up a query, and another program's JSON, are told as what they are" do
    assert_match(/a proxy before .* gave up a query \(status 504\)\. Shorten --window/, unanswered { [504, "<html>Gateway Time-out</html>"] })
    assert_match(/did not answer as Prometheus does: key not found: "status".*--url/, unanswered { [404, '{"message":"Not found"}'] })
  end

  test "what a server behind a proxy says of its limit itself is told, in a line that ends" do
    own = lambda do |status, kind, error|
      unanswered { [status, JSON.generate({status: "error", errorType: kind, error:})] }
    end
    assert_match(/gave up a query after its own limit: expanding series: context deadline exceeded\. Shorten --window/, own.call(504, "timeout", "expanding series: context\ndeadline exceeded"))
    assert_match(/gave up a query after its own limit: upstream is gone\. Shorten/, own.call(504, "internal", "upstream is gone"))
    assert_match(/refused a query \(unavailable\): loading the WAL\z/, own.call(503, "unavailable", "loading\r\n\tthe WAL\n"))
    long = own.call(503, "internal", "\e[31mno\n" * 1_000)
    assert_match(/: ( \[31mno|\[31mno)+.*….*no\z/, long)
    assert_operator long.size, :<, 400
    # As VictoriaMetrics and Thanos write it: the query, and then what is wrong.
    query = "sum by (le) (increase(puma_tuner_request_duration_seconds_bucket[60s])) " * 10
    behind = own.call(422, "422", "error when executing query=\"#{query}\": the query needs too many samples")
    assert_match(/own limit: error when .*….*: the query needs too many samples\. Shorten --window/, behind)
    cut = own.call(422, "422", "too #{"x" * 160} too many samples #{"y" * 400}")
    assert_match(/own limit: too x+…y+\. Shorten --window/, cut)
  end

  test "an address of IPv6 is one" do
    answering("::1", "HTTP/1.1 502 X\r\nContent-Length: 0\r\n\r\n") { |port| assert_match(/answered 502/, unanswered(url: "http://[::1]:#{port}")) }
  rescue Errno::EADDRNOTAVAIL, Errno::EAFNOSUPPORT
    skip "this machine has no IPv6"
  end

  test "a query that is refused, or was too much" do
    assert_match(/refused a query \(bad_data\): parse error/, unanswered { [400, '{"status":"error","errorType":"bad_data","error":"parse error"}'] })
    assert_match(/own limit: query timed out.*Shorten --window/, unanswered { [503, '{"status":"error","errorType":"timeout","error":"query timed out"}'] })
    assert_match(/own limit: query processing would load too many samples/, unanswered { [422, '{"status":"error","errorType":"execution","error":"query processing would load too many samples into memory"}'] })
  end

  test "a header and a password are sent, and never printed" do
    _, prometheus = ask(headers: ["X-Scope-OrgID: team", "Authorization: Bearer a:b"])
    assert_equal ["team", "Bearer a:b"], @fake.requests.first.headers.values_at("x-scope-orgid", "authorization")
    url = prometheus.to_s.sub("//", "//me:s%40cret@")
    other = Prometheus.new(url)
    refute_includes other.to_s, "cret"
    assert_raises(PumaTuner::UsageError) { Prometheus.new("http://127.0.0.1", headers: ["A: b", "nonsense"]) }
  end

  test "of two headers with one name, a user in the address among them, none is left out without a word" do
    refused = ->(*headers, url: "http://127.0.0.1") { assert_raises(PumaTuner::UsageError) { Prometheus.new(url, headers:) }.message }
    assert_match(/--header: x-scope-orgid is given twice, .*: leave one out; several tenants are one value, "X-Scope-OrgID: web\|shop"\z/, refused.call("X-Scope-OrgID: web", "X-Scope-orgid: shop"))
    told = refused.call("Authorization: Bearer s3cret", url: "http://me:s3cret@127.0.0.1")
    assert_match(/authorization is given twice \(a user in --url is one, too\)/, told)
    refute_includes told, "s3cret"
  end

  test "values that are not numbers are left out" do
    series, = ask { {resultType: "vector", result: [{metric: {}, value: [1, "NaN"]}, {metric: {}, value: [1, "2.5"]}]} }
    assert_equal [{}, {1 => 2.5}], series.map(&:values)
  end

  test "an address that is none is a mistake" do
    ["localhost:9090", "ftp://x", "http://", "http://a b"].each { |url| assert_match(/--url/, assert_raises(PumaTuner::UsageError) { Prometheus.new(url) }.message, url) }
  end
end
