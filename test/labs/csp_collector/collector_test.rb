# frozen_string_literal: true

require_relative "collector_server"

# The collector on a real Puma.
class CspCollectorTest < TunerTest
  time_limit 120

  def setup
    skip "the lab's gems are not there: run bin/setup --test" unless CspLab.sqlite?
    @folder = Dir.mktmpdir("csp_collector")
    @lines = File.join(@folder, "reports.jsonl")
  end

  def teardown = @folder && FileUtils.rm_rf(@folder)

  def serve(*options, out: [@lines, "a"], **environment, &) = CollectorServer.run(*options, out:, **environment, &)

  # @return [Array<String>] the samples of reports in whole lines
  def samples(text = File.read(@lines))
    text.lines.reject { |line| line == "\n" || !line.end_with?("\n") }.map { |line| JSON.parse(line).dig("report", "csp-report", "sample")[/\A[^ ]*/] }
  end

  # Eight clients at once, 4 KB a report.
  # @return [Queue] samples that were answered with 201; it is filled on until the clients end
  def storm(server, count: nil)
    accepted = Thread::Queue.new
    threads = Array.new(8) do |client|
      Thread.new do
        server.connect do |http|
          (1..count).each do |number|
            sample = "#{client}-#{number}"
            accepted << sample if server.post(CspLab.csp_report("sample" => "#{sample} #{"x" * 3_700}"), http:).code == "201"
          end
        end
      rescue SystemCallError, IOError
        nil # it was killed
      end
    end
    [accepted, threads]
  end

  def all(queue) = Array.new(queue.size) { queue.pop }

  HEADERS = "Host: a\r\nContent-Type: application/csp-report\r\n"

  test "good reports are accepted, and every bad request gets the response it deserves" do
    serve do |server|
      good = JSON.generate(CspLab.csp_report("sample" => "good"))
      assert_equal ["201", ""], server.post(good).then { |answer| [answer.code, answer.body] }
      batch = [{"type" => "csp-violation", "body" => {}}] * 3
      assert_equal "201", server.post(batch, type: "application/reports+json").code
      [["400", "SECRET"], ["400", ""], ["400", "[]"], ["400", "{\"csp-report\":{\"a\":\"\xFF\"}}".b], ["400", "[" * 500], ["413", "x" * 65_537], ["413", "x" * 3_000_000]].each do |code, body|
        assert_equal code, post_code(server, body), body[0, 40]
      end
      assert_equal "415", server.post(good, type: "text/SECRET").code
      assert_equal "415", server.post(good, "content-encoding": "gzip").code
      assert_equal "413", server.post(batch * 40, type: "application/reports+json").code
      assert_match(/\AHTTP\/1.1 413/, server.raw("POST /reports HTTP/1.1\r\n#{HEADERS}Transfer-Encoding: chunked\r\n\r\n" + "2000\r\n#{"x" * 8_192}\r\n" * 9))
      assert_match(/\AHTTP\/1.1 201/, server.raw("POST /reports HTTP/1.1\r\n#{HEADERS}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n#{good.bytesize.to_s(16)}\r\n#{good}\r\n0\r\n\r\n"))
      assert_match(/\AHTTP\/1.1 400/, server.raw("POST /reports HTTP/1.1\r\n#{HEADERS}Content-Length: 1x\r\n\r\n"))
      assert_match(/\AHTTP\/1.1 400/, server.raw("GET /SECRET HTTP/1.1\r\nSECRET\x01\r\nSECRET: \x1b[31m\r\n\r\n"))
      assert_match(/\AHTTP\/1.1 501/, server.raw("SECRET /reports HTTP/1.1\r\n#{HEADERS}\r\n"))
      assert_equal %w[405 404], [server.get("/reports").code, server.get("/SECRET?SECRET").code]
      assert_equal 5, File.foreach(@lines).count
      check_log(server)
    end
  end

  # A body that is far too long may be answered before it is all sent.
  def post_code(server, body)
    server.post(body).code
  rescue Errno::EPIPE, Errno::ECONNRESET
    "413"
  end

  # One line of JSON each, of our own words, and the counts agree with it.
  def check_log(server)
    counts = JSON.parse(server.get("/health").body)
    assert_equal 5, counts["accepted_reports_count"]
    wait_until("the log") { server.refusals.size == counts["refused_counts"].values.sum }
    assert_equal counts["refused_counts"], server.refusals.map { |line| "#{line["status"]} #{line["reason"]}" }.tally
    assert_equal %w[400 404 405 413 415 501], counts["refused_counts"].keys.map { |key| key[0, 3] }.uniq.sort
    refute_match(/SECRET|xxx|\e/, server.log)
    refute_match(/SECRET/, File.read(@lines))
  end

  test "who sends nothing, or a byte now and then, is answered with 408 in time" do
    serve(CSP_COLLECTOR_READING_LIMIT_S: "1") do |server|
      head = "POST /reports HTTP/1.1\r\n#{HEADERS}Content-Length: 100\r\n\r\n"
      silent = Thread.new { server.raw("#{head}{") }
      drops_count = 0
      dripping = server.raw(head) do |socket|
        # All that was announced would take 20 s.
        until socket.wait_readable(0.2) || drops_count == 100
          socket.write("{")
          drops_count += 1
        end
      end
      assert_match(/\AHTTP\/1.1 408/, dripping)
      assert_match(/\AHTTP\/1.1 408/, silent.value)
      assert_operator drops_count, :<, 100
      assert_equal({"408 slow" => 2}, JSON.parse(server.get("/health").body)["refused_counts"])
      # Who only waits between two requests is left alone.
      server.connect do |http|
        assert_equal "201", server.post(CspLab.csp_report("sample" => "a"), http:).code
        sleep 1.3
        assert_equal "201", server.post(CspLab.csp_report("sample" => "b"), http:).code
      end
    end
  end

  test "eight clients with 4 KB a report tear no line, and are all written when they are answered" do
    serve("-t", "8:8") do |server|
      accepted, threads = storm(server, count: 100)
      threads.each(&:join)
      written = samples
      assert_equal 800, accepted.size
      assert_equal all(accepted).sort, written.sort
    end
  end

  test "killed in the middle of a storm, one process or two, it has written what it acknowledged" do
    [[], %w[-w 2]].each do |options|
      File.write(@lines, "torn by another")
      serve("-t", "8:8", *options) do |server|
        accepted, threads = storm(server, count: 100_000)
        wait_until("a storm") { accepted.size > 300 }
        server.kill
        threads.each(&:join)
        lines = File.read(@lines)
        assert_equal "torn by another\n", lines.slice!(/\A.*\n/)
        missing = all(accepted) - samples(lines)
        assert_empty missing
      end
    end
  end

  test "two processes share a pipe without tearing lines" do
    reader, writer = IO.pipe
    serve("-t", "8:8", "-w", "2", out: writer) do |server|
      writer.close
      reading = Thread.new { reader.read }
      accepted, threads = storm(server, count: 60)
      threads.each(&:join)
      server.kill
      assert_equal 480, accepted.size
      assert_equal all(accepted).sort, samples(reading.value).sort
    end
  end

  test "without a reader nothing is accepted, and the next one is told by 503" do
    reader, writer = IO.pipe
    serve(out: writer) do |server|
      writer.close
      assert_equal "201", server.post(CspLab.csp_report).code
      reader.close
      answer = server.post(CspLab.csp_report)
      assert_equal %w[503 5 output_gone], [answer.code, answer["retry-after"], answer.body.chomp]
      assert_equal "503", server.get("/health").code
    end
  end

  test "a reader who stands still costs refusals, and no report that was accepted" do
    reader, writer = IO.pipe
    serve("-t", "4:4", out: writer, CSP_COLLECTOR_WAITING: "2") do |server|
      writer.close
      accepted, threads = storm(server, count: 20)
      threads.each(&:join)
      refused_count = 160 - accepted.size
      assert_operator refused_count, :>, 100
      assert_equal "output_stalled", server.post(CspLab.csp_report).body.chomp
      reading = Thread.new { reader.read }
      wait_until("an accepted report") { server.post(CspLab.csp_report("sample" => "after")).code == "201" }
      server.kill
      lines = reading.value.lines
      torn = lines.reject { |line| line.end_with?("}\n") }
      assert_operator torn.size, :<=, 2
      assert_empty all(accepted) - samples((lines - torn).join)
      assert_includes samples((lines - torn).join), "after"
    end
  end

  test "standard output has nothing but reports" do
    serve { |server| assert_equal "404", server.get("/").code }
    serve("-w", "2") { |server| assert_equal "404", server.get("/").code }
    assert_equal "", File.read(@lines)
  end
end
