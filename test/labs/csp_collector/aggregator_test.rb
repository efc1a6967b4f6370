# frozen_string_literal: true

require_relative "lab"

class CspAggregatorTest < CspStoreTest
  time_limit 120

  test "violations are counted by directive, host, path, browser and window, with the first and last time" do
    write(line, line(at_s: CspLab::NOON_S + 5), line(at_s: CspLab::NOON_S + 3_600), line(directive: "img-src"))
    assert_equal({"lines_count" => 4}, count)
    rows = violations.rows
    assert_equal ["script-src-elem", "evil.test", "/cart", "Chrome", "", 3, CspLab::NOON_S, CspLab::NOON_S + 3_600], rows.first.to_h.values
    assert_equal [1, "img-src"], [rows.last.reports_count, rows.last.directive]
  end

  test "what was read is not read again, and what comes after is" do
    write(line, line)
    3.times { count }
    write(line)
    assert_equal 3, count["lines_count"]
    assert_equal 3, reports_count
  end

  test "a torn last line waits until it is completed" do
    torn = line
    write(line, torn[0, 57])
    2.times { assert_equal 1, count["lines_count"] }
    assert_equal 57, @waiting_bytes
    write(torn[57..])
    assert_equal [2, 0], [count["lines_count"], @waiting_bytes]
    assert_equal 2, reports_count
  end

  test "a torn line that was ended is bad, and the next is whole; empty lines are nothing" do
    write(line, line[0, 57], "\n", line, "\n\n", "no line\n", line(document: "https://shop.test/\u2028"))
    assert_equal({"lines_count" => 5, "bad_count" => 2}, count)
    assert_equal 3, reports_count
  end

  test "reports of other kinds are told apart" do
    write(line, %({"time":"2026-03-02T12:00:00Z","report":{"type":"deprecation","body":{}}}\n))
    assert_equal({"lines_count" => 2, "other_kinds_count" => 1}, count)
  end

  test "a line without end is skipped in the room of one chunk, and counted as bad" do
    write(line, "x" * (3 * CspCollector::Source::CHUNK_BYTES))
    count
    write("x" * 100, "\n", line)
    assert_equal({"lines_count" => 3, "bad_count" => 1}, count)
    assert_equal 2, reports_count
  end

  test "a file that was renamed is read to its end, and the new one from its beginning" do
    write(line(at_s: CspLab::NOON_S + 1), line)
    count
    write(line)
    File.rename(@lines, "#{@lines}.1")
    write(line(at_s: CspLab::NOON_S + 2))
    assert_equal 4, count["lines_count"]
    write(line, path: "#{@lines}.1")
    assert_equal 5, count["lines_count"]
  end

  test "a file that was copied and truncated is continued in the copy" do
    write(line(at_s: CspLab::NOON_S + 1), line)
    count
    write(line)
    FileUtils.cp(@lines, "#{@lines}-20260302")
    File.truncate(@lines, 0)
    write(*Array.new(9) { line(at_s: CspLab::NOON_S + 2) })
    assert_equal 12, count["lines_count"]
    assert_equal 12, count["lines_count"]
  end

  test "files that were rotated away before are read, packed ones and others are not" do
    write(line(at_s: CspLab::NOON_S + 1), path: "#{@lines}.2")
    write(line(at_s: CspLab::NOON_S + 2), path: "#{@lines}.1")
    write(line(at_s: CspLab::NOON_S + 3), path: "#{@lines}.3.gz")
    write(line(at_s: CspLab::NOON_S + 4), path: "#{@lines}2")
    write(line(at_s: CspLab::NOON_S + 5))
    assert_equal 3, count["lines_count"]
    File.rename("#{@lines}.1", "#{@lines}.9")
    assert_equal 3, count["lines_count"]
  end

  test "a file that begins as another does until now is known when it goes on" do
    first = line(at_s: CspLab::NOON_S + 1)
    write(first)
    count
    write(*Array.new(50) { line })
    assert_equal 51, count["lines_count"]
    # More than the part by which files are known has been read now.
    write(first, line, path: "#{@lines}.1")
    assert_equal 53, count["lines_count"]
  end

  test "each window keeps its most frequent, and the sums stay exact" do
    30.times { |host| write(*Array.new(host + 1) { line(blocked: "https://h#{host}.test/") }) }
    count(top_count: 5)
    write(*Array.new(20) { |number| line(directive: "img-src", blocked: "https://i#{number}.test/") })
    count(top_count: 5)
    rows = violations.rows
    assert_equal 30 * 31 / 2 + 20, rows.sum(&:reports_count)
    assert_equal 20, violations(directive: "img-src").reports_count
    assert_operator rows.size, :<=, 12
    assert_equal [30, 29, 28, 27, 26], rows.reject { |row| row.host == "(other)" }.first(5).map(&:reports_count)
    assert_equal %w[(other) (other) (other)], rows.find { |row| row.directive == "img-src" && row.host == "(other)" }.to_h.values_at(:host, :path, :browser)
  end

  test "windows beyond the retention are forgotten" do
    now_s = Time.now.to_i
    write(line(at_s: now_s - 40 * 86_400), line(at_s: now_s - 20 * 86_400), line(at_s: now_s))
    count(keep_days: 30)
    assert_equal 2, reports_count
    count(keep_days: 10)
    assert_equal 2, reports_count, "only what is written to is cleared"
    write(line(at_s: now_s))
    count(keep_days: 10)
    assert_equal 2, reports_count
  end

  test "a database keeps its window, and has one writer" do
    write(line)
    count(window: "day")
    assert_match(/counts by the day/, assert_raises(CspCollector::UsageError) { count(window: "hour") }.message)
    store = CspCollector::Store.new(@database, window: "day")
    assert_match(/another process is counting/, assert_raises(CspCollector::UsageError) { count(window: "day") }.message)
    store.close
    assert_equal 1, count(window: "day")["lines_count"]
    File.write("#{@database}.txt", "no database at all, and longer than a header of a hundred bytes is, which SQLite looks at first of all things")
    assert_raises(CspCollector::UsageError) { CspCollector::Store.new("#{@database}.txt") }
    assert_raises(CspCollector::UsageError) { CspCollector::Store.new("#{@folder}/none/db") }
  end

  test "the command reads a stream, says what it read, and what it can't do" do
    out, code = CspLab.aggregate("--database", @database, stdin: "#{line}#{line}nonsense\n#{line[0, 40]}")
    assert_equal ["csp_aggregate: 3 lines read: 2 violations, 0 reports of other kinds, 1 bad lines; 40 bytes of an unfinished line are left\n", 0], [out, code]
    assert_equal 2, reports_count
    [%w[--follow], %w[none.jsonl], %w[--window week x], %w[a b], ["--top", "0"], %w[--what]].each do |words|
      out, code = CspLab.aggregate("--database", @database, *words)
      assert_equal 2, code, words
      assert_match(/\Acsp_aggregate: [^\n]+\n\z/, out)
    end
  end

  # As a kill between two statements would, but at the same place each time.
  class FailingReader < CspCollector::LineReader
    def read(text) = super.then { |entry| entry.violation.host.start_with?("last") ? entry.with(violation: entry.violation.with(browser: nil)) : entry }
  end

  test "a chunk is counted as a whole or not at all, together with how far it went" do
    write(line, line(blocked: "https://other.test"), line(blocked: "https://last.test"))
    store = CspCollector::Store.new(@database)
    assert_raises(SQLite3::ConstraintException) { CspCollector::Aggregator.new(store, FailingReader.new).catch_up(CspCollector::Source.new(@lines)) }
    store.close
    assert_equal 0, reports_count
    assert_equal 3, count["lines_count"]
    assert_equal 3, reports_count
  end

  # Boots in about as long as it then needs for all the lines.
  test "killed again and again, it has counted every line once" do
    lines_count = 60_000
    File.open(@lines, "w") { |file| lines_count.times { |number| file << line(blocked: "https://h#{number % 7}.test/", at_s: CspLab::NOON_S + number / 10) } }
    random = Random.new(11)
    seen = Array.new(6) do
      pid = Process.spawn(CspLab.environment, *CspLab.aggregate_command, "--database", @database, "--follow", @lines, unsetenv_others: true, err: File::NULL)
      wait_until("the next lines", limit_s: 20) { progress != @progress || progress == lines_count }
      sleep random.rand(0.0..0.06)
      Process.kill(:KILL, pid)
      Process.wait(pid)
      write(*Array.new(500) { |number| line(at_s: CspLab::NOON_S + 6_000 + number) })
      lines_count += 500
      @progress = progress
    end
    assert_operator seen.uniq.count { |number| number.positive? && number < 60_000 }, :>=, 3, "it was not killed in the middle: #{seen}"
    assert_match(/ 0 bad lines$/, CspLab.aggregate("--database", @database, @lines).first)
    assert_equal lines_count, reports_count
    assert_equal [60_000, 3_000], violations.rows.partition { |row| row.host.start_with?("h") }.map { |rows| rows.sum(&:reports_count) }
  end

  def progress
    File.exist?(@database) ? CspCollector::Statistics.open(@database) { |statistics| statistics.tallies.fetch("lines_count", 0) } : 0
  rescue SQLite3::Exception
    0 # it is just being made
  end

  test "it follows a file across rotation until it is told to stop, and then counts what is there" do
    pid = Process.spawn(CspLab.environment, *CspLab.aggregate_command, "--database", @database, "--follow", @lines, unsetenv_others: true, err: File::NULL)
    5.times do |round|
      write(*Array.new(100) { |number| line(at_s: CspLab::NOON_S + round * 200 + number) })
      wait_until("the first lines", limit_s: 20) { progress == 100 } if round.zero?
      sleep 0.05 * round
      File.rename(@lines, "#{@lines}.#{round}")
      write(line(at_s: CspLab::NOON_S + round), path: "#{@lines}.#{round}")
    end
    wait_until("the lines", limit_s: 20) { progress == 505 }
    write(line)
    Process.kill(:TERM, pid)
    assert Process.wait2(pid).last.success?
    assert_equal 506, reports_count
  end
end
