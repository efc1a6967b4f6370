# frozen_string_literal: true

require_relative "lab"

class CspLineReaderTest < TunerTest
  def read(text, **options) = CspCollector::LineReader.new(**options).read(text)

  def violation(**report) = read(CspLab.line(**report)).violation

  def modern(**body)
    JSON.generate("time" => "2026-03-02T12:00:00.5Z", "report" => {"type" => "csp-violation", "url" => "https://shop.test/from-url", "user_agent" => "Mozilla/5.0 Firefox/130.0",
                                                                   "body" => {"documentURL" => "https://shop.test/a#b", "effectiveDirective" => "img-src", "blockedURL" => "data", **body.transform_keys(&:to_s)}})
  end

  test "both formats come out alike" do
    assert_equal %w[script-src-elem evil.test /cart Chrome] << "", violation.to_h.values
    entry = read(modern)
    assert_equal %w[img-src data /a Firefox] << "", entry.violation.to_h.values
    assert_equal CspLab::NOON_S, entry.seen_at_s
  end

  test "reports of other kinds are no violations, and no bad lines" do
    assert_nil read('{"time":"2026-03-02T12:00:00Z","report":{"type":"deprecation","body":{}}}').violation
  end

  test "what is no line of a collector is bad" do
    ["", "{", "[]", "1", '{"time":"2026-03-02T12:00:00Z"}', '{"time":"yesterday","report":{}}', '{"time":"2026-13-45T12:00:00Z","report":{}}',
      '{"time":5,"report":{}}', '{"time":"2026-03-02T12:00:00Z\n","report":{}}', "\xFF", "#{"[" * 50}#{"]" * 50}"].each do |text|
      assert_raises(CspCollector::LineReader::Bad, text.inspect) { read(text) }
    end
  end

  test "directives are known ones" do
    {"script-src 'self' https://a.test" => "script-src", "img-src" => "img-src", "made-up" => "(unknown)", "" => "(unknown)", "SCRIPT-SRC" => "(unknown)"}.each do |sent, counted|
      assert_equal counted, violation(directive: sent).directive, sent
    end
    old = JSON.generate("time" => "2026-03-02T12:00:00Z", "report" => {"csp-report" => {"violated-directive" => "font-src https:"}})
    assert_equal ["font-src", "(none)", "(none)", "(unknown)", ""], read(old).violation.to_h.values
  end

  test "hosts are hosts, or the word for what was blocked" do
    {"https://A.Test:8443/x?y" => "a.test", "wss://a.test" => "a.test", "https://u:p@a.test/" => "a.test", "http://[::1]:80/" => "[::1]", "inline" => "inline", "eval" => "eval",
     "data" => "data", "data:image/png;base64,AAAA" => "data:", "blob:https://a.test/1" => "blob:", "chrome-extension://abc" => "chrome-extension:",
     "https://" => "(invalid)", "https://a b/" => "(invalid)", "<script>" => "(invalid)", "https://a.test\u202Emoc/" => "(invalid)", "https://#{"a" * 300}/" => "(invalid)"}.each do |blocked, host|
      assert_equal host, violation(blocked:).host, blocked
    end
  end

  test "paths have no query, no host, an end, and nothing that shows otherwise than it is" do
    {"https://shop.test" => "/", "https://shop.test/?token=1" => "/", "https://shop.test/a/b?c#d" => "/a/b", "about:blank" => "(none)", "/a" => "(none)",
     "https://shop.test/a\u202E\u0007b" => "/a\uFFFD\uFFFDb", "https://shop.test/#{"a" * 200}" => "/#{"a" * 158}…"}.each do |document, path|
      assert_equal path, violation(document:).path, document
    end
  end

  test "ids in paths are folded on request" do
    fold = ->(path) { read(CspLab.line(document: "https://shop.test#{path}"), fold_ids: true).violation.path }
    {"/orders/17" => "/orders/:id", "/users/3f2504e0-4f89-41d3-9a0c-0305e82c3301/edit" => "/users/:id/edit", "/c/9f86d081884c7d65" => "/c/:id",
     "/t/AbCdEfGh1234567890-_x" => "/t/:id", "/articles/how-to-write-a-long-title" => "/articles/how-to-write-a-long-title", "/v2/a/" => "/v2/a/"}.each do |path, folded|
      assert_equal folded, fold.call(path)
    end
    assert_equal "/orders/17", violation(document: "https://shop.test/orders/17").path
  end

  test "browsers have families" do
    webkit = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
    {CspLab::CHROME => "Chrome", "#{CspLab::CHROME} Edg/130.0" => "Edge", "#{CspLab::CHROME} OPR/115.0" => "Opera", "#{CspLab::CHROME} SamsungBrowser/26.0" => "Samsung Internet",
     "Mozilla/5.0 (X11; rv:131.0) Gecko/20100101 Firefox/131.0" => "Firefox", "#{webkit} FxiOS/131.0 Mobile Safari/605.1.15" => "Firefox", "#{webkit} CriOS/130.0 Mobile Safari/604.1" => "Chrome",
     "#{webkit} Version/18.0 Mobile/15E148 Safari/604.1" => "Safari", "#{webkit} Mobile/15E148" => "WebKit view", "Mozilla/5.0 (compatible; Googlebot/2.1) Chrome/130.0 Safari/537.36" => "Bot",
     "curl/8.0" => "Other", "" => "(unknown)", nil => "(unknown)"}.each do |user_agent, family|
      assert_equal family, CspCollector::Browser.family(user_agent), user_agent
    end
  end

  test "what comes from extensions, browsers and apps is noise; a site's own data: images are not" do
    {["chrome-extension://abc", nil] => "extension", ["moz-extension", nil] => "extension", ["safari-web-extension://x", nil] => "extension", ["inline", "moz-extension://abc/x.js"] => "extension",
     ["about", nil] => "browser", ["about:blank", nil] => "browser", ["resource://x", nil] => "browser", ["weirdapp://x", nil] => "app", ["data", nil] => "injected",
     ["inline", "data"] => "injected", ["https://evil.test/", "https://shop.test/a.js"] => "", ["inline", nil] => "", ["blob", nil] => ""}.each do |(blocked, source), noise|
      assert_equal noise, violation(:blocked => blocked, "source-file" => source).noise, [blocked, source].inspect
    end
    assert_equal "", violation(directive: "img-src", blocked: "data").noise
    assert_equal "", violation(blocked: "trusted-types-sink").noise
  end

  test "anything may stand anywhere" do
    body = {"effectiveDirective" => 1, "blockedURL" => [], "documentURL" => {}, "sourceFile" => true}
    assert_equal ["(unknown)", "(none)", "/from-url", "Firefox", ""], read(modern(**body)).violation.to_h.values
  end
end
