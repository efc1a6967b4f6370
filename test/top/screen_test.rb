# frozen_string_literal: true

require "test_helper"
require "report/golden"
require "support/top_builders"

class TopScreenTest < TunerTest
  include TopBuilders
  include Golden

  ESCAPE = /\e\[[\d;]*m/

  def shop(scale: 1)
    articles = entry("GET /articles", [12] * 600 * scale + [45] * 20, cpu: 1_200, gvl_wait: 2_800, gc: 300, queue: 900, blames: {[:request, "GET /report"] => 2_400})
    report = entry("GET /report", [80] * 40, cpu: 2_400, gc: 500, gvl_wait: 100)
    job = entry("ImportJob", [500] * 2, kind: :job, cpu: 900)
    pool = entry("puma srv tp 001", [9_000], kind: :pool_thread, cpu: 5_000)
    background = entry("reindexer", [3_000], kind: :thread, cpu: 2_500)
    status(articles, report, job, pool, background, yjit_enabled: true, cpu_ms: 8_300, code_bytes: 11 * Units::MIB)
      .with(outlook: outlook(["1x5", 64.2, 51], ["1x4", 64.1, 60.2], ["1x6", 64.0, 48.7], ["2x5", 64.3, 21.9]),
        recommendation:, cost: Top::Cost.new(status_ratio: 0.004, outlook_ratio: 0.021))
  end

  def screen(now = shop, keys: "", rows: 24, columns: 80, color: false, frozen: nil)
    view = keys.chars.inject(Top::View.first.with(frozen:)) { |one, key| one.press(key, now).first }
    Top::Screen.new(columns:, rows:, color:).lines(now, view)
  end

  test "each page of an 80x24 terminal" do
    pages = {"endpoints" => "", "workers" => "w", "threads" => "t", "help" => "?"}
    text = pages.map { |name, keys| "=== #{name}\n#{screen(keys:).join("\n")}\n" }.join
    assert_golden "../../top/golden/screens.txt", text
  end

  test "whatever the size, there are never more lines or columns than it has" do
    sizes = [[24, 80], [10, 80], [6, 80], [3, 80], [1, 80], [24, 60], [50, 200]]
    sizes.product(["", "w", "t", "?", "d"]).each do |(rows, columns), keys|
      lines = screen(keys:, rows:, columns:)
      assert_operator lines.size, :<=, rows, "#{rows}x#{columns} #{keys}"
      assert_empty lines.select { |line| line.length > columns }, "#{rows}x#{columns} #{keys}"
    end
  end

  test "a full screen ends with the keys in its last line, whichever page" do
    ["", "w", "t"].each { |keys| assert_equal Top::Screen::KEYS, screen(keys:, rows: 30).fetch(29), keys }
  end

  test "a small screen drops what is below its rows before the rows themselves" do
    lines = screen(rows: 9)
    assert_includes lines.join("\n"), "GET /report"
    refute_includes lines.join("\n"), "what if"
    assert_equal Top::Screen::KEYS, lines.last
  end

  test "rows that have no room are counted" do
    many = status(*(1..30).map { |number| entry("GET /#{number}", [10] * number) })
    assert_includes screen(many), "  and 14 more"
    assert_equal 30, screen(many, rows: nil).grep(%r{\AGET /}).size
  end

  test "colours change no letter, and tell no more than the letters do" do
    plain, coloured = screen, screen(color: true)
    assert_equal plain.map(&:rstrip).grep_v(/\Aq queue/), coloured.map { |line| line.gsub(ESCAPE, "").rstrip }.grep_v(/\Aq queue/)
    assert_match ESCAPE, coloured.join
    refute_match ESCAPE, plain.join
  end

  test "a bar is filled, and each part has its share of it" do
    bar = ->(**parts) { Top::Screen.new.send(:bar, Probe::Budget.zero.with(wall_ns: 1_000, **parts)) }
    assert_equal "qqqqqqqccccccc", bar.call(queue_ns: 500, cpu_ns: 500)
    assert_equal "wwwwwccccciiii", bar.call(gvl_wait_ns: 334, cpu_ns: 333, io_ns: 333)
    assert_equal "iiiiiiiiiiiiii", bar.call(queue_ns: 10, io_ns: 990)
    assert_equal " " * 13, Top::Screen.new.send(:bar, Probe::Budget.new(wall_ns: 5))[1..], "of unknown parts there is no bar"
  end

  test "a percentile of few requests is marked" do
    row = screen.find { |line| line.start_with?("GET /report") }
    assert_match(/ 40 .* ~7\d\.\d|~8\d\.\d/, row)
    refute_includes screen.find { |line| line.start_with?("GET /articles") }, "~"
  end

  test "the difference to a frozen screen has signs, and rows that it did not have are new" do
    now = status(entry("GET /articles", [20] * 150, cpu: 100), entry("GET /new", [5] * 100, cpu: 9))
    frozen = status(entry("GET /articles", [10] * 100, cpu: 100))
    rows = screen(now, keys: "d", frozen:)
    assert_match(/\+5\.00 +\+50 +\+10\.\d +\+10\.\d/, rows.find { |line| line.start_with?("GET /articles") })
    assert_match(/new +new/, rows.find { |line| line.start_with?("GET /new") })
    assert_includes rows[2], "DIFFERENCE TO THE FROZEN SCREEN"
  end

  # A day of a large app, as one look.
  def large
    now = shop
    rows = now.endpoints.map { |row| row.with(requests_count: 1_234_567, throughput_per_s: 12_345_678.0, p50_ns: 1_234_567 * MS, p99_ns: 76_543_210 * MS) }
    now.with(endpoints: rows, workers: now.workers.map { |row| row.with(pid: 123_456_789, pss_bytes: 12_345_678 * Units::MIB, cpu_ratio: 1_234.56) })
  end

  test "no number is cut: its column takes what it needs, and others what is left" do
    row = screen(large).find { |line| line.start_with?("GET /a") }
    ["12345678", "1,234,567", "1234567", "76543210"].each { |number| assert_match(/(?<=\s)#{number}(?=\s)/, row) }
    row = screen(large, keys: "w").find { |line| line.start_with?("single") }
    %w[123456789 123456% 12345678].each { |number| assert_match(/\s#{number}(\s|\z)/, row) }
    frozen = large.with(endpoints: large.endpoints.map { |one| one.with(requests_count: 0) })
    assert_match(/ \+1,234,567 /, screen(large, keys: "d", frozen:).find { |line| line.start_with?("GET /a") })
    ["", "w", "d"].each { |keys| assert_empty screen(large, keys:, frozen:).select { |line| line.length > 80 } }
  end

  test "names can't steer the terminal, nor break a line" do
    evil = status(entry("GET /\e[2J\n\u202e", [10] * 10, cpu: 5, gvl_wait: 60, blames: {[:thread, "\e]0;owned\a"] => 60}))
    screen(evil, rows: nil).each { |line| refute_match(/[[:cntrl:]\u202e]/, line) }
  end

  test "where there is no forecast, it is said why" do
    said = {"few_requests" => "it takes 100 requests, and there were 12 in 60 s", "ours" => "a puma_tuner command records",
            "not_reproduced" => "none reproduces", "failed" => "no simulator"}
    said.each do |why_not, words|
      none = Top::Outlook.none(why_not, requests_count: 12, window_ns: 60 * S, detail: "no simulator")
      assert_includes screen(shop.with(outlook: none)).join("\n"), words
    end
    assert_includes screen(shop.with(outlook: outlook(["1x5", nil, nil]))).join("\n"), "overload"
  end

  # @return [String, nil]
  def recommended(found, **) = screen(shop.with(recommendation: found), **).grep(/\Arecommended/).first

  test "the setting that the server's own lines tell is named, and one that is to stay is told as such" do
    assert_equal "recommended: 2x5; p99 0.43x (0.39 to 0.47) of today's 1x5", recommended(recommendation)
    assert_equal "recommended: stay with 1x5; nothing is surely better", recommended(recommendation(topology: "1x5", ratio: nil))
    assert_equal "recommended: 2x5; 1x5 is overloaded", recommended(recommendation(ratio: nil))
    assert_includes recommended(recommendation, rows: 10), "2x5", "it goes with the last that is left out"
    assert_includes screen(shop.with(recommendation: recommendation, outlook: nil)).join("\n"), "recommended: 2x5"
  end

  test "without a recommendation it is said why, however late it is shown" do
    {"few_requests" => "none; a forecast needs more requests than 12", "no_steady_state" => "none; no setting that was forecast bears this load",
     "pool" => "as it is, and more places in the pool of connections", "failed" => "none; no forecast can be made: no   extension?[2J"}.each do |why_not, words|
      none = Probe::Recommendation.none(why_not, requests_count: 12, detail: "no \n extension\e[2J").with(made_at_s: 0.0)
      assert_equal "recommended: #{words}", recommended(none), why_not
    end
    assert_nil recommended(nil), "nothing has been forecast yet"
  end

  test "lines tell a recommendation when it changes, and not each time" do
    lines = Top::Lines.new
    told = [nil, recommendation, recommendation, recommendation(topology: "2x4")].flat_map { |found| lines.call(shop.with(recommendation: found)) }
    assert_equal [2, 5], told.each_index.select { |index| told[index].start_with?("recommended: 2x") }
    assert_equal 7, told.size
  end

  test "lines for where there is no terminal stand below their headings, which come again" do
    lines = Top::Lines.new
    told = Array.new(21) { lines.call(shop) }
    assert_equal [3] + [1] * 19 + [2], told.map(&:size)
    heading, _, line = told.first
    assert_equal heading.split.size, line.split("  GVL-bound").first.split.size
    assert_operator line.length, :>, heading.length
    assert_match(/\A +- /, lines.call(status).last[6 + 7..])
  end
end
