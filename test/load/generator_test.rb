# frozen_string_literal: true

require "test_helper"

class GeneratorTest < TunerTest
  Load = PumaTuner::Load

  # Keeps what it was told to send.
  class Recording < Load::Generator
    attr_reader :sent
    attr_accessor :why_not

    def name = "recording 1"

    Outcome = Data.define(:url, :seed, :think_ns)

    private

    def send_load(**sent)
      @sent = sent
      Outcome.new(url: nil, seed: nil, think_ns: nil)
    end
  end

  def run_against(url, generator: Recording.new, connections_count: 1, duration_s: 1, **)
    generator.run(mix: Load::Mix.of_paths(["/"]), url_base: url, connections_count:, duration_s:, seed: 1, **)
    generator.sent
  end

  test "sends to this machine" do
    %w[http://127.0.0.1:80 http://127.1.2.3:80/ http://localhost:80 http://[::1]:80].each do |url|
      assert_equal url.delete_suffix("/"), run_against(url)[:url_base]
    end
  end

  test "sends to nobody else" do
    ["http://10.0.0.1:80", "http://example.org", "http://localhost.example.org", "https://127.0.0.1:80", "http://127.0.0.1:80/path",
      "http://0.0.0.0:80", "127.0.0.1:80", "not a url", "mailto:x", ""].each do |url|
      error = assert_raises(PumaTuner::UsageError, url) { run_against(url) }
      assert_match(/give .*http:\/\/127\.0\.0\.1:9292/, error.message)
    end
  end

  test "sends to another machine when that is said, and still only what is a plain address" do
    assert_equal "http://10.0.0.1:80", run_against("http://10.0.0.1:80", anywhere: true)[:url_base]
    ["https://10.0.0.1", "http://10.0.0.1/path", "http://user@10.0.0.1", "http://10.0.0.1?a=b", "not a url", "mailto:x", "http:"].each do |url|
      assert_raises(PumaTuner::UsageError, url) { run_against(url, anywhere: true) }
    end
  end

  test "says what is missing before it sends" do
    generator = Recording.new
    generator.why_not = "it is not installed; install it"
    refute_predicate generator, :available?
    error = assert_raises(PumaTuner::LoadToolFailed) { run_against("http://127.0.0.1:80", generator:) }
    assert_equal "it is not installed; install it", error.message
    assert_nil generator.sent
  end

  test "refuses a load that is none" do
    assert_raises(PumaTuner::UsageError) { run_against("http://127.0.0.1:80", connections_count: 0) }
    assert_raises(PumaTuner::UsageError) { run_against("http://127.0.0.1:80", duration_s: 0) }
  end

  test "is sent through traffic" do
    generator = Recording.new
    traffic = Load::Traffic.new(mix: Load::Mix.of_paths(["/"]), generator:, connections_count: 3, seed: 9)
    traffic.ensure_generator.send_to("http://127.0.0.1:80", duration_s: 2)
    sent = {mix: traffic.mix, url_base: "http://127.0.0.1:80", connections_count: 3, duration_s: 2, seed: 9,
            arrivals: Load::Arrivals.closed}
    assert_equal sent, generator.sent
    assert_equal "recording 1", traffic.generator_name
  end
end
