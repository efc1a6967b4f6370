# frozen_string_literal: true

require "test_helper"
require "json"
require_relative "scripted_server"

# Responses that are quick and right by their status, and not the app's.
class NativeDoubtsTest < TunerTest
  Load = PumaTuner::Load
  Request = Load::Request

  # What is doubted is what comes back, and not how quickly: without a rest each load here would take a core and more for as long as it lasts.
  UNHURRIED = Load::Arrivals.closed(think_ns: 2_000_000)

  def reply(status, body = "", **headers) = ScriptedServer::Reply.new(status, headers.transform_keys(&:to_s), body)

  def send_load(*requests, duration_s: 0.2, arrivals: UNHURRIED, connections_count: 4, &answer)
    ScriptedServer.serve(->(received, _) { answer.call(received.path) }) do |server|
      Load::Native.new.run(mix: Load::Mix.new(requests:), url_base: server.url, connections_count:, duration_s:, seed: 1, arrivals:)
    end
  end

  def refused(...) = assert_raises(PumaTuner::InvalidMeasurement) { send_load(...) }.message

  def gets(*paths) = paths.map { |path| Request.new(path:) }

  test "a load of redirects is refused, with where they lead and what helps" do
    [Load::Arrivals.closed, Load::Arrivals.open(100)].each do |arrivals|
      message = refused(*gets("/issues", "/projects", "/"), arrivals:) do |path|
        (path == "/") ? reply(200, "home") : reply(302, Location: "/login?back=#{path}")
      end
      assert_match(%r{\Amost responses are redirects to /login \(302\): this would measure the redirect}, message)
      assert_match(/, not the app\. Behind a login, sign in with setup lines, or send a session cookie/, message)
      assert_match(/list the status with expect:302 if it is meant/, message)
      refute_match(/elsewhere|back=/, message)
    end
  end

  test "the first request of the mix that went wrong is named, without what is in its query" do
    requests = [*gets("/", "/articles/7?token=s3cret"), Request.new(path: "/broken", http_method: "POST", expected_text: "thanks")]
    outcome = send_load(*requests) { |path| path.start_with?("/articles") ? reply(500) : reply(200) }
    assert_equal "GET /articles/:id, 500", outcome.first_unexpected
    assert_match(%r{unexpected status \(200: \d+, 500: \d+\), such as GET /articles/:id, 500\z}, outcome.complaint)
    without = send_load(*requests) { reply(200) }
    assert_match(%r{did not contain the expected text, such as POST /broken, 200\z}, without.complaint)
    assert_equal [nil, without.first_unexpected], [send_load(*gets("/")) { reply(200) }, send_load(*gets("/")) { reply(200) } + without].map(&:first_unexpected)
  end

  test "a redirect to the server's own address is told by its path, others as they are, the weightiest first" do
    home = nil
    redirect = lambda do |received, _|
      next reply(301, Location: "#{home}/login") if received.path == "/a"
      reply(303, location: "/two\tand\xFFmore".b)
    end
    ScriptedServer.serve(redirect) do |server|
      home = server.url
      requests = [Request.new(path: "/b"), Request.new(path: "/a", weight: 2)]
      error = assert_raises(PumaTuner::InvalidMeasurement) do
        Load::Native.new.run(mix: Load::Mix.new(requests:), url_base: home, connections_count: 2, duration_s: 0.2, seed: 1)
      end
      assert_match(%r{redirects to /login and elsewhere \(301, 303\)}, error.message)
    end
    assert_match(%r{redirects to /two \(303\)}, refused(*gets("/b")) { reply(303, location: "/two\tand\xFFmore".b) })
    assert_match(%r{redirects to nowhere \(307\)}, refused(*gets("/b")) { reply(307) })
    long = refused(*gets("/b")) { reply(308, Location: "/#{"x" * 5_000}") }
    assert_match(%r{redirects to /:id \(308\)}, long)
  end

  test "an app that wants TLS is told apart from a login" do
    assert_match(%r{redirects to https://app\.example/ \(301\).*X-Forwarded-Proto=https}, refused(*gets("/")) { reply(301, Location: "https://app.example/") })
  end

  # The test's own time limit would end a load that goes on.
  test "it is seen at the load's beginning, however long that is to take" do
    assert_match(/redirects/, refused(*gets("/"), duration_s: 600) { sleep(0.01) && reply(302, Location: "/login") })
  end

  test "a redirect that is listed is meant; one beside it is not" do
    meant = Request.new(path: "/old", expected_statuses: [302])
    assert_nil send_load(meant) { reply(302, Location: "/new") }.complaint
    assert_nil send_load(meant, *gets("/new")) { |path| (path == "/old") ? reply(302, Location: "/new") : reply(200, "new") }.complaint
    assert_match(%r{to /login}, refused(meant, *gets("/a", "/b", "/c")) { |path| reply(302, Location: (path == "/old") ? "/new" : "/login") })
  end

  test "redirects of less than half of the mix, by weight, are remarked, and others not" do
    requests = [Request.new(path: "/a", weight: 3), Request.new(path: "/b", weight: 2)]
    part = send_load(*requests) { |path| (path == "/b") ? reply(302, Location: "/login") : reply(200, "fine") }
    assert_nil part.complaint
    assert_match(%r{\AGET /b of the mix: redirected to /login\. That is quick}, part.remarks.first)
    assert_empty send_load(*requests) { |path| reply((path == "/b") ? 304 : 200, "") }.remarks
    assert_empty send_load(*gets("/a", "/b")) { reply(300, Location: "/login") }.remarks
  end

  test "three paths with the same few bytes are remarked" do
    remarks = send_load(*gets("/a", "/b?x=1", "/c")) { reply(200, "Sorry!") }.remarks
    assert_match(/\A3 different paths are all answered with status 200 and 6 bytes: is that the app/, remarks.first)
  end

  test "responses that may well be alike are not remarked" do
    sorry = ->(_) { reply(200, "Sorry!") }
    {
      "two paths" => [gets("/a", "/b"), sorry], "one with other queries" => [gets("/a?1", "/a?2", "/a?3"), sorry],
      "a length of its own" => [gets("/a", "/b", "/cc"), ->(path) { reply(200, "x#{path}") }],
      "a status of its own" => [gets("/a", "/b", "/c"), ->(path) { reply((path == "/c") ? 201 : 200, "Sorry!") }],
      "pages" => [gets("/a", "/b", "/c"), ->(_) { reply(200, "x" * 513) }],
      "texts that were looked for" => [%w[/a /b /c].map { |path| Request.new(path:, expected_text: "Sorry") }, sorry],
      "no GET" => [%w[/a /b /c].map { |path| Request.new(path:, http_method: "POST", body: "x") }, sorry]
    }.each { |what, (requests, answer)| assert_empty send_load(*requests, &answer).remarks, what }
  end

  test "two loads in a row have each remark once" do
    outcome = send_load(*gets("/a", "/b", "/c")) { reply(200, "Sorry!") }
    assert_equal outcome.remarks, (outcome + outcome).remarks
    assert_equal outcome, Load::Outcome.from_document(JSON.parse(JSON.generate(outcome.to_document)))
  end
end
