# frozen_string_literal: true

require "net/http"
require_relative "lab"

# The one command, as a user runs it.
class CspTogetherTest < CspStoreTest
  time_limit 120

  RUN = "#{CspLab::FOLDER}/run".freeze

  def setup
    super
    @data = File.join(@folder, "data")
    @database = File.join(@data, "reports.sqlite3")
  end

  def run_application
    out = IO.popen([CspLab.environment("PUMA_TUNER_CACHE" => ENV["PUMA_TUNER_CACHE"]).compact, RUN, "--port", "0", "--report-port", "0", "--data", @data], err: %i[child out], pgroup: true)
    said = +""
    wait_until("its greeting", limit_s: 40) { (said << out.readpartial(4_096)).include?("Ctrl-C") }
    ports = said.scan(/127\.0\.0\.1:(\d+)/).flatten.map(&:to_i)
    yield out.pid, *ports
    said << out.read
  ensure
    Process.kill(:KILL, -out.pid) if Process.waitpid(out.pid, Process::WNOHANG).nil?
    out.close
  end

  def post(port) = Net::HTTP.post(URI("http://127.0.0.1:#{port}/reports"), JSON.generate(CspLab.csp_report), "content-type" => "application/csp-report", "user-agent" => CspLab::CHROME).code

  test "it collects, counts and shows, and Ctrl-C loses nothing that was acknowledged" do
    said = run_application do |pid, port, report_port|
      30.times { assert_equal "201", post(port) }
      wait_until("the count") { JSON.parse(Net::HTTP.get(URI("http://127.0.0.1:#{report_port}/api/violations")))["reports_count"] == 30 }
      20.times { assert_equal "201", post(port) }
      Process.kill(:INT, pid)
    end
    assert_match(/^stopped; every report/, said)
    refute_match(/is killed/, said)
    rows = CspCollector::Statistics.open(@database) { |statistics| statistics.violations(CspCollector::Filter.new).rows }
    assert_equal [["Chrome", 50]], rows.map { |row| [row.browser, row.reports_count] }
    refute_match(/Error|from /, Dir["#{@data}/*.log"].map { |path| File.read(path) }.join)
    # It goes on where it was.
    run_application do |pid, port, _|
      assert_equal "201", post(port)
      Process.kill(:TERM, pid)
    end
    assert_equal 51, reports_count
  end

  test "killed, it leaves no process behind, and no line uncounted the next time" do
    children = nil
    run_application do |pid, port, _|
      5.times { assert_equal "201", post(port) }
      children = Dir["/proc/#{pid}/task/*/children"].flat_map { |path| File.read(path).split.map(&:to_i) }
      assert_equal 3, children.size
      Process.kill(:KILL, pid)
    end
    wait_until("their end", limit_s: 20) { children.none? { |pid| File.exist?("/proc/#{pid}") && File.read("/proc/#{pid}/stat")[/\) (\S)/, 1] != "Z" } }
    assert_match(/ 0 bad lines$/, CspLab.aggregate("--database", @database, "#{@data}/reports.jsonl").first)
    assert_equal 5, reports_count
  end

  test "what it can't do it says" do
    busy = TCPServer.new("127.0.0.1", 0)
    {["--port", busy.addr[1].to_s] => /--port \d+: .*in use.*name another port/, %w[--port 1 --report-port 1] => /must differ/, %w[--threads 0] => /from 1 to 64/, %w[--what] => /--help/, %w[x] => /no argument/,
     ["--data", "/dev/null/x"] => /--data/}.each do |words, pattern|
      error = assert_raises(CspCollector::UsageError, words.join(" ")) { CspCollector::Together.new(["--report-port", "0", "--data", @data, *words]).call }
      assert_match(pattern, error.message)
    end
  end

  test "the command says it in one line, and helps" do
    out, status = Open3.capture2e(CspLab.environment, RUN, "--keep", "0", chdir: @folder)
    assert_equal ["run: --keep 0: give a number from 1 to 100000\n", 2], [out, status.exitstatus]
    assert_match(/--data FOLDER/, Open3.capture2e(CspLab.environment, RUN, "--help").first)
  end
end
