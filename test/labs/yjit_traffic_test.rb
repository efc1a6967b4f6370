# frozen_string_literal: true

require "test_helper"
require "json"
require "net/http"
require "support/command_line"
require "tmpdir"

# Lab 03: what its services are sent, and whether they answer it as expected.
class YjitTrafficTest < TunerTest
  include PumaTuner
  include CommandLine

  ENDPOINTS = ["POST /token", "GET /things/{thing}", "GET /things?page={page}", "GET /up"].freeze
  VALUES = {"thing" => [11, 12, 13], "page" => [1, 2]}.freeze

  def setup
    @lab = Lab.find("yjit")
  end

  def log(**) = Labs::SyntheticLog.new(ENDPOINTS, VALUES, **)

  # @yieldparam folder [String] of a service that needs nothing installed
  def with_service
    Dir.mktmpdir do |folder|
      File.write(File.join(folder, "endpoints.txt"), ["# the most frequent first", *ENDPOINTS].join("\n"))
      File.write(File.join(folder, "bodies.txt"), "3 POST /token header:Content-Type=text/plain body:good expect:200\n1 POST /token body:bad expect:401\n")
      File.write(File.join(folder, "values.json"), JSON.generate(VALUES))
      yield folder
    end
  end

  test "the log is by Zipf's law, the same for the same seed, and understood line by line" do
    lines = log.lines(5_000)
    assert_equal lines, log.lines(5_000)
    refute_equal lines, log(seed: 4).lines(5_000)
    entries = lines.map { |line| AccessLog::Combined.entry(line) }
    refute_includes entries, nil
    counts = entries.map { |entry| entry.target[/\A[^?]*/].sub(/\d+\z/, "N") + entry.target[/\?/].to_s }.tally.values_at("/token", "/things/N", "/things?", "/up")
    counts.zip([1, 2, 3, 4]).each { |count, rank| assert_in_delta 5_000 / (25 / 12.0) / rank, count, 150 }
  end

  test "few kinds of requests are the most frequent ones, headers and bodies are what no log tells" do
    with_service do |folder|
      traffic = Labs::YjitTraffic.new(folder, folder, headers: {"Authorization" => "Bearer a"})
      assert_equal 4, traffic.kinds_count
      few = traffic.mix(2).requests
      assert_equal ["GET /things/{{things_id}}", "POST /token", "POST /token"], few.map { |request| "#{request.http_method} #{request.path}" }
      assert_equal [{"Authorization" => "Bearer a"}, {"Content-Type" => "text/plain"}, {}], few.map(&:headers)
      assert_equal [[200], [200], [401]], few.map(&:expected_statuses)
      assert_in_delta 3, few[1].weight.fdiv(few[2].weight), 0.1
      assert_equal 5, traffic.mix(4).requests.size
      assert_equal %w[things_id page], traffic.mix(4).data.columns
    end
  end

  test "the same comes of the log by the command" do
    with_service do |folder|
      File.write(File.join(folder, "access.log"), Labs::SyntheticLog.of(folder, folder).lines.join("\n"))
      result = puma_tuner("requests", "--from", "access.log", "--keep-values", "--top", "3", folder:)
      assert_equal 0, result.code, result.err
      by_hand = Load::Mix.read(File.join(folder, "tmp/puma_tuner/requests.txt"), data_path: File.join(folder, "tmp/puma_tuner/requests.csv")).requests.map { |request| [request.weight, request.path] }
      # Without POST, whose bodies the command cannot know, the next kind is the third.
      ours = Labs::YjitTraffic.new(folder, folder, headers: {}).mix(4).requests.select { |request| request.http_method == "GET" }
      assert_equal by_hand.map(&:last), ours.map(&:path)
      assert_in_delta by_hand[0][0].fdiv(by_hand[1][0]), ours[0].weight.fdiv(ours[1].weight), 0.02
    end
  end

  test "a POST that nobody has written a body for is our mistake, and told" do
    with_service do |folder|
      File.write(File.join(folder, "bodies.txt"), "# none\n")
      assert_match(%r{no POST /token}, assert_raises(InvariantError) { Labs::YjitTraffic.new(folder, folder, headers: {}).mix(4) }.message)
    end
  end

  %w[oauth shop_api].each do |name|
    test "every kind of request is answered as expected by #{name}" do
      service = @lab.class::SERVICES.find { |one| one.name == name }
      skip "it is not set up: puma_tuner lab setup yjit" unless service.ready?
      mix = service.traffic.mix(service.kinds_count)
      assert_equal service.kinds_count, service.traffic.kinds_count
      asked = 0
      serving(service) do |http|
        mix.requests.each { |request| asked += answered_as_expected(http, request, mix) }
      end
      assert_operator asked, :>=, mix.requests.size
    end
  end

  test "what the shop's load leaves out is answered as expected, too, and comes early in the log" do
    service = @lab.class::SHOP
    skip "it is not set up: puma_tuner lab setup yjit" unless service.ready?
    mix = service.traffic(whole: true).mix(service.kinds_count(whole: true))
    assert_equal 5, service.kinds_count(whole: true) - service.kinds_count
    more = mix.requests.map(&:path) - service.traffic.mix(service.kinds_count).requests.map(&:path)
    assert_operator more.size, :>=, 2, "some have the path of a kind that was asked for before, with other values"
    serving(service) { |http| mix.requests.each { |request| answered_as_expected(http, request, mix) } }
  end

  def answered_as_expected(http, request, mix)
    mix.filled(request, 1).first(2).each { |one|
      answer = http.send_request(one.http_method, one.path, one.body, one.headers)
      assert one.expects?(answer.code.to_i), "#{one.http_method} #{one.path}: #{answer.code} #{answer.body.to_s[0, 200]}"
      assert_includes answer.body, one.expected_text if one.expected_text
    }.size
  end

  def serving(service)
    address = URI(self.class.server_of(service, @lab).url)
    Net::HTTP.start(address.host, address.port, read_timeout: 30) { |http| yield http }
  end

  # One for all tests, as the shop takes many seconds to boot; it ends with this process.
  #
  # @return [PumaTuner::Host::ServerProcess]
  def self.server_of(service, lab)
    (@servers ||= {})[service.name] ||= begin
      variant = Prove::Variant.new(name: "service", factors: {**service.factors, "topology" => "1x3", "yjit" => "off"})
      ready = Lab::ServedCommands.new(folder: Lab.folder_of(lab), variants: [variant], out: ->(_) { File::NULL }).call(variant)
      server = Host::ServerProcess.new(ready.command, topology: ready.topology)
      Minitest.after_run { server.stop }
      server.tap(&:start)
    end
  end
end
