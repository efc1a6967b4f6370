# frozen_string_literal: true

require "test_helper"
require "csv"
require "zlib"
require "timeout"
require "tmpdir"

class AccessLogTest < TunerTest
  include PumaTuner

  COMBINED = '192.0.2.1 - ada [10/Oct/2026:13:55:36 +0200] "GET /articles/42?q=slow+app&page=2 HTTP/1.1" 200 2326 "-" "curl/8.5"'
  ALB = 'https 2026-10-10T13:55:36.123456Z app/my-lb/50dc6c495c0c9188 192.0.2.1:2817 10.0.0.1:80 0.001 0.020 0.002 200 200 34 366 "GET https://www.example.com:443/articles/42?q=a HTTP/2.0" "curl/8.5" ECDHE TLSv1.2 arn "Root=1" "www.example.com"'
  KAMAL = '{"time":"2026-10-10T13:55:36.123456789Z","level":"INFO","msg":"Request","host":"example.com","port":443,"path":"/articles/42","request_id":"9d6b","status":200,"service":"shop","target":"0a1b:80","duration":30251374,"method":"GET","req_content_length":0,"req_content_type":"","resp_content_length":2326,"resp_content_type":"text/html","client_addr":"192.0.2.1","proto":"HTTP/1.1","scheme":"https","query":"q=a"}'
  THRUSTER = '{"time":"2026-10-10T13:55:36.123456789Z","level":"INFO","msg":"Request","path":"/articles/42","status":200,"dur":30,"method":"GET","req_content_length":0,"req_content_type":"","resp_content_length":2326,"resp_content_type":"text/html","remote_addr":"192.0.2.1","user_agent":"curl","cache":"miss","query":"q=a"}'
  HEROKU = '2026-10-10T13:55:36.123456+00:00 heroku[router]: at=info method=GET path="/articles/42?q=a" host=www.example.com request_id=9d6b fwd="192.0.2.1" dyno=web.1 connect=1ms service=18ms status=200 bytes=2326 protocol=https'
  NGINX = '{"time":"2026-10-10T13:55:36+00:00","remote_addr":"192.0.2.1","request":"GET /articles/42?q=a HTTP/1.1","status":"200","request_time":"0.012","upstream_response_time":"0.003, 0.007"}'
  CADDY = '{"level":"info","ts":1791640536.125,"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"192.0.2.1","proto":"HTTP/2.0","method":"GET","host":"www.example.com","uri":"/articles/42?q=a","headers":{"Accept":["*/*"]}},"bytes_read":0,"user_id":"","duration":0.0123,"size":2326,"status":200,"resp_headers":{"Server":["Caddy"]}}'
  RAILS = 'I, [2026-10-10T13:55:36.123456 #17]  INFO -- : [9d6b] Started GET "/articles/42?q=a" for 192.0.2.1 at 2026-10-10 13:55:36 +0000'

  def with_log(*lines, gzip: false)
    Dir.mktmpdir do |folder|
      path = File.join(folder, "access.log")
      text = lines.join("\n") << "\n"
      gzip ? Zlib::GzipWriter.open(path) { |file| file.write(text) } : File.write(path, text)
      yield path
    end
  end

  def reader(*lines, gzip: false, **) = with_log(*lines, gzip:) { |path| AccessLog::Reader.new(path, **).tap(&:entries) }

  # @return [Array(Array<String>, Hash{String => Integer})] targets of the requests that count, and what was left out
  def read(*lines) = with_log(*lines) { |path| AccessLog::Reader.new(path).then { |reader| [reader.map(&:target), reader.left_out] } }

  def summary(*targets, seed: 1)
    entries = targets.each_with_index.map { |target, index| AccessLog::Entry.new(at_ns: index * Units::NS_PER_S, http_method: "GET", target:, status: 200) }
    AccessLog::Summary.new(entries, resolution_ns: Units::NS_PER_S, seed:) { |path| Probe::Endpoint::Path.name(path) }
  end

  def at(text) = Time.iso8601(text).then { |time| time.to_i * Units::NS_PER_S + time.nsec }

  test "the combined format of nginx and Apache, with its time zone" do
    assert_equal AccessLog::Entry.new(at_ns: at("2026-10-10T11:55:36Z"), http_method: "GET", target: "/articles/42?q=slow+app&page=2", status: 200), AccessLog::Combined.entry(COMBINED)
    assert_nil AccessLog::Combined.entry(COMBINED.sub("10/Oct", "32/Oct"))
    assert_nil AccessLog::Combined.entry(COMBINED.sub('"GET ', '"\x16\x03 '))
  end

  test "a load balancer's, whose instant is the response's" do
    assert_equal AccessLog::Entry.new(at_ns: at("2026-10-10T13:55:36.100456Z"), http_method: "GET", target: "/articles/42?q=a", status: 200, app_ns: 20 * Units::NS_PER_MS, client_ns: 23 * Units::NS_PER_MS), AccessLog::Alb.entry(ALB)
    assert_nil AccessLog::Alb.entry(ALB.sub(" 200 200 ", " - - ")).status
    assert_equal at("2026-10-10T13:55:36.123456Z"), AccessLog::Alb.entry(ALB.sub("0.001 0.020 0.002", "-1 -1 -1")).at_ns
  end

  test "Rails' own, with the logger's fraction of a second where there is one" do
    assert_equal AccessLog::Entry.new(at_ns: at("2026-10-10T13:55:36.123456Z"), http_method: "GET", target: "/articles/42?q=a", status: nil), AccessLog::Rails.entry(RAILS)
    assert_equal at("2026-10-10T13:55:36Z"), AccessLog::Rails.entry(RAILS[/Started.*/]).at_ns
    assert_nil AccessLog::Rails.entry("Completed 200 OK in 5ms")
  end

  test "Kamal's proxy and Thruster, in nanoseconds the one and in milliseconds the other, with paths as they are sent" do
    entry = AccessLog::Kamal.entry(KAMAL)
    assert_equal AccessLog::Entry.new(at_ns: at("2026-10-10T13:55:36.123456789Z"), http_method: "GET", target: "/articles/42?q=a", status: 200, client_ns: 30_251_374, lead_ns: 30_251_374), entry
    assert_equal entry.with(client_ns: 30_000_000, lead_ns: 30_000_000), AccessLog::Kamal.entry(THRUSTER)
    assert_nil AccessLog::Lograge.entry(KAMAL), "its duration is no milliseconds"
    assert_equal "/caf%C3%A9%20%3F%25?q=a", AccessLog::Kamal.entry(KAMAL.sub("/articles/42", "/café ?%")).target
    assert_equal({"answered in front of the app" => 2}, read(KAMAL, KAMAL.sub("0a1b:80", ""), THRUSTER.sub("miss", "hit")).last)
    [KAMAL.sub("2026-10", "2026-13"), KAMAL.sub("30251374", '"x"'), KAMAL.sub("30251374", "-1"), KAMAL.sub('"GET"', "null"), KAMAL[0..-2]].each { |line| assert_nil AccessLog::Kamal.entry(line), line }
  end

  test "Heroku's router, by its own words and by a drain, also where the app did not answer" do
    entry = AccessLog::Entry.new(at_ns: at("2026-10-10T13:55:36.123456Z"), http_method: "GET", target: "/articles/42?q=a", status: 200, client_ns: 19 * Units::NS_PER_MS, lead_ns: 19 * Units::NS_PER_MS)
    assert_equal entry, AccessLog::Heroku.entry(HEROKU)
    assert_equal entry, AccessLog::Heroku.entry(HEROKU.sub(/\A(\S+) \S+/, '<158>1 \1 host heroku router -'))
    failed = 'at=error code=H12 desc="Request timeout" method=GET path="/slow" host=www.example.com fwd="192.0.2.1" dyno=web.1 connect= service=30000ms status=503 bytes=0'
    assert_equal [503, 30 * Units::NS_PER_S, true], AccessLog::Heroku.entry(HEROKU.sub(/at=.*/, failed)).then { |one| [one.status, one.client_ns, one.passed_on] }
    refute AccessLog::Heroku.entry(HEROKU.sub("web.1 connect=1ms service=18ms", " connect= service=")).passed_on
    [HEROKU[/at=.*/], HEROKU.sub("2026-10", "2026-13"), HEROKU.sub("status=200", "status=-")].each { |line| assert_nil AccessLog::Heroku.entry(line), line }
  end

  test "nginx' JSON, by the names of its variables, whole or apart, as text or as numbers" do
    entry = AccessLog::Entry.new(at_ns: at("2026-10-10T13:55:36Z"), http_method: "GET", target: "/articles/42?q=a", status: 200, app_ns: 10 * Units::NS_PER_MS, client_ns: 12 * Units::NS_PER_MS, lead_ns: 12 * Units::NS_PER_MS)
    assert_equal entry, AccessLog::Nginx.entry(NGINX)
    apart = {"@timestamp" => "2026-10-10T13:55:36+00:00", "fields" => {"request_method" => "GET", "uri" => "/articles/42", "args" => "q=a", "status" => 200, "request_time" => 0.012, "upstream_response_time" => "0.010"}}
    assert_equal entry, AccessLog::Nginx.entry("host nginx: #{JSON.generate(apart)}")
    assert_equal entry, AccessLog::Nginx.entry(NGINX.sub('"time":"2026-10-10T13:55:36+00:00"', '"time_local":"10/Oct/2026:15:55:36 +0200"'))
    assert_equal entry.at_ns + 123 * Units::NS_PER_MS, AccessLog::Nginx.entry(NGINX.sub('"time":"2026-10-10T13:55:36+00:00"', %("msec":"#{entry.at_ns / Units::NS_PER_S}.123"))).at_ns
    ["", "-"].each { |none| refute AccessLog::Nginx.entry(NGINX.sub("0.003, 0.007", none)).passed_on, none }
    assert_nil AccessLog::Nginx.entry(NGINX.sub(/,"request_time".*/, "}")).app_ns
    caddy = '{"ts":1791640536.1,"request":{"method":"GET","uri":"/a"},"duration":0.01,"status":200}'
    [NGINX.sub("2026-10", "2026-13"), NGINX.sub("GET ", "\\u0016 "), NGINX.sub('"200"', "null"), NGINX[0..-2], caddy].each { |line| assert_nil AccessLog::Nginx.entry(line), line }
  end

  test "Caddy's JSON, whose duration is seconds, and whose instant people may write in words" do
    took_ns = 12_300 * Units::NS_PER_US
    entry = AccessLog::Entry.new(at_ns: 1_791_640_536_125 * Units::NS_PER_MS, http_method: "GET", target: "/articles/42?q=a", status: 200, client_ns: took_ns, lead_ns: took_ns)
    assert_equal entry, AccessLog::Caddy.entry("caddy[7]: #{CADDY}")
    assert_equal entry, AccessLog::Caddy.entry(CADDY.sub("1791640536.125", %("#{Time.at(0, entry.at_ns, :nsec).utc.iso8601(3)}")))
    ['"12.3ms"', "12300000", "12", "-1.5"].each { |other| assert_nil AccessLog::Caddy.entry(CADDY.sub("0.0123", other)).client_ns, other }
    [CADDY.sub('"status":200', '"status":0'), CADDY.sub('"GET"', "null"), CADDY.sub("1791640536.125", "null"), CADDY[0..-2], NGINX].each { |line| assert_nil AccessLog::Caddy.entry(line), line }
  end

  test "bytes that nginx can't write are sent in percent" do
    assert_equal "/caf%C3%A9", AccessLog::Combined.entry(COMBINED.sub("/articles/42?q=slow+app&page=2", "/caf\\xC3\\xA9")).target
  end

  {"combined" => COMBINED, "alb" => ALB, "caddy" => CADDY, "heroku" => HEROKU, "kamal" => KAMAL, "nginx" => NGINX, "rails" => RAILS}.each do |name, line|
    test "#{name} is known by its first lines, packed or not" do
      [true, false].each { |gzip| assert_equal name, reader("nonsense", line, gzip:).format_name }
    end
  end

  test "lines that do not count are listed with their reasons" do
    told = reader(COMBINED, COMBINED.sub("GET", "POST"), COMBINED.sub(" 200 ", " 500 "), COMBINED.sub("/articles/42?q=slow+app&page=2", "/logo.png"), "nonsense", COMBINED.sub("/articles", "http://evil/articles"))
    assert_equal({"of another method" => 1, "answered with an error" => 1, "for a file of pictures, styles or scripts" => 1, "lines that are no request" => 1, "with a target that is no path" => 1}, told.left_out)
  end

  test "what became a WebSocket, and what was answered in front of the app, is not asked of the app" do
    targets, left_out = read(COMBINED, COMBINED.sub(" 200 ", " 101 "), %(#{COMBINED} rt=0.000 urt="-"), %(#{COMBINED} rt=0.010 urt="-, 0.010"))
    assert_equal [2, {"for a WebSocket" => 1, "answered in front of the app" => 1}], [targets.size, left_out]
    redirect = 'http 2026-10-10T13:55:36.1Z app/lb/50dc 192.0.2.1:2817 - -1 -1 -1 301 - 34 366 "GET http://www.example.com:80/ HTTP/1.1" "curl" - - - "Root=1"'
    assert_equal({"answered in front of the app" => 1}, reader(ALB, redirect).left_out)
  end

  def rails(id, text, second: "36") = "I, [2026-10-10T13:55:#{second}.1 #17]  INFO -- : #{"[#{id}] " if id}#{text}"

  def started(path) = %(Started GET "#{path}" for 192.0.2.1 at 2026-10-10 13:55:36 +0000)

  test "of Rails' own log, errors are left out as well, by the line that tells the status, and what nobody knows counts" do
    lines = {"/a" => "200 OK", "/b" => "404 Not Found", "/c" => "500 Internal Server Error", "/d" => "302 Found"}.each_with_index.flat_map do |(path, status), id|
      [rails(id, started(path)), rails(id, "Processing by X#x as HTML"), rails(id, "Completed #{status} in 5ms")]
    end
    assert_equal [%w[/a /d /mounted/app?page=1], {"answered with an error" => 2}], read(*lines, rails("e", started("/mounted/app?page=1")))
    mixed = [started("/a"), started("/b"), "Completed 404 Not Found in 5ms", "Completed 200 OK in 5ms"]
    assert_equal [%w[/a /b], {}], read(*mixed.map { |text| rails(nil, text) })
  end

  test "of a log of Rails in which no line tells how a request ended, so many are open at most, and all count" do
    line = rails(nil, started("/a"))
    timer = AccessLog::Rails::Timer.new { |entry| (@told ||= []) << entry }
    Timeout.timeout(30) { 30_000.times { timer.call(line) } }
    assert_equal 30_000 - AccessLog::Rails::Timer::OPEN_MAX, @told.size
    timer.finish
    assert_equal 30_000, @told.size
  end

  test "of Rails' own log, paths without a route and WebSockets are left out, with tags or without" do
    ["9d6b", nil].each do |id|
      no_route = rails(id, "  ").sub("I,", "F,").sub(" INFO", "FATAL") << %(\n#{"[#{id}] " if id}ActionController::RoutingError (No route matches [GET] "/wp-login.php"):)
      lines = [rails(id, started("/wp-login.php?a=1")), no_route, rails(id, started("/cable")), rails(nil, started("/cable").sub(" for", " [WebSocket] for")), rails(id, started("/a"))]
      assert_equal [%w[/a], {"answered with an error" => 1, "for a WebSocket" => 1}], read(*lines)
    end
  end

  test "a log without requests, of no known format, or that can't be read says what to do" do
    {[COMBINED.sub("GET", "POST")] => /no request that counts \(1 of another method\).*--methods/, ["nonsense"] => /in no format that is known/}.each do |lines, pattern|
      assert_match pattern, assert_raises(UsageError) { reader(*lines) }.message
    end
    assert_match(/cannot read/, assert_raises(UsageError) { AccessLog::Reader.new("/nowhere") }.message)
    assert_match(/choose one of alb, apache, caddy, combined, heroku, kamal, lograge, nginx, rails/, assert_raises(UsageError) { reader(COMBINED, format: "iis") }.message)
  end

  test "requests of one kind come together, and no value stands in a kind" do
    groups = summary("/articles/42?q=ada", "/articles/7?q=grace", "/articles/8/comments/9", "/about", "/reset/eyJhbGciOiJIUzI1NiJ9x9Y8z7").groups
    assert_equal ["/articles/{{articles_id}}?q={{q}}", 2], groups.first.then { |group| [group.template, group.count] }
    assert_includes groups.map(&:template), "/articles/{{articles_id}}/comments/{{comments_id}}"
    assert_includes groups.map(&:template), "/reset/{{reset_id}}"
    refute_match(/ada|grace|42|eyJ/, groups.map(&:template).join)
  end

  test "values are decoded, and names that stand twice are told apart" do
    shape = AccessLog::Shape.of("/a?x=1%2F2&x=caf%C3%A9&flag&empty=&%zz=1") { |path| path }
    assert_equal "/a?x={{x}}&x={{x_2}}&flag&empty=&%zz={{value}}", shape.template
    assert_equal({"x" => "1/2", "x_2" => "café", "value" => "1"}, shape.values)
  end

  test "names that stand ten thousand times in one target are told apart in seconds, also where such names are there" do
    pairs = Array.new(10_000) { |index| "a=#{index}" } + %w[a_2=x a_2=y]
    shape = Timeout.timeout(20) { AccessLog::Shape.of("/s?#{pairs.join("&")}") { |path| path } }
    assert_equal %w[a a_2 a_3], shape.values.keys.first(3)
    assert_equal %w[a_10000 a_2_2 a_2_3], shape.values.keys.last(3)
    assert_equal %w[0 9999 x y], shape.values.values_at("a", "a_10000", "a_2_2", "a_2_3")
    assert_equal %w[a_2 a a_3], %w[a_2 a a].then { |names| Load::FreeNames.new.then { |free| names.map { |name| free.take(name) } } }
  end

  test "a target of more parameters than a data file should have columns is left out, and counted" do
    targets = [AccessLog::Reader::PARAMETERS_MAX, AccessLog::Reader::PARAMETERS_MAX + 1].map { |count| "/s?#{(["a=1"] * count).join("&")}" }
    assert_equal [targets.first(1), {"with more than 250 parameters" => 1}], read(*targets.map { |target| COMBINED.sub("/articles/42?q=slow+app&page=2", target) })
  end

  test "what stands in a query without a name is a value: tokens, addresses, searches, and what attackers try" do
    ["eyJhbGciOiJIUzI1NiJ9x9Y8z7", "ada@example.com", "jane+doe", "it's", "{{7*7}}", "d41d8cd98f00b204e9800998ecf8427e=", "it's%zz"].each do |query|
      shape = AccessLog::Shape.of("/verify?#{query}") { |path| Probe::Endpoint::Path.name(path) }
      assert_equal "/verify?{{query}}", shape.template, query
      assert_equal ["query"], shape.values.keys
    end
    assert_equal({"a_id" => ""}, AccessLog::Shape.of("/a/%zz") { |path| Probe::Endpoint::Path.name(path) }.values)
    assert_equal({"a_id" => "x+1 2"}, AccessLog::Shape.of("/a/x+1%202") { |path| Probe::Endpoint::Path.name(path) }.values)
    assert_equal "/a?debug&user[name]={{user_name}}", AccessLog::Shape.of("/a?debug&user[name]=ada") { |path| Probe::Endpoint::Path.name(path) }.template
  end

  test "instants of one tick of the log are spread over it, the same by the same seed" do
    times = summary("/a", "/b", "/c").arrivals_ns
    assert_equal times, summary("/a", "/b", "/c").arrivals_ns
    refute_equal times, summary("/a", "/b", "/c", seed: 2).arrivals_ns
    assert_equal 0, times.first
    assert_in_delta 2 * Units::NS_PER_S, times.last, Units::NS_PER_S
  end

  # A request of 3 s that is answered at :03, and one of half a second that is answered before it, at :02.
  TWO_ANSWERS = {
    "combined" => [[3, "3.000"], [2, "0.500"]].map { |second, took| %(192.0.2.1 - - [10/Oct/2026:12:00:0#{second} +0000] "GET /x HTTP/1.1" 200 9 "-" "curl" #{took}) },
    "lograge" => [[3, 3_000], [2, 500]].map { |second, took| "I, [2026-10-10T12:00:0#{second}.000000 #17]  INFO -- : method=GET path=/x format=html status=200 duration=#{took}.00" },
    "alb" => [[3, "3.000"], [2, "0.500"]].map { |second, took| ALB.sub("13:55:36.123456", "12:00:0#{second}.000000").sub("0.001 0.020 0.002", "0.000 #{took} 0.000") },
    "rails" => [0, 1.5].map { |second| RAILS.gsub("13:55:36", "12:00:0#{second.floor}").sub(".123456", ".#{second.modulo(1).to_s[2]}00000") }
  }.freeze

  TWO_ANSWERS.each do |name, lines|
    test "requests of #{name} have the instants at which they came, and not those of their responses" do
      entries = lines.map { |line| AccessLog.format(name).entry(line) }
      assert_equal [0, 1_500_000_000], AccessLog::Summary.new(entries, resolution_ns: 1) { |path| path }.arrivals_ns
    end
  end

  test "what came hours before the log begins stretches neither instants nor the rate" do
    entry = ->(at_s, took_s) { AccessLog::Entry.new(at_ns: (at_s * Units::NS_PER_S).to_i, http_method: "GET", target: "/a", status: 200, lead_ns: (took_s * Units::NS_PER_S).to_i) }
    summary = AccessLog::Summary.new([*(0...600).map { |at_s| entry[at_s, 0.2] }, entry[300, 21_600]], resolution_ns: 1) { |path| path }
    assert_equal [601, 600], [summary.count, summary.arrivals_ns.size]
    assert_in_delta 1, summary.rate_per_s, 0.01
  end

  %w[combined lograge].each do |name|
    test "a log of whole seconds is spread over them, also where times are taken off: #{name}" do
      format = AccessLog.format(name)
      entry = format.entry(TWO_ANSWERS[name].last.sub(".000000", ""))
      arrivals = AccessLog::Summary.new([entry] * 50, resolution_ns: format::RESOLUTION_NS) { |path| path }.arrivals_ns
      assert_in_delta Units::NS_PER_S, arrivals.last, Units::NS_PER_S / 5
      assert_equal 50, arrivals.uniq.size
    end
  end

  test "the busiest minute of a log of less than one has the requests of the time that it lasts" do
    entries = Array.new(301) { |index| AccessLog::Entry.new(at_ns: index * Units::NS_PER_S / 10 + 1, http_method: "GET", target: "/a", status: 200) }
    assert_in_delta 10, AccessLog::Summary.new(entries, resolution_ns: Units::NS_PER_S) { |path| path }.busiest_per_s, 0.01
  end

  test "what is written can be read as a file of requests, and fills in what the log had" do
    entries = summary(*["/articles/42?q=slow+app"] * 3, "/articles/7?q=%7B%7Bx%7D%7D", "/about")
    writer = AccessLog::RequestWriter.new(entries, groups_max: 10, source: "access.log", values: true)
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, "requests.txt"), writer.requests)
      File.write(File.join(folder, "requests.csv"), writer.data)
      mix = Load::Mix.read(File.join(folder, "requests.txt"), data_path: File.join(folder, "requests.csv"))
      assert_equal [4, 1], mix.requests.map(&:weight)
      assert_equal({"/articles/42?q=slow%20app" => 3, "/articles/7?q=%7B%7Bx%7D%7D" => 1}, mix.filled(mix.requests.first, 1).map(&:path).to_a.tally)
    end
  end

  def written(*targets)
    writer = AccessLog::RequestWriter.new(summary(*targets), groups_max: 10, source: "access.log", values: true)
    Dir.mktmpdir do |folder|
      paths = %w[requests.txt requests.csv].map { |name| File.join(folder, name) }
      paths.zip([writer.requests, writer.data]) { |path, text| File.write(path, text) }
      mix = Load::Mix.read(paths.first, data_path: paths.last)
      [writer, mix.requests.flat_map { |request| mix.filled(request, 1).map(&:path).to_a }.uniq.sort]
    end
  end

  test "values that were asked for together stay together, and no kind asks for what was another's" do
    asked = ["/orders?id=10", "/products?id=99", "/users/1/orders/10", "/users/1/orders/11", "/users/2/orders/12"]
    assert_equal asked, written(*asked).last
  end

  test "what Rails has taken out of its log is not asked for where there is another, and told where there is none" do
    writer, paths = written("/a?token=[FILTERED]", "/a?token=x", "/b?password=[FILTERED]")
    assert_equal ["/a?token=x", "/b?password=%5BFILTERED%5D"], paths
    assert_equal ["password"], writer.filtered_columns
  end

  test "what was asked for often stands often among the values, be they more than are kept" do
    rows = summary(*Array.new(9_000) { |index| (index % 10 < 9) ? "/articles/1" : "/articles/#{index + 100}" }).groups.first.rows
    assert_equal AccessLog::Summary::ROWS_MAX, rows.size
    assert_in_delta 0.9, rows.count(["1"]).fdiv(rows.size), 0.03
    assert_operator rows.flatten.map(&:to_i).max, :>, 8_500, "not the first ones alone"
  end

  def entry_at(ns, target = "/a", lead_ns: 0) = AccessLog::Entry.new(at_ns: ns, http_method: "GET", target:, status: 200, lead_ns:)

  # With another limit, so that few requests are more than it.
  def with_limit(owner, name, value)
    usual = owner.const_get(name)
    replace = lambda do |other|
      owner.send(:remove_const, name)
      owner.const_set(name, other)
    end
    replace.call(value)
    yield
  ensure
    replace.call(usual)
  end

  def timed(entries) = AccessLog::Summary.new(entries, resolution_ns: 1) { |path| path }

  test "the rate and the busiest minute of a long log are those that they were if all of its instants were kept" do
    random = Random.new(7)
    entries = Array.new(3_000) { |index| entry_at(index * Units::NS_PER_S / 2 + random.rand(10**9), lead_ns: random.rand(10**9)) } +
      Array.new(500) { |index| entry_at((900 + index / 10) * Units::NS_PER_S) } + [entry_at(Units::NS_PER_S, lead_ns: 10**15)]
    whole = timed(entries)
    [1_000, 3_300].each do |held|
      long = with_limit(AccessLog::Instants, :HELD_MAX, held) { timed(entries).tap(&:arrivals_ns) }
      assert_equal [whole.count, whole.rate_per_s, whole.busiest_per_s], [long.count, long.rate_per_s, long.busiest_per_s]
      assert_operator long.arrivals_ns.size, :<=, held
      assert whole.arrivals_ns.first(900) == long.arrivals_ns.first(900), "what is replayed stays the same"
    end
  end

  test "a long log whose beginning stands behind its end is counted whole" do
    entries = [*500...1_000, *0...500].map { |second| entry_at(second * Units::NS_PER_S) }
    rate = with_limit(AccessLog::Instants, :HELD_MAX, 100) { timed(entries).rate_per_s }
    assert_in_delta timed(entries).rate_per_s, rate, 1e-9
  end

  test "of a log of years a week of minutes is counted at a time, and the busiest one is found all the same" do
    entries = Array.new(30_000) { |minute| entry_at(minute * 60 * Units::NS_PER_S) } + [entry_at(30_000 * 60 * Units::NS_PER_S)]
    busy = Array.new(59) { |second| entry_at((3 * 60 + second) * Units::NS_PER_S + 1) }
    sum = timed(entries.first(4) + busy + entries.drop(4))
    assert_in_delta 1, sum.busiest_per_s
    assert_equal AccessLog::Instants::MINUTES_MAX, sum.instance_variable_get(:@instants).instance_variable_get(:@minutes).size
  end

  test "kinds beyond what is kept are counted together, the rarest ones, and the frequent ones have all of their requests" do
    rare = 3 * AccessLog::Summary::KINDS_MAX
    sum = summary(*Array.new(rare) { |index| ["/s?key_#{index.to_s.tr("0-9", "a-j")}=1", "/often/#{index}"] }.flatten)
    assert_equal ["/often/{{often_id}}", rare], sum.groups.first.then { |group| [group.template, group.count] }
    assert_operator sum.kinds_count, :<, 2 * AccessLog::Summary::KINDS_MAX
    assert_equal 2 * rare, sum.groups.sum(&:count) + sum.other_count
    writer = AccessLog::RequestWriter.new(sum, groups_max: 1, source: "x")
    assert_match(/6000 requests in \d+ kinds and \(other\);/, writer.requests)
    assert_equal rare, writer.left_out_count
    refute_match(/other/, AccessLog::RequestWriter.new(summary("/a"), groups_max: 1, source: "x").requests)
  end

  test "fewer lists of values are kept where they are long, each kind's by chance" do
    targets = Array.new(400) { |index| ["/a?q=#{index}", "/b?q=#{index}", ("/c?q=#{index}" if index < 5)] }.flatten.compact
    sum = with_limit(AccessLog::Summary, :VALUES_BYTES_MAX, 20_000) { summary(*targets) }
    rows = sum.groups.to_h { |group| [group.template[1], group.rows.flatten.map(&:to_i)] }
    assert_equal [rows["a"].size, rows["a"].size, (0...5).to_a], [rows["b"].size, rows["a"].uniq.size, rows["c"].sort]
    assert_operator rows.values.sum(&:size) * 80, :<=, 21_000
    assert_includes 100..300, rows["a"].sum / rows["a"].size
  end

  test "all members of a packed file are read, as cat puts them together" do
    with_log("") do |path|
      File.binwrite(path, [COMBINED, COMBINED.sub("/42", "/43"), COMBINED.sub("/42", "/44")].map { |line| Zlib.gzip("#{line}\n" * 300) }.join)
      entries = AccessLog::Reader.new(path).entries
      assert_equal({"/articles/42" => 300, "/articles/43" => 300, "/articles/44" => 300}, entries.map { |entry| entry.target[/[^?]*/] }.tally)
    end
  end

  test "a pipe is read once, from its beginning: what tells the format counts, too" do
    lines = Array.new(AccessLog::PROBED_LINES + 100) { |index| COMBINED.sub("/42", "/#{index}") }
    with_pipe(lines) do |path|
      assert_equal [lines.size, "/articles/0"], AccessLog::Reader.new(path).entries.then { |all| [all.size, all.first.target[/[^?]*/]] }
    end
    with_pipe(lines) do |path|
      assert_equal lines.size, AccessLog::Summary.new(AccessLog::Reader.new(path), resolution_ns: 1) { |one| Probe::Endpoint::Path.name(one) }.count
    end
  end

  def with_pipe(lines)
    IO.pipe do |reader, writer|
      writing = Thread.new do
        writer.write(lines.join("\n"))
        writer.close
      end
      yield "/dev/fd/#{reader.fileno}"
    ensure
      writing.join
    end
  end

  {"rails" => "Completed 200 ", "heroku" => "method=A path=x host=x ", "lograge" => "method=A path=x status=200 "}.each do |name, piece|
    test "#{name} gives up a line of many beginnings and no end before long" do
      line = piece * (AccessLog::Lines::LINE_BYTES_MAX / piece.bytesize)
      timer = AccessLog.format(name).timer
      Timeout.timeout(20) { 30.times { assert_nil timer.call(line) } }
    end
  end

  test "what has no body is no comment, and a slash at the end stays" do
    entries = %w[GET HEAD POST].map { |http_method| AccessLog::Entry.new(at_ns: 0, http_method:, target: "/articles/42/", status: 200) }
    sum = AccessLog::Summary.new(entries, resolution_ns: 1) { |path| Probe::Endpoint::Path.name(path) }
    lines = AccessLog::RequestWriter.new(sum, groups_max: 10, source: "x").requests.lines(chomp: true).grep(/articles/).last(3)
    assert_equal ["   1 GET /articles/{{articles_id}}/", "   1 HEAD /articles/{{articles_id}}/"], lines.first(2)
    assert_match(/\A# .*POST/, lines.last)
  end

  test "weights keep to what a file of requests allows" do
    targets = ["/often"] * 30_000 + ["/seldom"]
    assert_equal ["1000 GET /often", "   1 GET /seldom"], AccessLog::RequestWriter.new(summary(*targets), groups_max: 10, source: "x").requests.lines(chomp: true).last(2)
  end

  test "kinds beyond the limit are counted" do
    writer = AccessLog::RequestWriter.new(summary("/a", "/a", "/b", "/c"), groups_max: 1, source: "x")
    assert_equal [1, 2], [writer.size, writer.left_out_count]
  end
end
