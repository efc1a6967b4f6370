# frozen_string_literal: true

require "test_helper"
require "support/other_builds"

# The tests of the generator once more, by poll: as it is on systems without epoll. In a process of its own, as each file of tests is,
# which has that build before anybody asks for the usual one.
POLL_BUILD = OtherBuilds.make("ext/puma_tuner_load", "--enable-poll")
PumaTuner.const_get(:Load) # else the extension would define another
require POLL_BUILD

require_relative "native_doubts_test"
require_relative "native_test"
require_relative "set_up_test"

class PollTest < TunerTest
  kind :integration

  test "the generator waits by poll, and its children get the build that does" do
    assert_nil PumaTuner::Load::Native.why_not
    assert_equal "poll", PumaTuner::Load::Loop::EVENTS_BY
    assert_equal [POLL_BUILD], $LOADED_FEATURES.grep(/puma_tuner_load\.#{RbConfig::CONFIG["DLEXT"]}\z/)
  end
  # By edges it is told once; poll would tell it again and again.
  test "bytes that a server sends unasked, and a response that comes while the request is still being sent, keep no core busy" do
    outcome = load_of(think_ns: 10_000_000_000) do |socket|
      socket.readpartial(4_096)
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
      sleep(0.05)
      socket.write("unasked")
      sleep
    end
    assert_equal 1, outcome.connections_made_count
    assert_operator outcome.generator_cpu_ns, :<, outcome.duration_ns / 10
    outcome = load_of(body: "x" * (32 << 20)) do |socket|
      socket.readpartial(1)
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
      sleep
    end
    assert_operator outcome.generator_cpu_ns, :<, outcome.duration_ns / 10
  end

  private

  # A second of one client, on a server that serves its connection by the block.
  def load_of(think_ns: 0, body: nil)
    listener = TCPServer.new("127.0.0.1", 0)
    serving = Thread.new { loop { Thread.new(listener.accept) { |socket| yield socket } } }
    mix = PumaTuner::Load::Mix.new(requests: [PumaTuner::Load::Request.new(path: "/", **(body ? {http_method: "POST", body:} : {}))])
    PumaTuner::Load::Native.new(drain_s: 0.1, settling_limit_s: 0.1).run(mix:, url_base: "http://127.0.0.1:#{listener.local_address.ip_port}",
      connections_count: 1, duration_s: 1, seed: 1, arrivals: PumaTuner::Load::Arrivals.closed(think_ns:))
  ensure
    serving&.kill&.join
    listener&.close
  end
end
