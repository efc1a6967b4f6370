# frozen_string_literal: true

require "test_helper"

# What the command's words become: selectors, windows, queries.
class FleetWordsTest < TunerTest
  include PumaTuner::Fleet

  UsageError = PumaTuner::UsageError

  test "selectors are written as in PromQL, with braces or without" do
    assert_equal '{yjit="off",service=~"a|b"}', Selector.parse(' { yjit = "off", service=~"a|b" } ').to_s
    assert_equal '{a="x\\"y"}', Selector.parse('a="x\\"y"').to_s
    assert_equal "up", Selector.parse("{}").of("up")
    assert_equal 'up{a="b"}', Selector.parse('a="b"').of("up")
    ["yjit=off", "{yjit}", '{a="b"} or x', '{a="b" c="d"}', 'x{a="b"}'].each { |text| assert_raises(UsageError, text) { Selector.parse(text) } }
  end

  test "windows are cut into some hundred spans" do
    spans = {"30m" => 60, "6h" => 300, "24h" => 900, "7d" => 3_600}.to_h { |text, step_s| [Window.of(1_795_000_123, Window.seconds("--window", text)), step_s] }
    spans.each do |window, step_s|
      assert_equal step_s, window.step_s
      assert_equal 0, window.ends_s % step_s
      assert_equal window.duration_s / step_s, window.times.size
      assert_equal window.ends_s, window.times.last
    end
  end

  test "blocks are days where there are enough, else parts of them, and cover the window evenly" do
    {"7d" => 86_400, "4d" => 86_400, "3d" => 21_600, "24h" => 21_600, "6h" => 3_600}.each do |text, block_s|
      window = Window.of(1_795_000_000, Window.seconds("--window", text))
      assert_equal block_s, window.block_s, text
      assert_equal window.duration_s / block_s, window.blocks.uniq.size
      assert_equal 1, window.blocks.tally.values.uniq.size
      assert_equal block_s == 86_400, window.days?
    end
  end

  test "times that can't be are mistakes" do
    ["7", "d", "0d", "-1d", "91d", "1y", "1.5d"].each { |text| assert_match(/--window #{Regexp.escape(text)}: /, assert_raises(UsageError) { Window.seconds("--window", text) }.message) }
    assert_raises(UsageError) { Window.of(0, 30) }
    assert_raises(UsageError) { Window.of(0, 86_400, step_s: 1) }
    ["yesterday", "9" * 400, "#{"9" * 400}-01-01", "100000000000"].each { |text| assert_match(/--a-end #{text}: write a time/, assert_raises(UsageError) { Window.instant("--a-end", text) }.message) }
    assert_equal [1_772_409_600.0, 1_772_445_600.0, nil], ["2026-03-02", "2026-03-02T10:00:00Z", nil].map { |text| Window.instant("--a-end", text) }
  end

  test "an instant without a zone is of UTC, as a day is, wherever the command runs" do
    before, ENV["TZ"] = ENV["TZ"], "XXX-9" # nine hours ahead
    instants = %w[2026-03-02T10:00:00 2026-03-02T10:00:00Z 2026-03-02T11:00:00+01:00].map { |text| Window.instant("--a-end", text) }
    assert_equal [1_772_445_600.0], instants.uniq
    assert_equal 1_772_409_600.0, Window.instant("--a-end", "2026-03-02")
  ensure
    ENV["TZ"] = before
  end

  test "queries add up servers, by rules or without" do
    selector = Selector.parse('yjit="on"')
    raw, rules = %i[raw rules].map { |source| Queries.new(source, selector, 3_600) }
    assert_equal 'sum by (le) (increase(puma_tuner_request_duration_seconds_bucket{yjit="on"}[3600s]))', raw.counter(:duration)
    assert_equal 'sum_over_time((sum by (le, service) (fleet:puma_tuner_request_duration_seconds_bucket:rate5m{yjit="on"}))[3599999ms:300s]) * 300', rules.counter(:duration, by: ["service"])
    assert_equal 'avg_over_time((sum (puma_tuner_process_pss_bytes{yjit="on",worker!="master"}))[3599999ms:300s])', raw.level(:worker_memory)
    assert_equal 'avg_over_time((max (fleet:puma_tuner_yjit_limited_bytes:max{yjit="on"}))[3599999ms:300s])', rules.level(:yjit_limited)
  end

  test "every metric that is asked for is exported, and every rule recorded" do
    exported = PumaTuner::Export::Families.names.map(&:name)
    recorded = File.read(File.expand_path("../../ops/prometheus/rules.yml", __dir__)).scan(/record: (\S+)/).flatten
    asked = [*Queries::COUNTERS.values.map { |raw, rule, _| [raw.delete_suffix("_bucket"), rule] }, *Queries::LEVELS.values.map { |_, raw, rule, *| [raw, rule] }, Queries::INFO.values]
    asked.each do |raw, rule|
      assert_includes exported, raw
      assert_includes recorded, rule
    end
  end
end
