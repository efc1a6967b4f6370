# frozen_string_literal: true

require "test_helper"
require_relative "../../benchmark/overhead"

class OverheadTest < TunerTest
  kind :integration

  include Overhead

  RIVALS = Variant::ALL.select { |variant| %w[gvltools gvl_timing].include?(variant.key) }.freeze
  VARIANTS = [Variant::NONE, Variant::AGAIN, Variant::OURS, *RIVALS].freeze

  MACHINE = PumaTuner::Probe::MachineFacts.new(cores_count: 2, cpu_model: "test", cpu_quota_cores: nil, memory_bytes: 1,
    kernel: "Linux", load_average: 0.5, cpu_pressure_ratio: nil)

  # @param samples [Array<Array>] of none, none again, ours, gvltools and gvl_timing, by round
  def series(*samples, key: "c_alone", variants: VARIANTS)
    Series.new(key:, title: key, unit: "ns", variants:).tap do |series|
      variants.zip(samples).each do |variant, values|
        values&.each_with_index do |value, round|
          series.add(round, variant, value.is_a?(String) ? Bench::Failure.new(reason: value) : value)
        end
      end
    end
  end

  # Ten rounds in which everything drifts, as machines do.
  def drifting(ours_ns:, noise_ns: 2, key: "c_alone", rivals_ns: 125)
    none = (0...10).map { |round| 100 + 5 * round }
    wobble = [-1, 1].cycle.first(10)
    series(none, none.zip(wobble).map { |value, sign| value + noise_ns * sign }, none.map { |value| value + ours_ns },
      *RIVALS.map { none.map { |value| value + rivals_ns } }, key:)
  end

  def outcomes(*all_series) = Judge.verdicts(all_series).map(&:outcome)

  test "takes the difference within each round, so that a drift does not matter" do
    estimate = drifting(ours_ns: 50).difference(Variant::OURS)
    assert_equal [50.0, 50.0, 50.0], [estimate.value, estimate.low, estimate.high]
    assert_operator estimate.level_ratio, :>=, 0.95
  end

  test "pairs only rounds in which both gave a number" do
    found = series([10, "gone", 30], nil, [11, 22, 36])
    assert_equal({0 => 1, 2 => 6}, found.differences(Variant::OURS))
    assert_equal [["gone"], 2], [found.failures(Variant::NONE), found.values(Variant::NONE).size]
  end

  test "calls a target met, missed or not shown" do
    assert_equal [:met], outcomes(drifting(ours_ns: 73))
    assert_equal [:not_shown], outcomes(drifting(ours_ns: 74))
    assert_equal [:missed], outcomes(drifting(ours_ns: 90))
    assert_equal [:not_shown], outcomes(drifting(ours_ns: 90, noise_ns: 20))
    assert_equal [:not_shown], outcomes(series([100] * 6, [100] * 6, [150, 160, 170, 180, 190, 200], [225] * 6))
  end

  test "no noise, and no want of rounds, makes it meet a target" do
    assert_equal [:not_shown], outcomes(drifting(ours_ns: 50, noise_ns: 30))
    assert_equal [:not_shown], outcomes(series([100] * 5, [100] * 5, [110] * 5, [200] * 5))
    assert_equal [:not_shown], outcomes(series([100] * 6, ["gone"] * 6, [110] * 6, [200] * 6))
    assert_equal [:met], outcomes(series([100] * 6, [100] * 6, [110] * 6, [200] * 6))
  end

  test "misses the target where only the probe crashed, and blames nobody where the baseline did, too" do
    crashed = ["killed by SIGSEGV"] * 6
    assert_equal [:missed], outcomes(series([100] * 6, [100] * 6, crashed, [200] * 6))
    assert_empty outcomes(series(crashed, crashed, crashed))
    assert_empty outcomes(series([100] * 6, [100] * 6, variants: VARIANTS.first(2)))
  end

  test "holds a thread beside 31 asleep against one alone, each less its own baseline" do
    assert_equal %i[met not_shown], outcomes(drifting(ours_ns: 50), drifting(ours_ns: 72, noise_ns: -2, key: "c_blocked"))
    assert_equal %i[met missed], outcomes(drifting(ours_ns: 50), drifting(ours_ns: 80, key: "c_blocked"))
    assert_equal %i[met met], outcomes(drifting(ours_ns: 50), drifting(ours_ns: 74, key: "c_blocked"))
    assert_empty outcomes(drifting(ours_ns: 50, key: "c_blocked"))
  end

  test "holds 32 threads at once against what a rival takes there, and a request against a rival and the aim" do
    assert_equal [:missed], outcomes(drifting(ours_ns: 130, key: "c_busy"))
    assert_equal [:met], outcomes(drifting(ours_ns: 120, key: "c_busy"))
    assert_equal %i[met missed], outcomes(drifting(ours_ns: 4, noise_ns: 0.1, rivals_ns: 5, key: "request_5"))
    assert_equal %i[missed met], outcomes(drifting(ours_ns: 1, noise_ns: 0.1, rivals_ns: 0.5, key: "request_5"))
  end

  test "the probe without a part is built, and leaves that part out" do
    Dir.mktmpdir do |folder|
      Parts.build(folder)
      program = <<~RUBY
        require "puma_tuner"
        C = PumaTuner::Probe::GvlClock
        C.start
        C.job_begin
        20.times { Mutex.new.synchronize { sleep 0.0001 } }
        p C.request_take(true).last.size
      RUBY
      sizes = [nil, "no_blame", "no_steps"].map do |key|
        libraries = [*(Parts.library(folder, key) if key), File.expand_path("../../lib", __dir__)]
        Integer(PumaTuner::Host::Child.output_of([RbConfig.ruby, *libraries.flat_map { |library| ["-I", library] }, "-e", program], limit_s: 60).first)
      end
      assert_operator sizes.first(2).min, :>, 20
      assert_operator sizes.last, :<, 5
    end
  end

  test "shows medians, differences, intervals and crashes in aligned columns" do
    *lines, _, failure = Table.series(series([100, 101], [101, 100], [150.04, "killed by SIGSEGV"])).lines.map(&:chomp)
    assert_equal 1, lines.map(&:length).uniq.size
    assert_match(/^\| none +\| +100\.5 \| +100\.0 \| +- \| +- \| +- \| +2 \|$/, lines[2])
    assert_match(/\+50\.0 \| \+50\.0 to \+50\.0 \| +\+50\.0 \| +1 of 2 \|$/, lines[4])
    assert_equal "puma_tuner #{PumaTuner::VERSION} failed 1 time: killed by SIGSEGV.", failure
  end

  test "shows a variant that never gave a number" do
    text = Table.series(series([1, 1], [1, 1], ["status 1, no such gem"] * 2, variants: VARIANTS.first(3)))
    assert_match(/\| +- \| +- \| +- \| +- \| +- \| +0 of 2 \|\n\n.* failed 2 times: status 1, no such gem\.$/, text)
  end

  test "says which outcome came of each target" do
    table = Page.new(machine: MACHINE, parts: [], verdicts: Judge.verdicts([drifting(ours_ns: 90)])).results
    assert_includes table, "c_alone: nothing beyond 0.6 times what gvltools takes"
    assert_match(/\+15\.0 ns \| \+15\.0 to \+15\.0 \| +2\.0 ns \| \*\*missed\*\* \|/, table)
  end

  test "writes a page that names no folder of this machine" do
    part = Struct.new(:series).new([drifting(ours_ns: 50)])
    part.class.const_set(:TITLE, "CPU")
    part.class.const_set(:METHOD, "As said.\n")
    page = Page.new(machine: MACHINE, parts: [part], verdicts: Judge.verdicts(part.series), at: Time.utc(2026, 1, 2)).to_s
    assert_match(/^Made with .+ on 2026-01-02: .+; load average before the run 0\.5\.$/, page)
    ["bin/exec rake overhead", "## CPU", "As said.", " met |"].each do |text|
      assert_includes page, text
    end
    refute_includes page, File.expand_path("../..", __dir__)
  end

  test "asks for a timer per thread only where there are threads" do
    cycle = Cycle.new(variants: Variant::ALL, rounds_count: 1, quick: true, folder: "/")
    with, without = cycle.series.partition { |series| series.variants.map(&:key).include?("gvl_timing_each") }
    assert_equal %w[c_blocked c_busy pipe_blocked pipe_busy], with.map(&:key).sort
    assert_equal %w[c_alone pipe_alone], without.map(&:key).sort
  end

  test "takes its options, and refuses a page of half a run" do
    options = Options.parse(%w[--rounds 3 --quick --only cycle --tools ours,gvltools])
    assert_equal [3, true, ["cycle"], %w[ours gvltools], false], options.deconstruct
    assert Options.parse(%w[--write]).write
    [%w[--write --quick], %w[--write --only cycle], %w[--tools nosuch], %w[--rounds 0], %w[more]].each do |words|
      assert_raises(OptionParser::ParseError, words.join(" ")) { Options.parse(words) }
    end
  end
end
