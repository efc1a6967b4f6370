# frozen_string_literal: true

require "test_helper"
require "tmpdir"
require_relative "scripted_server"

class NativeTest < TunerTest
  Load = PumaTuner::Load
  Request = Load::Request

  def setup
    flunk Load::Native.why_not if Load::Native.why_not
  end

  def run_native(url, *requests, arrivals: Load::Arrivals.closed, connections_count: 4, duration_s: 1, generator: Load::Native.new, data: nil)
    requests = [Request.new(path: "/")] if requests.empty?
    generator.run(mix: Load::Mix.new(requests:, data:), url_base: url, connections_count:, duration_s:, seed: 1, arrivals:)
  end

  # A response as it goes over the wire, to whoever asks; the connection ends with it.
  def with_bytes(*parts)
    listener = TCPServer.new("127.0.0.1", 0)
    serving = Thread.new do
      loop do
        socket = listener.accept
        socket.setsockopt(:TCP, :NODELAY, true)
        socket.readpartial(4_096)
        parts.each { |part| socket.write(part) && (sleep(0.002) if parts.size > 1) }
        socket.close
      rescue SystemCallError, EOFError
        nil
      end
    end
    yield "http://127.0.0.1:#{listener.local_address.ip_port}"
  ensure
    serving&.kill&.join
    listener&.close
  end

  def answer_all(socket)
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") while socket.readpartial(4_096)
  rescue EOFError
    socket.close
  end

  # @return [Array<Hash{Symbol => Integer}>] every response, of a raw file
  def answers(path)
    names = %i[request intended_ns sent_ns answered_ns status body_bytes]
    File.readlines(path).drop(1).map { |line| names.zip(line.split(",").map(&:to_i)).to_h }
  end

  # @return [Integer] how long the slowest of these took, from when it was to be sent
  def longest_ns(answers) = answers.map { |answer| answer[:answered_ns] - answer[:intended_ns] }.max

  # Little's law, up to what was under way at the two ends: of each client as much as the longest response took.
  def assert_obeys_littles_law(clients_count, outcome, think_s: 0)
    in_flight = outcome.throughput_per_s * (outcome.mean_ns / 1e9 + think_s)
    ends = clients_count * (outcome.max_ns / 1e9 + think_s) / (outcome.duration_ns / 1e9)
    # Less, too, by the generator's own way from a response to the next request.
    assert_includes (clients_count * 0.75 - ends)..(clients_count * 1.01 + ends), in_flight
    ends
  end

  test "tells the truth about a server that stands still" do
    result = Load::SelfTest.new.call
    # Once more only if the machine kept one of the two from its core, which both tell themselves.
    if !result.right? && result.disturbed.any?
      warn "the self-test is run again: #{result.disturbed}"
      result = Load::SelfTest.new.call
    end
    assert_equal [1_200, 1_200], [result.intended_count, result.answered_count]
    # Wrong by no more than generator and server were late, which they tell when it is of note.
    late_ns = result.disturbed.any? ? result.lag_p99_ns + result.server_late_ns : 0
    result.lines.each do |line|
      allowed_ns = [line.true_ns * 0.02, 1_000_000].max + late_ns
      assert_in_delta line.true_ns, line.reported_ns, allowed_ns, "#{line.name}; #{result.disturbed}"
    end
    assert result.right? || result.disturbed.any?
  end

  test "a closed loop obeys Little's law" do
    outcome = ScriptedServer.serve(->(*) { sleep(0.005) && 200 }) { |server| run_native(server.url) }
    assert_nil outcome.complaint
    assert_obeys_littles_law(4, outcome)
    assert_operator outcome.p50_ns, :>=, 5_000_000
    assert_operator outcome.max_ns, :>=, outcome.p99_ns * 63 / 64
    assert_operator outcome.requests_count, :>=, outcome.latency.count + 4
    assert_equal [1_000_000_000, 4], [outcome.duration_ns, outcome.connections_made_count]
  end

  # Ten clients, one of which is let in late: until then nine share the server, and each waits for less.
  def with_late_client(late_s)
    lock, first = Mutex.new, Queue.new.push(true)
    serve_one = ->(*) { lock.synchronize { sleep(0.004) } && 200 }
    answer = ->(request, number) { (number.zero? && first.pop(timeout: 0)) ? sleep(late_s) && 200 : serve_one.call(request, number) }
    ScriptedServer.serve(answer) { |server| yield server.url }
  end

  test "a closed loop is measured once each connection has had a response" do
    Dir.mktmpdir do |folder|
      path = File.join(folder, "raw.csv")
      outcome = with_late_client(0.5) { |url| run_native(url, connections_count: 10, duration_s: 0.4, generator: Load::Native.new(raw_path: path)) }
      assert_nil outcome.complaint
      assert_equal [0, 400_000_000], [outcome.unmet_count, outcome.duration_ns]
      assert_operator outcome.settling_ns, :>=, 500_000_000
      end_ns = outcome.settling_ns + outcome.duration_ns
      settling, after = answers(path).partition { |answer| answer[:answered_ns] <= outcome.settling_ns }
      counted, drained = after.partition { |answer| answer[:answered_ns] <= end_ns }
      assert_equal [counted.size, drained.size], [outcome.counted_count, outcome.drained_count]
      assert_operator outcome.drained_count, :>, 0
      assert_equal [settling.size + after.size] * 2, [outcome.requests_count, outcome.statuses.values.sum]
      # The late client's first response is none of those that count.
      assert_operator longest_ns(settling), :>=, 500_000_000
      assert_in_epsilon longest_ns(counted), outcome.max_ns, 2 * PumaTuner::Probe::Histogram::RELATIVE_ERROR
      assert_in_delta outcome.counted_count / 0.4, outcome.throughput_per_s, 1e-6
      assert_obeys_littles_law(10, outcome)
    end
  end

  test "a closed loop that does not settle is measured all the same, and says so" do
    generator = Load::Native.new(settling_limit_s: 0.3, drain_s: 0.1)
    began_s = monotonic_s
    outcome = with_late_client(TIME_LIMIT_S) { |url| run_native(url, connections_count: 10, duration_s: 0.3, generator:) }
    assert_equal [1, 300_000_000], [outcome.unmet_count, outcome.duration_ns]
    assert_includes 300_000_000..((monotonic_s - began_s) * 1e9 - outcome.duration_ns), outcome.settling_ns
    assert_obeys_littles_law(9, outcome)
    assert_match(/\d+ requests were never answered/, outcome.complaint)
  end

  test "two loads in a row are one: settling of both, and what each counted" do
    one, two = ScriptedServer.serve(->(*) { sleep(0.005) && 200 }) { |server| [0.2, 0.4].map { |duration_s| run_native(server.url, duration_s:) } }
    both = one + two
    assert_equal [one.settling_ns + two.settling_ns, 600_000_000, 0], [both.settling_ns, both.duration_ns, both.unmet_count]
    assert_equal one.counted_count + two.counted_count, both.counted_count
    assert_in_delta both.counted_count / 0.6, both.throughput_per_s, 1e-6
    assert_includes Range.new(*[one.mean_ns, two.mean_ns].minmax), both.mean_ns
  end

  test "what was under way at a closed loop's end is waited for: its statuses count, its latency does not" do
    late = Queue.new.push(true)
    answer = ->(_, number) { sleep(number * 0.3) && ((number.positive? && late.pop(timeout: 0)) ? 500 : 200) }
    outcome = ScriptedServer.serve(answer) { |server| run_native(server.url, duration_s: 0.2) }
    assert_equal [8, 4, 0, 0], outcome.to_h.values_at(:requests_count, :drained_count, :unanswered_count, :socket_errors_count)
    assert_equal({"200" => 7, "500" => 1}, outcome.statuses)
    assert_equal [1, 0], [outcome.unexpected_count, outcome.counted_count]
  end

  # As it is under one GVL: what is under way when the load ends is worked for, too, and CPU per
  # request is of all that the server worked for.
  test "a closed loop counts as many requests as the server has worked for, one after the other" do
    lock, served_count = Mutex.new, 0
    one_at_a_time = ->(*) { lock.synchronize { sleep(0.02) && (served_count += 1) } && 200 }
    outcome = ScriptedServer.serve(one_at_a_time) { |server| run_native(server.url, connections_count: 20, duration_s: 1) }
    assert_equal served_count, outcome.requests_count
    assert_operator outcome.drained_count, :>, 0, "nothing was under way"
  end

  test "a closed loop waits for a slow app as long as it goes on answering, up to a limit" do
    lock = Mutex.new
    slow = ->(*) { lock.synchronize { sleep(0.1) } && 200 }
    {10 => [0, nil], 0.5 => [5..20, /requests were never answered/]}.each do |drain_limit_s, (unanswered_count, said)|
      generator = Load::Native.new(settling_limit_s: 0.4, drain_s: 0.2, drain_limit_s:)
      outcome = ScriptedServer.serve(slow) { |server| run_native(server.url, connections_count: 20, duration_s: 0.4, generator:) }
      assert_operator unanswered_count, :===, outcome.unanswered_count
      assert_operator said, :===, outcome.complaint
    end
  end

  test "an app that has stopped answering is waited for no longer than a few of its longest latencies" do
    stuck = ->(_, number) { (number < 3) ? sleep(0.05) && 200 : sleep }
    began_s = monotonic_s
    outcome = ScriptedServer.serve(stuck) { |server| run_native(server.url, duration_s: 0.5, generator: Load::Native.new(drain_s: 0.1)) }
    assert_equal [12, 4], [outcome.requests_count, outcome.unanswered_count]
    assert_operator monotonic_s - began_s, :<, Load::Native::DRAIN_S
  end

  test "responses after the end of an open loop count in all figures" do
    outcome = ScriptedServer.serve(->(*) { sleep(0.2) && 200 }) do |server|
      run_native(server.url, arrivals: Load::Arrivals.open(100, kind: "even"), connections_count: 200, duration_s: 0.5)
    end
    assert_in_delta 20, outcome.drained_count, 5
    assert_equal outcome.requests_count, outcome.counted_count
    assert_equal outcome.drained_count * 2, (outcome + outcome).drained_count
  end

  test "a queue that grew to the end of an open loop is told, and a slow server's is not" do
    lock = Mutex.new
    {true => ->(*) { lock.synchronize { sleep(0.02) } && 200 }, false => ->(*) { sleep(0.1) && 200 }}.each do |behind, answer|
      outcome = ScriptedServer.serve(answer) { |server| run_native(server.url, arrivals: Load::Arrivals.open(200, kind: "even"), connections_count: 400, duration_s: 1) }
      assert_equal behind, outcome.fell_behind?, outcome.to_h.slice(:intended_count, :drained_count, :unanswered_count, :mean_ns).inspect
      said = PumaTuner::Report.render(outcome, format: :text).gsub(/\s+/, " ")
      assert_equal behind, said.match?(/requests that were due had no response: the server does not keep up with this rate/), said
    end
    outcome = ScriptedServer.serve(->(*) { sleep(0.02) && 200 }) { |server| run_native(server.url, arrivals: Load::Arrivals.open(200, kind: "even"), connections_count: 1, duration_s: 0.5) }
    assert_includes PumaTuner::Report.render(outcome, format: :text).gsub(/\s+/, " "), "the server, over at most 1 connection (--connections), does not keep up"
  end

  test "answers that come only while it settles are no figures" do
    outcome = ScriptedServer.serve(->(_, number) { sleep(number.zero? ? 0.01 : 0.5) && 200 }) { |server| run_native(server.url, duration_s: 0.2) }
    assert_equal [4, 4], [outcome.in_time_count, outcome.drained_count]
    assert_equal [8, 0, 0.0, nil, nil], [outcome.requests_count, outcome.counted_count, outcome.throughput_per_s, outcome.mean_ns, outcome.p50_ns]
    assert_equal "no request was answered within 200 ms after the first of each connection", outcome.complaint
  end

  test "clients of a closed loop think between two requests, and not all at once" do
    arrivals = Load::Arrivals.closed(think_ns: 100_000_000)
    outcome = ScriptedServer.serve(->(*) { 200 }) { |server| run_native(server.url, arrivals:, connections_count: 20) }
    assert_nil outcome.complaint
    assert_obeys_littles_law(20, outcome, think_s: 0.1)
    # Thinking as long as they do, they can't ask more often; some of them more, as they do not think equally long.
    assert_operator outcome.throughput_per_s, :<=, 1.25 * 20 / 0.1
  end

  test "an open loop sends at its rate, however slow the server is" do
    outcome = ScriptedServer.serve(->(*) { sleep(0.1) && 200 }) do |server|
      run_native(server.url, arrivals: Load::Arrivals.open(100, kind: "even"), connections_count: 200)
    end
    assert_in_delta 100, outcome.intended_count, 2
    assert_equal outcome.intended_count, outcome.requests_count
    assert_operator outcome.lag_p99_ns, :>, 0
    assert_equal outcome.intended_count, outcome.lag.count
  end

  test "throughput of an open loop is what the server did meanwhile, not what it answered afterwards" do
    Dir.mktmpdir do |folder|
      path = File.join(folder, "raw.csv")
      quick, slow = [0.002, 0.02].map do |seconds|
        outcome = ScriptedServer.serve(->(*) { sleep(seconds) && 200 }) do |server|
          run_native(server.url, arrivals: Load::Arrivals.open(100, kind: "even"), connections_count: 1, duration_s: 1,
            generator: Load::Native.new(raw_path: path))
        end
        assert_in_delta 100, outcome.requests_count, 2
        first_ns, *later_ns = answers(path).map { |answer| answer[:answered_ns] }.select { |ns| ns <= 1_000_000_000 }.sort
        assert_in_epsilon later_ns.size / (1 - first_ns / 1e9), outcome.throughput_per_s, 0.01
        assert_in_delta outcome.throughput_per_s, (outcome + outcome).throughput_per_s, 1e-6
        outcome
      end
      # 20 ms each, one after the other.
      assert_operator slow.throughput_per_s, :<=, 1.01 / 0.02
      assert_operator quick.throughput_per_s, :>, slow.throughput_per_s
    end
  end

  test "requests that find no connection wait for one, and their latency tells it" do
    outcome = ScriptedServer.serve(->(*) { sleep(0.05) && 200 }) do |server|
      run_native(server.url, arrivals: Load::Arrivals.open(100, kind: "even"), connections_count: 1, duration_s: 0.5)
    end
    assert_operator outcome.connection_wait_count, :>, 30
    assert_operator outcome.latency.quantile_ns(0.9), :>, outcome.service.quantile_ns(0.9) * 5
  end

  test "every request of an open loop is accounted for, whatever the server does" do
    troubles = ->(_, number) { (number == 0 && rand < 0.5) ? raise(Errno::EPIPE) : sleep(rand / 50) && 200 }
    {troubles => /broke or were refused.*closed before/, ->(*) { sleep(60) } => /no request was answered/}.each do |answer, said|
      outcome = ScriptedServer.serve(answer) do |server|
        run_native(server.url, arrivals: Load::Arrivals.open(300), connections_count: 20, duration_s: 0.5, generator: Load::Native.new(drain_s: 0.5))
      end
      assert_equal outcome.intended_count, outcome.requests_count + outcome.unanswered_count + outcome.socket_errors_count
      assert_match said, outcome.complaint
    end
  end

  # As in a container that is paused: what was due does not wait for whoever sends it.
  test "requests that were due while the generator stood still are sent when it goes on, be it after the end" do
    before = children
    outcome = ScriptedServer.serve(->(*) { 200 }) do |server|
      arrivals = Load::Arrivals.open(100, kind: "even")
      running = Thread.new { run_native(server.url, arrivals:, connections_count: 20, duration_s: 1.5) }
      wait_until("some responses") { server.latencies_ns.size > 20 }
      generator = (children - before).first
      Process.kill(:STOP, generator)
      sleep 1.6
      Process.kill(:CONT, generator)
      running.value
    end
    assert_nil outcome.complaint
    assert_in_delta 150, outcome.intended_count, 2
    assert_equal outcome.intended_count, outcome.requests_count
    assert_operator outcome.max_ns, :>=, 1_500_000_000
  end

  test "Poisson arrivals are the same with the same seed" do
    counts = Array.new(2) do
      ScriptedServer.serve(->(*) { 200 }) do |server|
        run_native(server.url, arrivals: Load::Arrivals.open(200), connections_count: 50, duration_s: 0.5).intended_count
      end
    end
    assert_equal 1, counts.uniq.size
    assert_in_delta 100, counts.first, 40
  end

  test "requests are due at the same instants with the same seed, whenever the server has connections made anew" do
    Dir.mktmpdir do |folder|
      due = [0.0, 0.02].map do |seconds|
        path = File.join(folder, "#{seconds}.csv")
        generator = Load::Native.new(raw_path: path)
        ScriptedServer.serve(->(*) { sleep(seconds) && 200 }) do |server|
          run_native(server.url, arrivals: Load::Arrivals.open(200, reuse: 1..3), connections_count: 50, duration_s: 0.5, generator:)
        end
        answers(path).map { |answer| answer[:intended_ns] }.sort
      end
      assert_equal(*due)
    end
  end

  test "connections are used as often as was said, and then made anew" do
    outcome = ScriptedServer.serve(->(*) { 200 }) do |server|
      run_native(server.url, arrivals: Load::Arrivals.open(200, kind: "even", reuse: 1..3), duration_s: 1)
    end
    assert_nil outcome.complaint
    assert_in_delta outcome.requests_count / 2.0, outcome.connections_made_count, outcome.requests_count * 0.15
  end

  test "a connection that the server closes between two requests costs a new one, and no complaint" do
    closing = ->(_, number) { (number == 3) ? raise(Errno::EPIPE) : 200 }
    [Load::Arrivals.closed, Load::Arrivals.open(200), Load::Arrivals.closed(think_ns: 10_000_000)].each do |arrivals|
      outcome = ScriptedServer.serve(closing) { |server| run_native(server.url, arrivals:, duration_s: 0.5) }
      assert_nil outcome.complaint, arrivals.to_s
      assert_operator outcome.connections_made_count, :>=, outcome.requests_count / 3, arrivals.to_s
      assert_match(/sent once more over a new connection, .*: [1-9]\d*\z/, outcome.remarks.join, arrivals.to_s)
    end
  end

  test "a kept connection that breaks while its request is worked on has broken, and the request is not sent again" do
    worked_on = Queue.new
    answer = ->(_, number) { number.zero? ? 200 : (worked_on << true) && sleep(0.5) && raise(Errno::EPIPE) }
    outcome = ScriptedServer.serve(answer) { |server| run_native(server.url, connections_count: 1, duration_s: 0.3) }
    assert_equal [1, 1, 1], [outcome.socket_errors_count, worked_on.size, outcome.connections_made_count]
    assert_match(/closed before the response was complete/, outcome.first_failure)
    assert_empty outcome.remarks
  end

  test "a request is not sent again when anything has come back, be it an interim response" do
    asked = Queue.new
    answer = lambda do |_, number|
      asked << number
      number.zero? ? 200 : "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
    end
    outcome = ScriptedServer.serve(answer) { |server| run_native(server.url, connections_count: 1, duration_s: 0.3) }
    assert_operator outcome.socket_errors_count, :>, 1
    assert_equal outcome.requests_count + outcome.socket_errors_count, asked.size
    assert_empty outcome.remarks
  end

  test "answers end where HTTP says so" do
    {
      ["HTTP/1.1 200 OK\r\n\r\nuntil the end"] => 13, ["HTTP/1.0 200 OK\r\n", "\r\nunt", "il the end"] => 13,
      ["HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Le", "ngth: 5\r\n\r\nhe", "llo"] => 5,
      ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\nA\r\n, wor", "ld!!!\r\n0\r\nTrailer: x\r\n\r\n"] => 15,
      ["HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"] => 0, ["HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"] => 0,
      ["HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\nContent-Length: 5 \r\n\r\nhello"] => 5,
      ["HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nContent-Length: 3\r\n\r\n", "until", " the end"] => 13,
      ["HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 5\r\n\r\nhello"] => 5
    }.each do |parts, length|
      with_bytes(*parts) do |url|
        outcome = run_native(url, connections_count: 1, duration_s: 0.2)
        assert_nil outcome.complaint, parts.inspect
        assert_equal [[length, length]], outcome.body_bytes_ranges, parts.inspect
      end
    end
  end

  test "a switch of protocols is a response, and what comes behind it is no HTTP" do
    with_bytes("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n\x81\x05hello".b) do |url|
      outcome = run_native(url, connections_count: 1, duration_s: 0.2)
      assert_match(/responses had an unexpected status \(101: \d+\)/, outcome.complaint)
    end
  end

  test "a connection is made anew where any line of a response says that it ends" do
    closing = ScriptedServer::Reply.new(200, {"Connection" => "close", "connection" => "x-hop"}, "ok")
    outcome = ScriptedServer.serve(->(*) { closing }) { |server| run_native(server.url, connections_count: 1, duration_s: 0.2) }
    assert_nil outcome.complaint
    assert_equal outcome.requests_count, outcome.connections_made_count
  end

  test "a response that comes before the server has read the request, and ends the connection, is one" do
    with_bytes("HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\nno\n") do |url|
      outcome = run_native(url, Request.new(path: "/up", http_method: "POST", body: "x" * 8_000_000, expected_statuses: [413]), connections_count: 1, duration_s: 0.3)
      assert_nil outcome.complaint
      assert_equal ["413"], outcome.statuses.keys
    end
  end

  test "a long response is read in several turns, and whole" do
    bytes = "x" * 50_000_000
    ScriptedServer.serve(->(*) { ScriptedServer::Reply.new(200, {}, bytes) }) do |server|
      outcome = run_native(server.url, connections_count: 2, duration_s: 0.3)
      assert_nil outcome.complaint
      assert_equal [[bytes.bytesize] * 2], outcome.body_bytes_ranges
    end
  end

  test "a response that is not HTTP, or is cut short, is an error" do
    [["SSH-2.0-OpenSSH\r\n\r\n"], ["HTTP/1.1 2x0 OK\r\n\r\n"], ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nmore than two"],
      ["HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nless"], ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"], [""],
      ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 5\r\n\r\nhello"], ["HTTP/1.1 200 OK\r\nContent-Length: 5x\r\n\r\nhello"],
      *["5\r\nhello!\r\n0\r\n\r\n", "\r\n\r\n", "0\r\n\r\n0\r\n\r\n"].map { |body| ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n#{body}"] }].each do |parts|
      with_bytes(*parts) do |url|
        outcome = run_native(url, connections_count: 1, duration_s: 0.1)
        assert_match(/no request was answered; the first to fail: (the response is not HTTP|closed before)/, outcome.complaint, parts.inspect)
      end
    end
  end

  test "a response whose head is too long to be read is told so, with the limit" do
    {"HTTP/1.1 200 OK\r\n" => /the response's head \(status line and headers\) is longer than 32 KiB/, "HTTP/2 200\r\n" => /the response is not HTTP/}.each do |first, said|
      with_bytes("#{first}X-Trace: #{"x" * 40_000}\r\nContent-Length: 2\r\n\r\nok") do |url|
        assert_match(/no request was answered; the first to fail: #{said}/, run_native(url, connections_count: 1, duration_s: 0.1).complaint)
      end
    end
    with_bytes("HTTP/1.1 200 OK\r\nX-Trace: #{"x" * 30_000}\r\nContent-Length: 2\r\n\r\nok") do |url|
      assert_operator run_native(url, connections_count: 1, duration_s: 0.1).requests_count, :>, 0
    end
  end

  test "responses are told apart by request" do
    by_path = ->(received, _) { (received.path == "/missing") ? 404 : 200 }
    ScriptedServer.serve(by_path) do |server|
      wrong = run_native(server.url, Request.new(path: "/", expected_statuses: [404]), Request.new(path: "/missing", expected_statuses: [404]), duration_s: 0.2)
      assert_equal wrong.statuses["200"], wrong.unexpected_count
      assert_match(/unexpected status/, wrong.complaint)
      right = run_native(server.url, Request.new(path: "/"), Request.new(path: "/missing", expected_statuses: [404]), duration_s: 0.2)
      assert_nil right.complaint
    end
  end

  test "a response must contain the text that is asked for" do
    long = "x" * 300_000
    answer = ->(received, _) { ScriptedServer::Reply.new(200, {}, (received.path == "/late") ? "#{long}Welcome" : "#{long}Sorry") }
    ScriptedServer.serve(answer) do |server|
      right = run_native(server.url, Request.new(path: "/late", expected_text: "Welcome"), Request.new(path: "/sorry"), duration_s: 0.3)
      assert_nil right.complaint
      wrong = run_native(server.url, Request.new(path: "/sorry", expected_text: "Welcome"), duration_s: 0.3)
      assert_equal [wrong.requests_count] * 2, [wrong.unexpected_count, wrong.wrong_body_count]
      assert_match(/did not contain the expected text/, wrong.complaint)
    end
  end

  test "HEAD's answer has no body, whatever its length says" do
    outcome = ScriptedServer.serve(->(*) { ScriptedServer::Reply.new(200, {"Content-Length" => "2000"}, "") }) do |server|
      run_native(server.url, Request.new(path: "/", http_method: "HEAD"), duration_s: 0.2)
    end
    assert_nil outcome.complaint
  end

  test "each request takes the next row of the data file, and begins again after the last" do
    rows = Array.new(7) { |number| {"id" => "a/#{number}", "name" => "é#{number}"} }
    data = Load::DataFile.new(path: "data.csv", columns: %w[id name], rows:)
    received = Queue.new
    outcome = ScriptedServer.serve(->(request, _) { received << request && 200 }) do |server|
      run_native(server.url, Request.new(path: "/items/{{id}}", http_method: "POST", body: "name={{name}}"), Request.new(path: "/plain"), data:,
        connections_count: 1, duration_s: 0.5)
    end
    all = Array.new(received.size) { received.pop }
    filled = all.select(&:body)
    assert_nil outcome.complaint
    assert_operator filled.size, :>, 14
    assert_includes all.map(&:path), "/plain"
    expected = rows.map { |row| ["/items/#{row["id"].sub("/", "%2F")}", "name=#{row["name"]}".b] }
    assert_equal expected.sort, filled.first(7).map { |request| [request.path, request.body.b] }.sort
    assert_equal filled.first(7).map(&:path), filled[7, 7].map(&:path)
    assert_equal [[2, 2], [2, 2]], outcome.body_bytes_ranges
  end

  test "refuses to prepare more than memory should hold" do
    data = Load::DataFile.new(path: "data.csv", columns: ["id"], rows: Array.new(300) { |number| {"id" => number.to_s} })
    error = assert_raises(PumaTuner::UsageError) { run_native("http://127.0.0.1:9", Request.new(path: "/{{id}}", body: "x" * 2**20), data:) }
    assert_match(/more than 256 MiB; use fewer rows/, error.message)
  end

  test "sends over a unix socket" do
    Dir.mktmpdir do |folder|
      path = File.join(folder, "it.sock")
      server = UNIXServer.new(path)
      serving = Thread.new { loop { Thread.new(server.accept) { |socket| answer_all(socket) } } }
      assert_nil run_native("unix://#{path}", duration_s: 0.3).complaint
      serving.kill.join
      server.close
      assert_match(/refused/, run_native("unix://#{path}", duration_s: 0.1).complaint)
    end
  end

  test "a unix socket whose backlog is full is tried again until it has room" do
    [Load::Arrivals.closed, Load::Arrivals.open(100, kind: "even")].each do |arrivals|
      Dir.mktmpdir do |folder|
        path = File.join(folder, "it.sock")
        server = UNIXServer.new(path)
        server.listen(1)
        serving = Thread.new { loop { sleep(0.05) && Thread.new(server.accept) { |socket| answer_all(socket) } } }
        outcome = run_native("unix://#{path}", connections_count: 10, duration_s: 0.3, arrivals:)
        assert_nil outcome.complaint
        assert_equal [0, 0], [outcome.socket_errors_count, outcome.unanswered_count]
      ensure
        serving&.kill&.join
        server&.close
      end
    end
  end

  test "finds out on which of its addresses localhost listens" do
    ScriptedServer.serve(->(*) { 200 }) { |server| assert_nil run_native(server.url.sub("127.0.0.1", "localhost"), duration_s: 0.2).complaint }
  end

  test "a raw file holds every response" do
    Dir.mktmpdir do |folder|
      path = File.join(folder, "raw.csv")
      outcome = ScriptedServer.serve(->(*) { sleep(0.01) && 200 }) { |server| run_native(server.url, generator: Load::Native.new(raw_path: path)) }
      lines = File.readlines(path, chomp: true)
      assert_equal "request,intended_ns,sent_ns,answered_ns,status,body_bytes", lines.first
      assert_equal outcome.requests_count, lines.size - 1
    end
  end

  test "a raw file that can't be written is an error, and no figures without it" do
    ScriptedServer.serve(->(*) { 200 }) do |server|
      error = assert_raises(PumaTuner::LoadToolFailed) { run_native(server.url, generator: Load::Native.new(raw_path: "/dev/full"), duration_s: 0.2) }
      assert_match(/No space left/, error.message)
    end
  end

  test "stays on the core that it is told" do
    core = PumaTuner::Probe::Processes.allowed_cores.last
    ScriptedServer.serve(->(*) { 200 }) do |server|
      assert_nil run_native(server.url, generator: Load::Native.new(core:), duration_s: 0.2).complaint
      error = assert_raises(PumaTuner::LoadToolFailed) { run_native(server.url, generator: Load::Native.new(core: 1_023), duration_s: 0.2) }
      assert_match(/core it is to stay on/, error.message)
    end
  end

  test "an interruption ends the load, and everything with it" do
    before = children
    ScriptedServer.serve(->(*) { sleep(0.01) && 200 }) do |server|
      running = Thread.new { run_native(server.url, duration_s: 30) }
      running.report_on_exception = false
      wait_until("the load's start") { server.latencies_ns.any? }
      running.raise(Interrupt)
      assert_raises(Interrupt) { running.value }
      assert_equal before, children
    end
  end

  test "what was measured before an interruption is kept where that is wanted" do
    ScriptedServer.serve(->(*) { sleep(0.01) && 200 }) do |server|
      generator = Load::Native.new(stoppable: true)
      running = Thread.new { run_native(server.url, duration_s: 30, generator:) }
      wait_until("some responses") { server.latencies_ns.size > 50 }
      running.raise(Interrupt)
      outcome = running.value
      assert_predicate generator, :stopped?
      assert_nil run_native(server.url, duration_s: 0.1, generator:).complaint
      refute_predicate generator, :stopped?
      assert_operator outcome.counted_count, :>, 40
      assert_operator outcome.duration_ns, :<, 30_000_000_000
      assert_obeys_littles_law(4, outcome)
    end
  end

  test "an interruption while the generator boots is one, and no failure of its own" do
    before = children
    ScriptedServer.serve(->(*) { sleep(0.01) && 200 }) do |server|
      running = Thread.new { run_native(server.url, duration_s: 30, generator: Load::Native.new(stoppable: true)) }
      running.report_on_exception = false
      wait_until("the generator's start") { children != before }
      running.raise(Interrupt)
      ended = begin
        running.value
      rescue Interrupt => interrupt
        interrupt
      end
      # An outcome, where it was quicker.
      assert_includes [Interrupt, Load::Outcome], ended.class
    end
  end

  test "nobody there is a complaint, and no endless loop" do
    port = refusing_port
    [Load::Arrivals.closed, Load::Arrivals.open(2_000)].each do |arrivals|
      outcome = run_native("http://127.0.0.1:#{port}", duration_s: 0.3, arrivals:)
      assert_equal [0, 0], [outcome.requests_count, outcome.connections_made_count]
      assert_match(/no request was answered; the first to fail: connecting: Connection refused/, outcome.complaint)
    end
  end

  test "a port on which nobody listens ends a load at once, however long it is to take" do
    port = refusing_port
    [Load::Arrivals.closed, Load::Arrivals.closed(think_ns: 10_000_000), Load::Arrivals.open(2_000)].each do |arrivals|
      outcome = run_native("http://127.0.0.1:#{port}", duration_s: 600, arrivals:)
      assert outcome.refused
      assert_operator outcome.duration_ns, :<, 60_000_000_000
      assert_match(/no request was answered; the first to fail: connecting: Connection refused/, outcome.complaint)
    end
    assert_match(/No such file/, run_native("unix:/nowhere/puma.sock", duration_s: 600).complaint)
  end

  test "a server that goes away ends a load, too" do
    [Load::Arrivals.closed, Load::Arrivals.open(200)].each do |arrivals|
      ScriptedServer.serve(->(*) { sleep(0.01) && 200 }) do |server|
        stopping = Thread.new { wait_until("some responses") { server.latencies_ns.size > 50 } && server.stop }
        outcome = run_native(server.url, duration_s: 600, arrivals:)
        stopping.join
        assert outcome.refused
        assert_match(/\Athe server stopped listening after \d+ responses, and the load ended \S+ m?s after its beginning; the first to fail: \S+/, outcome.complaint)
      end
    end
  end

  # Each connection has one response.
  def serve_one_by_one(listener, answered)
    loop do
      socket = listener.accept
      socket.readpartial(4_096)
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
      answered << true
    rescue SystemCallError, EOFError
      nil
    ensure
      socket&.close
    end
  rescue IOError
    nil # the listener is closed
  end

  test "a server that listens again within a second is waited for" do
    listener = TCPServer.new("127.0.0.1", 0)
    port = listener.local_address.ip_port
    answered = Queue.new
    serving = Thread.new { serve_one_by_one(listener, answered) }
    restarting = Thread.new do
      10.times { answered.pop }
      listener.close
      serving.join
      sleep 0.1
      listener = TCPServer.new("127.0.0.1", port)
      serving = Thread.new { serve_one_by_one(listener, answered) }
    end
    outcome = run_native("http://127.0.0.1:#{port}", connections_count: 1, duration_s: 1.5)
    refute outcome.refused
    assert_operator outcome.socket_errors_count, :>, 0
    assert_operator outcome.requests_count, :>, 10
    assert_equal 1_500_000_000, outcome.duration_ns
  ensure
    restarting&.join
    listener&.close
    serving&.join
  end

  test "refuses more connections than the system lets it open" do
    most = Load::Native.open_files_max
    error = assert_raises(PumaTuner::UsageError) { run_native("http://127.0.0.1:9", connections_count: most) }
    assert_match(/#{most} connections are more than.*ulimit -n/, error.message)
  end

  test "load goes to this machine only" do
    assert_raises(PumaTuner::UsageError) { run_native("http://example.com") }
  end
end
