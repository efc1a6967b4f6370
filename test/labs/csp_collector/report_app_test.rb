# frozen_string_literal: true

require_relative "lab"
require "rack"
require "rack/lint"
require "rack/mock_request"

class CspReportAppTest < CspStoreTest
  NASTY = %("><script>alert(1)</script><img src=x onerror=alert(1)>'&)

  # The query as it is, whatever it is: some are none.
  def get(address)
    path, query = address.split("?", 2)
    app = CspCollector::ReportApp.new(@database, clock: -> { Time.at(CspLab::NOON_S + 60) })
    Rack::MockRequest.new(Rack::Lint.new(app)).get(path, "QUERY_STRING" => query.to_s)
  end

  def api(path) = JSON.parse(get(path).body)

  def fill
    write(line, line, line(directive: "img-src", blocked: "data"), line(document: "https://shop.test/articles/1", user_agent: "Firefox/130.0"),
      line(at_s: CspLab::NOON_S - 10 * 86_400, blocked: "https://old.test"), line(blocked: "chrome-extension://x"), line(blocked: "about"), line(blocked: "about"))
    count
  end

  test "the page shows violations with their counts, the most frequent first, and hides noise but for its number" do
    fill
    answer = get("/")
    rows = answer.body[/<tbody>.*<\/tbody>/m].scan(%r{<td class="number">([\d,]+)</td>.*?<bdi>(.*?)</bdi>.*?<bdi>(.*?)</bdi>}m)
    assert_equal [["2", "evil.test", "/cart"], ["1", "data", "/cart"], ["1", "evil.test", "/articles/1"]], rows
    assert_match(/<strong>4 reports<\/strong> of 3 kinds, last 7 days/, answer.body)
    assert_match(/3 reports hidden as noise \(browser 2, extension 1\)/, answer.body)
    assert_match(/text\/html; charset=utf-8/, answer["content-type"])
    assert_match(/\Adefault-src 'none'; style-src 'sha256-/, answer["content-security-policy"])
    assert_equal %w[nosniff no-referrer no-store], %w[x-content-type-options referrer-policy cache-control].map { |name| answer[name] }
  end

  test "reports can be filtered" do
    fill
    {"" => 4, "noise=show" => 7, "noise=only" => 3, "range=all" => 5, "range=30d" => 5, "range=1h" => 4, "directive=img-src" => 1, "host=evil.test" => 3, "host=EVIL.test" => 3,
     "path=/articles/1" => 1, "path=/articles/*" => 1, "path=/art" => 0, "path=*" => 4, "path=%25*" => 0, "browser=Firefox" => 1, "browser=Chrome&directive=img-src" => 1, "host=&path=" => 4,
     "host=%27%20OR%201%3D1%20--" => 0}.each do |query, reports_count|
      assert_equal reports_count, api("/api/violations?#{query}")["reports_count"], query
      assert_equal reports_count, api("/api/trend?#{query}")["points"].sum { |point| point["reports_count"] }, query
    end
  end

  test "the API gives what the page shows" do
    fill
    answer = get("/api/violations?range=all&per_page=2&page=2")
    assert_equal ["application/json", "nosniff"], [answer["content-type"], answer["x-content-type-options"]]
    facts = JSON.parse(answer.body)
    assert_equal({"page" => 2, "per_page" => 2, "kinds_count" => 4, "reports_count" => 5, "hidden_counts" => {"browser" => 2, "extension" => 1}}, facts.except("violations"))
    assert_equal({"directive" => "script-src-elem", "host" => "evil.test", "path" => "/articles/1", "browser" => "Firefox", "noise" => "", "reports_count" => 1,
      "first_seen" => "2026-03-02T12:00:00Z", "last_seen" => "2026-03-02T12:00:00Z"}, facts["violations"].first)
    trend = api("/api/trend?range=24h&by=day")
    assert_equal({"by" => "day", "points" => [{"from" => "2026-03-01T00:00:00Z", "reports_count" => 0}, {"from" => "2026-03-02T00:00:00Z", "reports_count" => 4}]}, trend)
    assert_equal %w[hour 25], api("/api/trend?range=24h").then { |facts| [facts["by"], facts["points"].size.to_s] }
  end

  test "reports come in pages" do
    write(*Array.new(120) { |number| line(blocked: "https://h#{number}.test/") })
    count
    first, last = get("/?per_page=50").body, get("/?per_page=50&page=3").body
    assert_match(/Page 1 of 3\s+<a rel="next" href="\/\?page=2">Next/, first)
    assert_match(/<a rel="prev" href="\/\?page=2">Previous<\/a>\s+Page 3 of 3\s+<\/nav>/, last)
    seen = (1..3).flat_map { |page| api("/api/violations?page=#{page}")["violations"].map { |row| row["host"] } }
    assert_equal [120, 120], [seen.size, seen.uniq.size]
    assert_match(/None\./, get("/?page=9").body)
  end

  test "bad parameters are told, and not repeated" do
    fill
    ["page=0", "page=x", "page=1.5", "page=99999999", "per_page=501", "noise=%3Cscript%3E", "range=2d", "by=week", "by=minute", "what=1", "host=#{"a" * 301}", "host=%00", "host=%zz",
      "page=1&page=2", "host[]=1"].each do |query|
      answer = get("/?#{query}")
      assert_equal [400, "text/plain; charset=utf-8"], [answer.status, answer["content-type"]], query
      refute_match(/script|aaa|zz|2d|week/, answer.body)
      assert_equal 400, get("/api/violations?#{query}").status, query unless query == "by=minute"
      assert_equal ["error"], api("/api/trend?#{query}").keys
    end
  end

  test "too many bars are not drawn" do
    write(line(at_s: CspLab::NOON_S - 400 * 86_400), line)
    count
    assert_equal 400, get("/api/trend?range=all&by=hour").status
    assert_equal 401, api("/api/trend?range=all")["points"].size
  end

  test "other methods and paths are refused, and a HEAD has no body" do
    app = Rack::MockRequest.new(CspCollector::ReportApp.new(@database))
    assert_equal [405, 404, 404], [app.post("/").status, app.get("/x").status, app.get("/api/").status]
    assert_equal [200, ""], app.request("HEAD", "/").then { |answer| [answer.status, answer.body] }
  end

  test "before anything is counted there is an empty page" do
    assert_match(/None\./, get("/").body)
    assert_equal 0, api("/api/violations")["reports_count"]
    refute_path_exists @database
  end

  test "what reports and addresses hold is text, wherever it stands" do
    write(line(document: "https://shop.test/#{NASTY.tr("?#", "")}", blocked: "https://#{NASTY}/", directive: "script-src #{NASTY}", user_agent: "#{NASTY} Chrome/1"))
    count
    query = URI.encode_www_form("host" => NASTY, "path" => "#{NASTY}*", "browser" => NASTY, "directive" => NASTY)
    [get("/").body, get("/?#{query}").body].each do |body|
      refute_match(/<script|<img|onerror=alert\(1\)>(?!&)/i, body)
      assert_includes body, "&lt;script&gt;"
    end
    assert_equal "/#{NASTY}", api("/api/violations")["violations"].first["path"]
    refute_match(/[^ -~\n]/, get("/api/violations").body)
  end
end
