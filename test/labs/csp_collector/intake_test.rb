# frozen_string_literal: true

require_relative "lab"
require "stringio"

class CspIntakeTest < TunerTest
  REPORT = CspLab.csp_report
  VIOLATION = {"type" => "csp-violation", "age" => 10, "url" => "https://shop.test/", "user_agent" => CspLab::CHROME, "body" => {"effectiveDirective" => "img-src"}}.freeze

  def env(body, type = "application/csp-report", length: body.bytesize.to_s, **more)
    {"CONTENT_TYPE" => type, "CONTENT_LENGTH" => length, "rack.input" => StringIO.new(body.b), **more.transform_keys(&:to_s)}.compact
  end

  def reports(...) = CspCollector::Intake.new.reports(env(...))

  def assert_refused(status, reason, ...)
    error = assert_raises(CspCollector::Refused, reason) { reports(...) }
    assert_equal [status, reason], [error.status, error.reason]
  end

  test "a report is taken as it was sent, however its type is spelt" do
    ["application/csp-report", "application/csp-report; charset=utf-8", "Application/CSP-Report ;x"].each do |type|
      assert_equal [REPORT], reports(JSON.generate(REPORT), type)
    end
  end

  test "a batch of the Reporting API is taken, of any kinds of report, and one report without a list" do
    batch = [VIOLATION, VIOLATION.merge("type" => "deprecation")]
    assert_equal batch, reports(JSON.generate(batch), "application/reports+json")
    assert_equal [VIOLATION], reports(JSON.generate(VIOLATION), "application/reports+json;charset=UTF-8")
  end

  test "what is no report is refused" do
    ["{", "nil", "{\"a\":NaN}", "\u0000", "[1,]"].each { |body| assert_refused(400, "json", body) }
    ["[]", "1", "\"x\"", "null", "{}", '{"csp-report":1}', '{"csp-report":[]}', '[{"csp-report":{}}]'].each { |body| assert_refused(400, "shape", body) }
    ["[]", "1", "{}", "[1]", '[{"body":{}}]', '[{"type":1}]', "[#{JSON.generate(VIOLATION)},null]"].each { |body| assert_refused(400, "shape", body, "application/reports+json") }
    assert_refused(400, "empty", "")
    assert_refused(400, "encoding", "{\"csp-report\":{\"a\":\"\xFF\"}}")
  end

  test "other types are refused, and bodies that are packed" do
    [nil, "", "application/json", "text/plain", "application/csp-reports", "\xFF\xFE", "application/csp-report, text/html"].each { |type| assert_refused(415, "content_type", "{}", type) }
    assert_refused(415, "content_encoding", "{}", HTTP_CONTENT_ENCODING: "gzip")
    assert_equal [REPORT], reports(JSON.generate(REPORT), HTTP_CONTENT_ENCODING: "identity")
  end

  test "nesting, keys and the reports of a batch have bounds" do
    nested = ->(depth) { %({"csp-report":{"a":#{"[" * depth}1#{"]" * depth}}}) }
    assert reports(nested.call(6))
    assert_refused(400, "depth", nested.call(7))
    keys = ->(count) { JSON.generate("csp-report" => (1..count).to_h { |number| ["k#{number}", 1] }) }
    assert reports(keys.call(199))
    assert_refused(413, "keys_count", keys.call(200))
    assert_refused(413, "keys_count", JSON.generate("csp-report" => {"a" => [1] * 200}))
    assert_equal 100, reports(JSON.generate([VIOLATION] * 100), "application/reports+json").size
    assert_refused(413, "reports_count", JSON.generate([VIOLATION] * 101), "application/reports+json")
  end

  test "a body that says it is too long is not read, and one that does not say is read no further than the limit" do
    untouchable = Object.new
    def untouchable.read(*) = raise("it was read")
    assert_refused(413, "body_bytes", "", length: "65537", "rack.input": untouchable)
    long = StringIO.new("x" * 200_000)
    assert_refused(413, "body_bytes", "", length: nil, "rack.input": long)
    assert_equal 65_537, long.pos
    fitting = JSON.generate(CspLab.csp_report("sample" => "x" * 65_000)).then { |body| body.sub("x" * 65_000, "x" * (65_000 + 65_536 - body.bytesize)) }
    assert_equal 65_536, fitting.bytesize
    assert reports(fitting, length: nil)
    assert_refused(413, "body_bytes", "#{fitting} ", length: nil)
  end

  test "without a body there is nothing to read" do
    assert_refused(400, "empty", "", "rack.input": nil)
  end
end
