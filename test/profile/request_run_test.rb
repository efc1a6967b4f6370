# frozen_string_literal: true

require "test_helper"
require "support/odd_server"
require "tmpdir"

# What a running server may answer, where it is not the one that was meant.
class ProfileRequestRunTest < TunerTest
  kind :integration

  include PumaTuner
  include OddServer

  def of_url(url, token: "t" * 16, limit_s: 5)
    settings = Probe::Profiling::Settings.new(profiler: "stackprof", mode: "cpu", interval_us: nil, folder: "/nowhere",
      scope: "request", token:, paths: [])
    Profile::RequestRun.new(profiler: Probe::Profilers.find("stackprof"), settings:, times: 1, limit_s:).of_url(url)
  end

  # @return [String] why it can't be used
  def failure(bytes, error = MeasurementFailed, **)
    answering(bytes, **) { |url| assert_raises(error) { of_url(url, limit_s: 0.2) }.message }
  end

  def told(path) = "HTTP/1.1 200 OK\r\nX-Puma-Tuner-Profile: #{path}\r\nContent-Length: 0\r\n\r\n"

  test "a server that speaks no HTTP, or half of it, is told as such" do
    ["SSH-2.0-x\r\n", "HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\nx", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nnot packed", "HTTP/1.1 200 OK\r\nX-A: b\rc\r\n\r\n"].each do |bytes|
      assert_match(%r{http://127\.0\.0\.1:\d+/x responded with what is no HTTP \(.+\)\. Check that the app's server}, failure(bytes))
    end
    assert_operator failure("x" * 100_000 + "\r\n").size, :<, 500
    assert_match(/Check that a server is listening there/, failure(""))
  end

  test "a response that comes byte by byte, and has no end, is given up" do
    assert_match(/Check that a server is listening there/, failure("HTTP/1.1 200 OK\r\n\r\n", endless: "x", rest_s: 0.02))
  end

  test "a path of no file is refused, and what can't be one does not go into a terminal" do
    assert_match(%r{the profile is in /nowhere/é\.json of another machine}, failure(told("/nowhere/é.json"), UsageError))
    {"a\0b" => /its profile is in "a\\u0000b", which is no path/, "/a\e[31m" => /is in "\/a\\e\[31m", which/, "/a" * 5_000 => %r{is in "/a[/a]+…, which}}.each do |path, words|
      assert_match(words, failure(told(path)))
    end
    assert_match(%r{the profile is in /\S+ of another}, failure(told("/\xFF"), UsageError))
    assert_match(/responded without a profile/, failure("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
  end

  test "an address without a host, and a token that no header can hold, are told before anything is sent" do
    ["http:", "http:/x", "ftp://a", "http://"].each do |url|
      assert_match(/is not an http:/, assert_raises(UsageError) { of_url(url) }.message)
    end
    assert_match(/--token/, assert_raises(UsageError) { of_url("http://127.0.0.1:1/", token: "t" * 16 + "\r\nX: y") }.message)
  end
end
