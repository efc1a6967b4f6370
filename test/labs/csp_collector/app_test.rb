# frozen_string_literal: true

require_relative "lab"
require "rack"
require "rack/lint"
require "rack/mock_request"

class CspAppTest < TunerTest
  def setup
    @read, @write = IO.pipe
    @log, log = IO.pipe
    @journal = CspCollector::Journal.new(log)
    @output = CspCollector::Output.new(@write, wait_limit_s: 0.05)
  end

  def teardown = [@read, @write, @log].each(&:close)

  def client(**options) = Rack::MockRequest.new(Rack::Lint.new(CspCollector::App.new(output: @output, journal: @journal, **options)))

  def post(report, type: "application/csp-report", client: self.client, **more)
    client.post("/reports", :input => report.is_a?(String) ? report : JSON.generate(report), "CONTENT_TYPE" => type, **more)
  end

  def written = @read.read_nonblock(1_000_000, exception: false).then { |text| (text == :wait_readable) ? "" : text }

  def logged = @log.read_nonblock(1_000_000, exception: false).then { |text| (text == :wait_readable) ? [] : text.lines.map { |line| JSON.parse(line) } }

  test "201 says that a line with time and report is written" do
    answer = post(CspLab.csp_report)
    line = JSON.parse(written)
    assert_equal [201, ""], [answer.status, answer.body]
    assert_equal %w[time report], line.keys
    assert_equal CspLab.csp_report, line["report"]
    assert_in_delta Time.now.to_f, Time.iso8601(line["time"]).to_f, 60
    assert_equal "*", answer["access-control-allow-origin"]
    assert_empty logged
  end

  test "a batch is a line for each report" do
    batch = Array.new(3) { |age| {"type" => "csp-violation", "age" => age, "body" => {}} }
    assert_equal 201, post(batch, type: "application/reports+json").status
    assert_equal(batch, written.lines.map { |line| JSON.parse(line)["report"] })
  end

  test "whatever stands in a report, it stays one line of printable ASCII, and means the same" do
    nasty = "\n\r\u0000\u001b[31m\u007f\u0085\u009b\u2028\u2029\u202e\u{1F600}\\\"</script>"
    assert_equal 201, post(CspLab.csp_report("sample" => nasty, nasty => 1)).status
    text = written
    assert_match(/\A[ -~]+\n\z/, text)
    report = JSON.parse(text).dig("report", "csp-report")
    assert_equal [nasty, 1], [report["sample"], report[nasty]]
  end

  test "what can be read and not be written is refused" do
    ['{"csp-report":{"a":"\\ud800"}}', '{"csp-report":{"a":1e999}}'].each { |body| assert_includes [400, 201], post(body).status, body }
    # Whichever of them a version of json lets through, it is a whole line.
    written.each_line { |line| assert JSON.parse(line) }
  end

  test "the browser's name is added on request only, to reports that have none" do
    post(CspLab.csp_report, "HTTP_USER_AGENT" => "Agent/1")
    refute_includes written, "Agent/1"
    with_user_agent = client(with_user_agent: true)
    post(CspLab.csp_report, :client => with_user_agent, "HTTP_USER_AGENT" => "Agent/1 \xFF#{"x" * 1_000}".b)
    assert_match(/\AAgent\/1 \uFFFDx{400,512}\z/, JSON.parse(written)["user_agent"])
    post([{"type" => "csp-violation", "user_agent" => "Own/1"}], :type => "application/reports+json", :client => with_user_agent, "HTTP_USER_AGENT" => "Agent/1")
    refute_includes written, "Agent/1"
  end

  test "a browser that asks first is told what it may send" do
    answer = client.options("/reports", "HTTP_ORIGIN" => "https://shop.test", "HTTP_ACCESS_CONTROL_REQUEST_METHOD" => "POST", "HTTP_ACCESS_CONTROL_REQUEST_HEADERS" => "content-type")
    assert_equal [204, "*", "POST", "content-type"],
      [answer.status, *%w[origin methods headers].map { |name| answer["access-control-allow-#{name}"] }]
  end

  test "other methods and paths are refused" do
    assert_equal [405, "POST, OPTIONS"], client.get("/reports").then { |answer| [answer.status, answer["allow"]] }
    assert_equal 405, client.put("/reports").status
    assert_equal [404, 404], [client.post("/").status, client.get("/reports/").status]
  end

  test "what is refused is counted, and logged without anything of it" do
    client = self.client
    post("{\"SECRET\n", client:)
    post("{}", client:, type: "SECRET/\u2028".b)
    client.post("/SECRET")
    lines = logged
    assert_equal([[400, "json"], [415, "content_type"], [404, "path"]], lines.map { |line| line.values_at("status", "reason") })
    assert(lines.all? { |line| line.keys.sort == %w[event reason status time] })
    post(CspLab.csp_report, client:)
    health = JSON.parse(client.get("/health").body)
    assert_equal [1, {"400 json" => 1, "415 content_type" => 1, "404 path" => 1}], health.values_at("accepted_reports_count", "refused_counts")
    assert_empty written.scan("SECRET")
  end

  test "when it can't be written it is not accepted, and health says so" do
    client = self.client
    @read.close
    answer = post(CspLab.csp_report, client:)
    assert_equal [503, "5"], [answer.status, answer["retry-after"]]
    health = client.get("/health")
    assert_equal [503, 0], [health.status, JSON.parse(health.body)["accepted_reports_count"]]
    assert_equal "", client.request("HEAD", "/health").body
  end

  test "a flood of bad requests is no flood of log" do
    out, log = IO.pipe
    now = Time.at(0)
    journal = CspCollector::Journal.new(log, lines_per_s: 3, clock: -> { now })
    10.times { journal.refused(400, "json") }
    now += 1
    journal.refused(400, "json")
    log.close
    lines = out.read.lines.map { |line| JSON.parse(line) }
    assert_equal [nil, nil, nil, 7], lines.map { |line| line["unwritten_count"] }
    assert_equal 11, journal.counts["refused_counts"]["400 json"]
  end

  test "a log that nobody reads holds nobody up" do
    _out, log = IO.pipe
    journal = CspCollector::Journal.new(log, lines_per_s: 1_000_000)
    2_000.times { journal.refused(400, "json") }
    assert_equal 2_000, journal.counts["refused_counts"]["400 json"]
  end
end
