# frozen_string_literal: true

require "test_helper"
require "json"
require "tmpdir"
require "zlib"

class CompareLogTest < TunerTest
  include PumaTuner

  ALB = 'https 2026-10-10T13:55:36.123456Z app/lb/50dc 192.0.2.1:2817 10.0.0.1:80 0.001 0.020 0.002 200 200 34 366 "GET https://www.example.com:443/articles/42?q=a HTTP/2.0" "curl/8.5" ECDHE TLSv1.2 arn "Root=1" "www.example.com"'
  COMBINED = '192.0.2.1 - - [10/Oct/2026:13:55:36 +0000] "GET /articles/42 HTTP/1.1" 200 2326 "-" "curl/8.5"'
  LOGRAGE = "I, [2026-10-10T13:55:36.123456 #17]  INFO -- : [9d6b] method=GET path=/articles/42 format=html controller=ArticlesController action=show status=200 duration=12.34 view=5.60 db=1.20"

  # @return [Array<Integer, nil>] milliseconds of the app's time and of the client's
  def times(format, line) = AccessLog.format(format).timer.call(line).then { |entry| [entry.app_ns, entry.client_ns].map { |ns| ns&.fdiv(Units::NS_PER_MS) } }

  test "a load balancer tells the target's time, and all three of them" do
    assert_equal [20.0, 23.0], times("alb", ALB)
    assert_equal [nil, nil], times("alb", ALB.sub("0.001 0.020 0.002", "-1 -1 -1"))
  end

  test "nginx' times are found by their names, or as what looks like them behind the size" do
    {
      "" => [nil, nil], " 0.031" => [nil, 31.0], " 0.031 0.029" => [29.0, 31.0], " 0.029 0.031" => [29.0, 31.0], ' "0.031" "0.029"' => [29.0, 31.0],
      " rt=0.031 uct=\"0.001\" uht=\"0.028\" urt=\"0.029\"" => [29.0, 31.0], ' request_time=0.031 upstream_response_time="0.010, 0.019"' => [29.0, 31.0],
      " 0.031 0.010, 0.019 ." => [29.0, 31.0], " 0.031 - 10.0.0.1:80" => [nil, 31.0], " urt=-" => [nil, nil],
      # ingress-nginx
      " 412 0.031 [shop-web-80] [] 10.1.2.3:3000 5120 0.029 200 1b2c" => [29.0, 31.0],
      # Rack::CommonLogger
      " 0.0312" => [nil, 31.2]
    }.each { |rest, expected| assert_equal expected, times("combined", "#{COMBINED}#{rest}"), rest }
  end

  test "an instant in seconds is no time, wherever it stands" do
    {
      " 1791640536.123" => [nil, nil], " 1791640536.123 0.250 0.240" => [240.0, 250.0], " 0.250 1791640536.123" => [nil, 250.0],
      " msec=1791640536.123 rt=0.250 urt=0.240" => [240.0, 250.0], ' "1791640536.123" "0.250" "86399.999"' => [250.0, 86_399_999.0]
    }.each { |rest, expected| assert_equal expected, times("combined", "#{COMBINED}#{rest}"), rest }
  end

  test "Apache's microseconds are the last whole number behind the size, for whoever names that format" do
    {
      "" => nil, " 31000" => 31.0, ' "31000"' => 31.0, " D=31000" => 31.0, " **0/31000**" => 31.0, " 512 2911 31000us" => 31.0, ' 31000 "9d6b-1234"' => 31.0,
      " 0.031" => nil, " 10.0.0.1:80" => nil
    }.each { |rest, client_ms| assert_equal [nil, client_ms], times("apache", "#{COMBINED}#{rest}"), rest }
    assert_equal [nil, 31.0], times("apache", "#{COMBINED.sub(' "-" "curl/8.5"', "")} 31000\n"), "of the common format"
    assert_equal [nil, nil], times("apache", COMBINED.sub(' "-" "curl/8.5"', ""))
    assert_equal 0, AccessLog::Apache.entry("#{COMBINED} 31000").lead_ns, "its instant is the request's"
    with_log(["#{COMBINED} 31000"]) do |path|
      assert_equal %w[client], Compare::Log.new(path, format: "apache").seen_from
      assert_match(/Apache's %D.*--log-format apache/, assert_raises(UsageError) { Compare::Log.new(path).seen_from }.message)
    end
  end

  test "what a client calls itself is no time" do
    assert_equal [nil, nil], times("combined", COMBINED.sub("curl/8.5", "0.001"))
    assert_equal [nil, 31.0], times("combined", "#{COMBINED.sub("curl/8.5", 'a \" rt=9.999 0.500')} 0.031")
  end

  test "lograge tells it in one line, as words or as JSON, with an instant of whoever has one" do
    assert_equal [12.34, nil], times("lograge", LOGRAGE)
    json = '{"method":"GET","path":"/articles/42","format":"html","status":200,"duration":12.34,"@timestamp":"2026-10-10T13:55:36.123Z"}'
    assert_equal [12.34, nil], times("lograge", json)
    assert_equal AccessLog::Lograge.entry(LOGRAGE).at_ns / Units::NS_PER_MS, AccessLog::Lograge.entry(json).at_ns / Units::NS_PER_MS
    assert_equal AccessLog::Lograge.entry(json).at_ns, AccessLog::Lograge.entry(json.sub("13:55:36.123Z", "15:55:36.123+02:00")).at_ns
    assert_nil AccessLog::Lograge.entry(LOGRAGE[/method.*/]), "nobody knows when"
    assert_nil AccessLog::Lograge.entry('{"method":"GET" broken "duration":1}')
  end

  test "lograge's words are known with the allocations that newer versions write, and where a request failed" do
    entry = ->(between) { AccessLog::Lograge.entry(LOGRAGE.sub("status=200 duration=12.34", between)) }
    {
      "status=200 allocations=1543 duration=12.34" => [200, 12_340_000], "status=500 error='NameError: it's gone' duration=3.30" => [500, 3_300_000],
      "status=500 error='NameError: duration=9.99' allocations=7 duration=3.30" => [500, 3_300_000], "status=500 error='NameError: of several" => [500, nil]
    }.each { |between, expected| assert_equal expected, entry.call(between).then { |one| [one.status, one.app_ns] }, between }
    assert_nil entry.call("status=200 allocations=12")
    log = read([LOGRAGE, LOGRAGE.sub("status=200", "status=500 error='NameError: of several").sub(/ duration.*/, ""), "  lines' allocations=7 duration=3.30"])
    assert_equal [1, 1], log.tally.cells.fetch("GET /articles/:id").values.then { |cells| [cells.sum(&:count), cells.sum(&:failed_count)] }
  end

  test "words of lograge without an instant are told so" do
    with_log([LOGRAGE[/method.*/]]) { |path| assert_match(/no time of the day\. Set config\.log_formatter/, assert_raises(UsageError) { Compare::Log.new(path) }.message) }
  end

  test "Rails Semantic Logger's JSON has the request in its payload" do
    line = {"timestamp" => "2026-10-10T13:55:36.123456Z", "message" => "Completed #show", "duration_ms" => 12.34, "duration" => "12.3ms", "payload" => {"method" => "GET", "path" => "/articles/42", "status" => 200}}
    assert_equal AccessLog::Lograge.entry(LOGRAGE), AccessLog::Lograge.entry(JSON.generate(line))
    assert_nil AccessLog::Lograge.entry(JSON.generate(line.merge("message" => "Started", "duration_ms" => nil)))
  end

  test "how long a WebSocket's page is open, and what took the server in front no time, are no times of the app's" do
    nginx = ->(path, status, took, app_took = took) { %(192.0.2.1 - - [10/Oct/2026:13:55:36 +0000] "GET #{path} HTTP/1.1" #{status} 2326 "-" "curl/8.5" rt=#{took} urt=#{app_took}) }
    log = read([nginx["/a", 200, "0.010"], nginx["/cable", 101, "3600.000"], nginx["/a", 301, "0.000", "-"], nginx["/b", 502, "0.000", "-"]], seen_from: "client")
    assert_equal [{"GET /a" => [1, 0], "GET /b" => [0, 1]}, {no_time: 2}], [log.tally.cells.transform_values { |by_span| by_span.values.map { |cell| [cell.count, cell.failed_count] }.first }, log.left_out]
  end

  test "in lograge's JSON the instant is the field's that is called so, or stands before, and no parameter's" do
    json = '{"method":"GET","path":"/a","status":200,"duration":58.33,"params":{"from":"2025-01-01T00:00:00Z"}}'
    late = [*%w[@timestamp timestamp time ts].map { |key| json.sub("}}", %(},"#{key}":"2026-10-10T13:55:36Z"})) }, "I, [2026-10-10T13:55:36 #17]  INFO -- : #{json}"]
    assert_equal [Time.utc(2026, 10, 10, 13, 55, 36).to_i], late.map { |line| AccessLog::Lograge.entry(line).at_ns / Units::NS_PER_S }.uniq
    assert_nil AccessLog::Lograge.entry(json), "nobody knows when"
    assert_equal Time.utc(2026, 10, 10, 13, 55, 36).to_i, AccessLog::Lograge.entry(json.sub("}}", '},"date":"2026-10-10T13:55:36Z"}')).at_ns / Units::NS_PER_S
    assert_equal 36_000_000_000, AccessLog::Lograge.entry(json.sub("{", '{"time":"last week","ts":"1970-01-01 00:00:36",')).at_ns
  end

  test "what is in lograge's JSON is held for what it is: one line that has something else is no request" do
    json = {"method" => "GET", "path" => "/a", "status" => 200, "duration" => 12.34, "@timestamp" => "2026-10-10T13:55:36.123Z"}
    entry = ->(**other) { AccessLog::Lograge.entry(JSON.generate(json.merge(other.transform_keys(&:to_s)))) }
    [{path: 7}, {path: ["/a"]}, {method: {}}, {duration: "1e999999999"}, {duration: -1}, {duration: "x"}, {duration: [1]}, {duration: "9" * 400}].each { |other| assert_nil entry.call(**other), other }
    assert_equal [200, 200, nil, nil], [{status: 200}, {status: "200"}, {status: [200]}, {status: {}}].map { |other| entry.call(**other).status }
    assert_equal [12_340_000, 1_200_000, 300_000], [{duration: "12.34"}, {duration: "1.2"}, {duration: 3e-1}].map { |other| entry.call(**other).app_ns }
  end

  def rails(id, at, *texts) = texts.map { |text| "I, [2026-10-10T13:55:#{at} #17]  INFO -- : #{"[#{id}] " if id}#{text}" }

  def started(path, at = "36") = "Started GET \"#{path}\" for 192.0.2.1 at 2026-10-10 13:55:#{at[0, 2]} +0000"

  def entries(lines)
    timer = AccessLog::Rails.timer
    [lines.filter_map { |line| timer.call(line) }, timer]
  end

  test "of Rails' own log, two lines with the same tag are one request, however they interleave" do
    lines = [*rails("a", "36.1", started("/x")), *rails("b", "36.2", started("/y")), *rails("b", "36.3", "Processing by X#y as HTML", "Completed 404 Not Found in 5ms"),
      *rails("a", "36.4", "Completed 200 OK in 312ms (Views: 5.6ms | ActiveRecord: 1.2ms (2 queries, 0 cached) | GC: 0.1ms)")]
    found, timer = entries(lines)
    assert_equal [["/y", 404, 5], ["/x", 200, 312]], found.map { |entry| [entry.target, entry.status, entry.app_ns / Units::NS_PER_MS] }
    assert_equal 0, timer.interleaved_count
  end

  test "without tags they are one as long as they are alone, and nobody's beside each other" do
    alone = [*rails(nil, "36.1", started("/x"), "Completed 200 OK in 3ms"), *rails(nil, "36.2", started("/y"), "Completed 200 OK in 4ms")]
    assert_equal %w[/x /y], entries(alone).first.map(&:target)
    found, timer = entries([*rails(nil, "36.1", started("/x")), *rails(nil, "36.2", started("/y"), "Completed 200 OK in 3ms", "Completed 200 OK in 4ms"), *alone])
    assert_equal [%w[/x /y], 2], [found.map(&:target), timer.interleaved_count]
  end

  test "a path without a route is a refused request, and disturbs none that comes after it" do
    lines = [*rails(nil, "36.1", started("/wp")), "F, [2026-10-10T13:55:36.2 #17] FATAL -- :   ", 'ActionController::RoutingError (No route matches [GET] "/wp"):', *rails(nil, "36.3", started("/x"), "Completed 200 OK in 3ms")]
    found, timer = entries(lines)
    assert_equal [[["/wp", 404], ["/x", 200]], 0], [found.map { |entry| [entry.target, entry.status] }, timer.interleaved_count]
  end

  test "one without an end is forgotten after a minute" do
    lines = [*rails(nil, "00.1", started("/gone", "00")), *rails(nil, "36.1", started("/x").sub("13:55", "13:57"), "Completed 200 OK in 3ms")]
    assert_equal %w[/x], entries(lines).first.map(&:target)
  end

  def with_log(lines, gzip: false)
    Dir.mktmpdir do |folder|
      path = File.join(folder, "some.log")
      text = lines.join("\n") << "\n"
      File.binwrite(path, gzip ? Zlib.gzip(text) : text)
      yield path
    end
  end

  def read(lines, gzip: false, seen_from: "app", **)
    with_log(lines, gzip:) { |path| Compare::Log.new(path, **).read(seen_from:, random: Random.new(1)) }
  end

  test "a log is added up by endpoint, and what does not count is counted" do
    lines = [ALB, ALB.sub("/42?q=a", "/7"), ALB.sub("/articles/42?q=a", "/logo.png"), ALB.sub(" 200 200 ", " 503 - "), ALB.sub(" 200 200 ", " 404 404 "), ALB.sub("0.001 0.020 0.002", "-1 -1 -1"), "nonsense"]
    [true, false].each do |gzip|
      log = read(lines, gzip:)
      cells = log.tally.cells.fetch("GET /articles/:id").values
      assert_equal [2, 40 * Units::NS_PER_MS, 1, 1], %i[count sum_ns failed_count refused_count].map { |name| cells.sum(&name) }
      assert_equal({asset: 1, no_time: 1, no_request: 1}, log.left_out)
    end
  end

  test "endpoints have the names that the app gives them" do
    named = ->(env) { "the articles" if env["PATH_INFO"].start_with?("/articles/") }
    assert_equal ["the articles", "GET /"], read([ALB, ALB.sub("/articles/42?q=a", "/")], grouping: named).tally.cells.keys
    assert_match(/group_endpoints failed \(NoMethodError/, assert_raises(UsageError) { read([ALB], grouping: ->(env) { env["rack.session"].fetch(1) }) }.message)
  end

  test "each format says what to change where it tells no times" do
    assert_equal AccessLog::FORMATS, Compare::Log.const_get(:NO_TIMES, false).keys.sort
  end

  test "a log without times, or whose lines can't be told apart, says what to change" do
    with_log([COMBINED]) { |path| assert_match(/log_format has \$request_time/, assert_raises(UsageError) { Compare::Log.new(path).seen_from }.message) }
    mixed = Array.new(20) { |index| [*rails(nil, "36.1", started("/x#{index}"), started("/y"), "Completed 200 OK in 3ms", "Completed 200 OK in 3ms")] }
    assert_match(/config\.log_tags = \[:request_id\]/, assert_raises(UsageError) { read(mixed.flatten) }.message)
  end

  test "whatever order lines have, and however long a log is, the same is added up in as many spans" do
    random = Random.new(1)
    instants = Array.new(3_000) { random.rand(90 * 86_400) * Units::NS_PER_S }
    tallies = [instants, instants.reverse].map do |list|
      Compare::Tally.new(random: Random.new(1), resolution_ns: 1).tap { |tally| list.each { |at_ns| tally.add("GET /", at_ns:, took_ns: 1_000, status: 200) } }
    end
    assert_operator tallies.first.spans.size, :<=, Compare::Tally::SPANS_MAX
    assert_equal(*tallies.map { |tally| [tally.span_s, tally.spans, tally.cells["GET /"].sort.map { |span, cell| [span, cell.count] }] })
    assert_equal [3_000, 3_000], tallies.map(&:requests_count)
  end

  test "more endpoints than a memory should hold are counted together" do
    tally = Compare::Tally.new(random: Random.new(1), resolution_ns: 1)
    (Compare::Tally::ENDPOINTS_MAX + 50).times { |index| tally.add("GET /#{index}", at_ns: 0, took_ns: 1, status: 200) }
    assert_equal [Compare::Tally::ENDPOINTS_MAX + 1, 50], [tally.cells.size, tally.cells[Probe::Endpoint::OTHER].values.sum(&:count)]
  end

  test "percentiles are those of the times, whatever the weights" do
    random = Random.new(2)
    times = Array.new(4) { Array.new(500) { (1e6 * (1 + random.rand(2_000))).to_i } }
    cells = times.map do |list|
      Compare::Tally::Cell.empty.tap { |cell| list.each { |ns| cell.count += 1; cell.sum_ns += ns; cell.buckets.merge!(Probe::Histogram.bucket_of(ns) => 1) { |_, one, two| one + two } } } # standard:disable Style/Semicolon
    end
    buckets = cells.flat_map { |cell| cell.buckets.keys }.uniq.sort
    weights = [2, 0, 1, 3]
    drawn = times.zip(weights).flat_map { |list, weight| list * weight }.sort
    one = [[Compare::Durations.new(cells, buckets), 1]]
    [0.5, 0.9, 0.99].each { |ratio| assert_in_delta 1, Compare::Durations.quantile_ns(one, ratio, buckets, weights) / Stats::Quantile.of(drawn, ratio), 0.02 }
    assert_in_delta drawn.sum.fdiv(drawn.size), Compare::Durations.mean_ns(one, weights)
    assert_nil Compare::Durations.quantile_ns(one, 0.5, buckets, [0] * 4)
  end
end
