# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require_relative "scripted_server"

# Requests behind a login: what each client sends once, and has from then on.
class SetUpTest < TunerTest
  Load = PumaTuner::Load
  Reply = ScriptedServer::Reply

  def setup
    flunk Load::Native.why_not if Load::Native.why_not
  end

  def mix(text, data: nil)
    Dir.mktmpdir do |folder|
      path, data_path = %w[requests.txt data.csv].map { |name| File.join(folder, name) }
      File.write(path, text)
      File.write(data_path, data) if data
      Load::Mix.read(path, data_path: data && data_path)
    end
  end

  def traffic(text, data: nil, connections_count: 3, arrivals: Load::Arrivals.closed)
    Load::Traffic.new(mix: mix(text, data:), generator: Load::Native.new, connections_count:, seed: 1, arrivals:)
  end

  def send_to(url, text, duration_s: 0.2, **) = traffic(text, **).set_up(url).send_to(url, duration_s:)

  # @yieldparam request [ScriptedServer::Received]
  # @yieldreturn [Reply, Integer]
  # @return [Array] what the server was asked, and what came of it
  def sent(text, data: nil, connections_count: 1, duration_s: 0.1, **options)
    seen = Queue.new
    answer = lambda do |request, _|
      seen << request
      yield request
    end
    outcome = ScriptedServer.serve(answer) { |server| send_to(server.url, text, duration_s:, data:, connections_count:, **options) }
    [Array.new(seen.size) { seen.pop }, outcome]
  end

  def failure(text, **options, &block) = assert_raises(PumaTuner::InvalidMeasurement) { sent(text, **options, &block) }.message

  # A site that lets in whoever has posted the token of its own session, and counts what it shows them.
  class Site
    attr_reader :shown_count, :signed_in

    def initialize
      @sessions = {}
      @lock = Mutex.new
      @shown_count = 0
      @signed_in = []
    end

    def call(request, _number) = @lock.synchronize { public_send(:"#{request.http_method.downcase}_#{request.path[/\w+/]}", request) }

    def get_login(_request)
      id = @sessions.size.to_s
      @sessions[id] = {token: "t+/#{id}&="}
      Reply.new(200, {"Set-Cookie" => "session=#{id}; path=/; HttpOnly; SameSite=Lax"}, %(<form><input type="hidden" name="authenticity_token" value="t+/#{id}&amp;=">))
    end

    def post_login(request)
      session = session(request)
      form = URI.decode_www_form(request.body).to_h
      return 422 unless session && form["authenticity_token"] == session[:token] && form["password"] == "pw of #{form["user"]}"
      @signed_in << session[:user] = form["user"]
      Reply.new(303, {"Location" => "/", "Set-Cookie" => "remembered=#{form["user"]}; path=/"}, "")
    end

    def get_page(request)
      return Reply.new(302, {"Location" => "/login"}, "") unless session(request)&.key?(:user)
      @shown_count += 1
      Reply.new(200, {}, "Hello #{session(request)[:user]}")
    end

    private

    def session(request) = @sessions[request.headers["Cookie"].to_s[/session=(\d+)/, 1]]
  end

  SIGN_IN = <<~TEXT
    setup GET /login pick:token=input:authenticity_token
    setup POST /login header:Content-Type=application/x-www-form-urlencoded body:'user={{user}}&password=pw of {{user}}&authenticity_token={{token}}' expect:303
  TEXT
  USERS = "user\nada\ngrace\nlin\n"

  test "each client signs in once, as a user of its own, and is let in from then on" do
    site = Site.new
    outcome = ScriptedServer.serve(site.method(:call)) { |server| send_to(server.url, "#{SIGN_IN}GET /page has:Hello", data: USERS) }
    assert_nil outcome.complaint
    assert_equal [%w[ada grace lin], outcome.requests_count], [site.signed_in.sort, site.shown_count]
    assert_equal({"200" => site.shown_count}, outcome.statuses)
  end

  test "without the set-up lines the same load is refused, as it leads to the login" do
    site = Site.new
    error = assert_raises(PumaTuner::InvalidMeasurement) { ScriptedServer.serve(site.method(:call)) { |server| send_to(server.url, "GET /page") } }
    assert_match(/redirects to \/login.*sign in with setup lines/m, error.message)
  end

  test "several loads of clients that are set up ask nobody to sign in again" do
    site = Site.new
    ScriptedServer.serve(site.method(:call)) do |server|
      ready = traffic("#{SIGN_IN}GET /page", data: USERS).set_up(server.url)
      outcomes = Array.new(2) { |number| ready.with(seed: number).send_to(server.url, duration_s: 0.1) }
      assert_equal [nil, nil], outcomes.map(&:complaint)
      assert_equal [3, outcomes.sum(&:requests_count)], [site.signed_in.size, site.shown_count]
    end
  end

  test "a client stays the same over new connections, in an open loop too" do
    [Load::Arrivals.closed(reuse: 1..2), Load::Arrivals.open(300, reuse: 1..1)].each do |arrivals|
      site = Site.new
      outcome = ScriptedServer.serve(site.method(:call)) { |server| send_to(server.url, "#{SIGN_IN}GET /page", data: USERS, arrivals:) }
      assert_nil outcome.complaint, arrivals.to_s
      assert_operator outcome.connections_made_count, :>, 3
      assert_equal outcome.requests_count, site.shown_count
    end
  end

  test "what is sent without calling for the set-up begins with it" do
    site = Site.new
    outcome = ScriptedServer.serve(site.method(:call)) { |server| traffic("#{SIGN_IN}GET /page", data: USERS).send_to(server.url, duration_s: 0.1) }
    assert_equal [nil, 3], [outcome.complaint, site.signed_in.size]
  end

  test "set-up requests are in no figure" do
    seen, outcome = sent("setup GET /slow\nGET /page") { |request| sleep((request.path == "/slow") ? 0.3 : 0) && 200 }
    assert_equal seen.size - 1, outcome.requests_count
    assert_operator outcome.max_ns, :<, 300_000_000
  end

  test "a status that is not expected ends it, and says which line, and what such a status usually means" do
    site = Site.new
    error = assert_raises(PumaTuner::InvalidMeasurement) do
      ScriptedServer.serve(site.method(:call)) { |server| send_to(server.url, "#{SIGN_IN.sub("pw of", "guess of")}GET /page", data: USERS) }
    end
    assert_match(/the set-up lines failed, so nothing was measured: line 2 of them \(POST \/login\) got status 422, as a wrong CSRF token or password is/, error.message)
    assert_equal 0, site.shown_count
  end

  test "says what was not found, and in which answer" do
    assert_match(/the response to line 1 of them \(GET \/login\), with status 200, has nothing for pick:token=meta:csrf-token/, failure("setup GET /login pick:token=meta:csrf-token\nGET /page") { 200 })
    assert_match(/the response to line 2 of them \(GET \/b\) has not the text that has: names\. .* limit how often one may sign in/, failure("setup GET /a\nsetup GET /b has:Welcome\nGET /page") { 200 })
  end

  test "fewer rows than connections are remarked, where set-up lines take values from them" do
    {["/in?{{user}}", 3] => /\Athe data file has fewer rows \(2\) than there are connections \(3\), so several of these are the same user/,
     ["/in?{{user}}", 2] => /\A\z/, ["/in", 3] => /\A\z/}.each do |(path, connections_count), said|
      _, outcome = sent("setup GET #{path}\nGET /page?{{user}}", data: "user\nada\ngrace\n", connections_count:, duration_s: 0.02) { 200 }
      assert_match said, outcome.remarks.join
    end
  end

  test "an interruption while clients are set up is one, and no set-up that failed" do
    asked = Queue.new
    generator = Load::Native.new(stoppable: true)
    ScriptedServer.serve(->(*) { (asked << true) && sleep }) do |server|
      ready = traffic("setup GET /in\nGET /").with(generator:)
      running = Thread.new { ready.send_to(server.url, duration_s: 1) }
      running.report_on_exception = false
      wait_until("the set-up") { asked.size.positive? }
      running.raise(Interrupt)
      assert_raises(Interrupt) { running.value }
    end
  end

  test "a server that is not there, or hangs up, is no measurement" do
    assert_match(/the set-up lines failed.*closed before the response was complete/, failure("setup GET /a\nGET /page") { raise Errno::EPIPE })
    url = "http://127.0.0.1:#{refusing_port}"
    error = assert_raises(PumaTuner::InvalidMeasurement) { send_to(url, "setup GET /a\nGET /page") }
    assert_match(/Connection refused\. Does the server run/, error.message)
  end

  test "a set-up line that was sent once more is remarked, as what the server began of it is done twice" do
    asked = 0
    seen, outcome = sent("setup GET /a\nsetup POST /in body:a=1\nGET /page") do |request|
      raise Errno::EPIPE if request.path == "/in" && (asked += 1) == 1
      200
    end
    assert_equal 2, seen.count { |request| request.path == "/in" }
    assert_match(/requests of the set-up lines that were sent once more over a new connection.*: 1\z/, outcome.remarks.join)
    assert_nil outcome.complaint
  end

  test "a token that each response gives anew is sent with the next request" do
    lock, current, wrong_count = Mutex.new, "first", 0
    serve = lambda do |request|
      lock.synchronize do
        given = request.headers["X-Token"]
        wrong_count += 1 unless given.nil? || given == current
        current = given ? (given.to_i + 1).to_s : "0"
        Reply.new(200, {"X-Next" => current}, "ok")
      end
    end
    seen, outcome = sent("setup GET /first pick:next=header:x-next\nPOST /step header:X-Token={{next}} pick:next=header:X-Next") { |request| serve.call(request) }
    assert_nil outcome.complaint
    assert_equal [0, (0...(seen.size - 1)).map(&:to_s)], [wrong_count, seen.drop(1).map { |request| request.headers["X-Token"] }]
  end

  test "a response under load that lacks what is picked makes the load void" do
    said = failure("setup GET /first pick:next=header:x-next\nGET /step?{{next}} pick:next=header:x-next") { |request| (request.path == "/first") ? Reply.new(200, {"X-Next" => "1"}, "") : 200 }
    assert_match(/\d+ of \d+ responses to GET \/step have nothing for pick:next=header:x-next/, said)
  end

  test "other generators refuse what only ours can send" do
    generator = Class.new(Load::Generator) do
      def why_not = nil

      def name = "another 1"
    end
    error = assert_raises(PumaTuner::UsageError) do
      generator.new.run(mix: mix("setup GET /a\nGET /"), url_base: "http://127.0.0.1:1", connections_count: 1, duration_s: 1, seed: 1)
    end
    assert_match(/another 1 can't send set-up lines/, error.message)
  end

  # @param cases [Array<Array<String>>] what answers to two requests for this path set; a client for each
  # @return [Array<String, nil>] the Cookie header of each one's request for /shop/cart after that
  def cookies_after(cases, path: "/shop/login")
    lines = [0, 1].map { |step| "setup GET #{path}?{{number}}&#{step}" }
    seen, = sent([*lines, "GET /shop/cart?{{number}}"].join("\n"), data: "number\n#{cases.each_index.to_a.join("\n")}\n", connections_count: cases.size, duration_s: 0.02) do |request|
      number, step = request.path[/\?(.*)/, 1].split("&").map(&:to_i)
      header = step && cases[number][step]
      header ? Reply.new(200, {"Set-Cookie" => header}, "") : 200
    end
    carts = seen.select { |request| request.path.start_with?("/shop/cart") }.to_h { |request| [request.path[/\d+/].to_i, request.headers["Cookie"]] }
    cases.each_index.map { |number| carts.fetch(number) }
  end

  test "cookies are kept as RFC 6265 says, but for whom they are for" do
    cases = {
      ["a=1"] => "a=1", ["a=1; path=/", "b=2; Path=/shop"] => "b=2; a=1", ["a=1; path=/", "a=2; path=/"] => "a=2",
      ["b=2; path=/shop", "a=1; path=/"] => "b=2; a=1", ["b=2; path=/", "a=1; path=/"] => "b=2; a=1",
      [" a = 1 2 ;HttpOnly; Secure; Domain=example.org; SameSite=Strict; path=/"] => "a=1 2", ["a=x=y; path=/"] => "a=x=y", [%(a="q"; path=/)] => %(a="q"),
      ["a=; path=/"] => "a=", ["=1; path=/"] => nil, ["nothing; path=/"] => nil, [";"] => nil, [""] => nil,
      ["a=1; path=/admin"] => nil, ["a=1; path=/sh"] => nil, ["a=1; path=/shop/cart"] => "a=1", ["a=1; path=relative"] => "a=1", ["a=1; path=/", "a=2; path=/shop"] => "a=2; a=1",
      ["a=1; path=/; Max-Age=60"] => "a=1", ["a=1; path=/", "a=; path=/; max-age=0"] => nil, ["a=1; path=/", "a=; path=/; Max-Age=-1"] => nil,
      ["a=1; path=/", "a=; path=/; expires=Thu, 01 Jan 1970 00:00:00 GMT"] => nil, ["a=1; path=/", "a=; path=/; expires=Thu, 01-Jan-1970 00:00:00 GMT"] => nil,
      ["a=1; path=/; expires=Tue, 31-Dec-67 00:00:00 GMT"] => "a=1", ["a=1; path=/; expires=Tue, 31 Dec 67 00:00:00 GMT"] => "a=1",
      ["a=1; path=/", "a=; path=/; expires=Wed, 01-Jan-20 00:00:00 GMT"] => nil,
      ["a=1; path=/; expires=Fri, 31 Dec 9999 23:59:59 GMT"] => "a=1", ["a=1; path=/; expires=whenever"] => "a=1",
      ["a=1; path=/", "a=2; path=/; max-age=9; expires=Thu, 01 Jan 1970 00:00:00 GMT"] => "a=2", ["a=1; path=/", "a=; path=/other; max-age=0"] => "a=1",
      ["a=1; path=/", "b=\x01; path=/"] => "a=1"
    }
    assert_equal cases, cases.keys.zip(cookies_after(cases.keys)).to_h
  end

  test "a cookie without a path is for what stands beside the page that gave it" do
    assert_equal [nil], cookies_after([["a=1"]], path: "/admin/login/from/shop/cart")
    assert_equal ["a=1"], cookies_after([["a=1"]], path: "/login")
  end

  test "a Cookie header that is written in the file stands instead of the jar" do
    seen, = sent("setup GET /a\nGET / header:cookie=own=1", duration_s: 0.02) { Reply.new(200, {"Set-Cookie" => "a=1"}, "") }
    assert_equal({"cookie" => "own=1"}, seen.last.headers.except("Host"))
  end

  test "cookies beyond what a jar takes are left out, and that is remarked" do
    seen, outcome = sent("setup GET /a\nGET /", duration_s: 0.02) { |request| Reply.new(200, (request.path == "/a") ? {"Set-Cookie" => "a=1; path=/"} : {"Set-Cookie" => "big=#{"x" * 17_000}"}, "") }
    assert_equal ["a=1"], seen.drop(1).map { |request| request.headers["Cookie"] }.uniq
    assert_match(/cookies were not kept, as a connection's take 16 KiB at most/, outcome.remarks.join)
    many = Array.new(40) { |number| "c#{number}=#{"x" * 500}; path=/" }
    seen, = sent("#{"setup GET /a\n" * 40}GET /", duration_s: 0.02) { Reply.new(200, {"Set-Cookie" => many.shift || "last=1; max-age=0"}, "") }
    assert_includes 15_000..16_384, seen.last.headers["Cookie"].bytesize
  end

  # @return [String, nil] what is picked from such an answer; nil where nothing is
  def picked(source, body, headers = {})
    text = "setup GET /a 'pick:it=#{source}'\nGET /got header:X-It={{it}}"
    seen, = sent(text, duration_s: 0.02) { |request| (request.path == "/a") ? Reply.new(200, headers, body) : 200 }
    seen.last.headers.fetch("X-It")
  rescue PumaTuner::InvalidMeasurement => error
    assert_match(/has nothing for pick:it=/, error.message)
    nil
  end

  test "a value is picked from an element by its name, however it is written" do
    {
      '<meta name="csrf-token" content="abc" />' => "abc", "<META content='a\"c' NAME=csrf-token>" => 'a"c', "<meta name=csrf-token content=abc>" => "abc",
      %(<meta\n  name = "csrf-token"\n\tcontent = "abc">) => "abc", '<meta name="csrf-param" content="no"><meta name="csrf-token" content="abc">' => "abc",
      '<metadata name="csrf-token" content="no"><meta/name="csrf-token" content="abc">' => "abc", '<meta name="csrf-token" content="a&amp;b&#39;c&#x2B;d&quot;&lt;&gt;&bogus;&#;&">' => %q(a&b'c+d"<>&bogus;&#;&),
      '<meta name="csrf-token">' => nil, '<meta name="csrf-token" content="">' => nil, '<meta name="csrf-tokens" content="no">' => nil, '<meta name="csrf-token" content="abc' => "abc", "<meta" => nil, "" => nil,
      "<meta name=\"csrf-token\" content=\"#{"x" * 4_097}\">" => nil, "<meta name=\"csrf-token\" content=\"#{"x" * 4_096}\">" => "x" * 4_096, "<meta name=\"csrf-token\" content=\"a\nb\">" => nil, '<meta name="csrf-token" content="a&#13;&#10;X: b">' => nil,
      "#{"<p>" * 20_000}<meta name=\"csrf-token\" content=\"far\">" => "far"
    }.each { |body, wanted| wanted ? assert_equal(wanted, picked("meta:csrf-token", body), body[0, 80]) : assert_nil(picked("meta:csrf-token", body), body[0, 80]) }
    assert_equal "abc", picked("input:user[token]", '<form><input value="no" name="user[name]"><input type="hidden" name="user[token]" value="abc" autocomplete="off" />')
  end

  test "a value is picked from JSON by the names that lead to it" do
    body = '{"a": "no", "data": {"list": [1, {"token": "no"}, {"x": [[{}]], "token": "a\"\u00e9\ud83d\ude00/b", "n": -1.5e3, "t": true, "z": null}]}}'
    {"data.list.2.token" => "a\"é😀/b", "data.list.2.n" => "-1.5e3", "data.list.2.t" => "true", "data.list.0" => "1", "a" => "no",
     "data.list.2.z" => nil, "data.list.2" => nil, "data" => nil, "data.list.3.token" => nil, "data.list.x" => nil, "b" => nil, "data.list.2.token.more" => nil, "." => nil, "data." => nil}.each do |key, wanted|
      value = picked("json:#{key}", body)
      wanted ? assert_equal(wanted, value.dup.force_encoding("UTF-8"), key) : assert_nil(value, key)
    end
    ["", "{", "[", "{\"a\"", "{\"a\":", "{\"a\":\"", "{\"a\":\"\\", "{\"a\":\"\\u12", "{\"a\":\"\\ud800\"}", "{\"a\":\"\\q\"}", "nonsense", "}{", "[{\"a\":1}]", "{a:1}"].each { |odd| assert_nil picked("json:a", odd), odd }
  end

  test "a value is picked from a header, and from a cookie that was given by any answer" do
    assert_equal "abc", picked("header:x-csrf-token", "", {"X-CSRF-Token" => " abc "})
    assert_nil picked("header:x-csrf", "X-CSRF: no", {"X-CSRF-Token" => "abc"})
    assert_equal "a%2Fb", picked("cookie:XSRF-TOKEN", "", {"Set-Cookie" => "XSRF-TOKEN=a%2Fb; path=/"})
    assert_nil picked("cookie:XSRF-TOKEN", "")
  end

  test "what is picked is encoded in a path and in a form, and stands as it is elsewhere" do
    form = "header:Content-Type=application/x-www-form-urlencoded;charset=utf-8"
    lines = ["setup GET /a pick:t=meta:t", "POST /{{t}}?q={{t}} header:X-T={{t}} body:{{t}}", "POST /form #{form} body:t={{t}}&u={{t}}"]
    seen, outcome = sent(lines.join("\n")) { Reply.new(200, {}, "<meta name=t content='a+/ =\"&amp;é'>") }
    assert_nil outcome.complaint
    raw, encoded = "a+/ =\"&é", "a%2B%2F%20%3D%22%26%C3%A9"
    plain, form = seen.drop(1).partition { |request| request.path != "/form" }.map(&:first)
    assert_equal ["/#{encoded}?q=#{encoded}", raw, raw], [plain.path, plain.headers["X-T"], plain.body].map { |text| text.dup.force_encoding("UTF-8") }
    assert_equal "t=#{encoded}&u=#{encoded}", form.body
  end

  test "columns that no set-up line uses are taken row by row" do
    seen, = sent("setup GET /{{user}}\nGET /{{user}}/{{page}}", data: "user,page\nada,1\nada,2\nada,3\n") { 200 }
    assert_equal %w[/ada/1 /ada/2 /ada/3], seen.drop(1).map(&:path).uniq.sort
  end

  # By chance: answers with a few bytes that are others, or are not there. What comes of each is no matter; the generator
  # goes on, and says how it ended.
  test "answers that are anything at all harm nobody" do
    random, lock = Random.new(7), Mutex.new
    heads = ["a=1; path=/; expires=Thu, 01-Jan-1970 00:00:00 GMT; max-age=1", "b=#{"x" * 300}; path=/p", "c=; domain=; =; ;;"]
    body = %(<meta name="t" content="a&amp;&#x2b;b"><input value=1 name=t>{"t": [{"u": "\\ud83d\\ude00\\n"}, 1e5]})
    odd = lambda do
      copies = [body, heads.sample(random:)].map(&:b)
      copies.each { |copy| random.rand(6).times { copy[random.rand(copy.size)] = ["", random.rand(256).chr, "<", "\"", "\\u", ";", "=", "&#"].sample(random:).b } }
      Reply.new(200, {"Set-Cookie" => copies.last.tr("\r\n", "  ")}, copies.first)
    end
    lines = ["setup GET / pick:m=meta:t pick:i=input:t", *%w[meta:t input:t].flat_map { |source| ["GET /#{source[0]}?{{m}} pick:m=#{source}", "POST /p body:{{i}} pick:i=#{source}"] }]
    seen_count = 0
    error = assert_raises(PumaTuner::InvalidMeasurement) do
      sent(lines.join("\n"), duration_s: 1, connections_count: 2) do
        lock.synchronize do
          seen_count += 1
          (seen_count <= 2) ? Reply.new(200, {}, body) : odd.call
        end
      end
    end
    assert_match(/have nothing for pick:/, error.message)
    assert_operator seen_count, :>, 100
  end
end
