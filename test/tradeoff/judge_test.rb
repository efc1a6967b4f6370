# frozen_string_literal: true

require "test_helper"
require "support/tradeoffs"

class TradeoffJudgeTest < TunerTest
  include Tradeoffs

  def judge(variants, **options) = study(variants, **options)

  test "a setting that is better in nothing is off the Pareto front, and one clearly worse in both is dominated" do
    made = judge({"off" => [1_000, 100], "on" => [600, 130], "waste" => [700, 160], "lean" => [900, 95]})
    assert_equal %w[lean on], made.pareto_front.map(&:variant)
    assert_equal ["waste"], made.points.select(&:dominated).map(&:variant) - ["off"]
    assert_equal %w[off waste], made.points.select(&:dominated).map(&:variant)
  end

  test "ratios are over the baseline, with intervals" do
    on = judge({"off" => [1_000, 100], "on" => [600, 130]}).points.last
    assert_in_delta 0.6, on.cpu_ratio.value, 0.02
    assert_in_delta 1.3, on.memory_ratio.value, 0.04
    assert on.cpu_ratio.covers?(0.6)
    assert_operator on.cpu_ratio.level_ratio, :>=, 0.95
  end

  test "the cheapest is taken, when nothing close to it needs less memory" do
    made = judge({"off" => [1_000, 100], "on" => [600, 130], "half" => [800, 115]})
    assert_equal "on", made.recommended
  end

  test "what is not shown to be dearer and needs less memory is taken instead of the cheapest" do
    made = judge({"off" => [1_000, 100], "on" => [600, 130], "on with 16 MiB" => [606, 112]})
    assert_equal "on with 16 MiB", made.recommended
    assert_match(/not shown to take more CPU than the cheapest \(on\)/, made.reason)
  end

  test "what fails clearly more often than the baseline is not taken, be it the only one that fits" do
    variants = {"off" => [1_000, 120], "failing" => [970, 90], "lean" => [1_000, 95]}
    made = study(variants)
    failure = Prove::Failure.new(variant: "failing", attempts_count: 4, all_count: 12, reason: PumaTuner::Statement.of(:told, text: "500"), clearly_more: true)
    verdict = made.verdict.with(failures: [failure])
    judged = ->(mib) { PumaTuner::Tradeoff::Judge.new(verdict, subject: "malloc", workers_count: 1, memory_limit_bytes: mib * PumaTuner::Units::MIB).call }
    assert_equal %w[lean lean], [judged.call(100).recommended, judged.call(10).recommended]
  end

  # Eleven others are alike, and chance alone makes one of them lean at 95%.
  test "of many that are as cheap, one is called leaner only where it must be for all of them together" do
    random = Random.new(6)
    others = ("a".."k").map { |name| "on #{name}" }
    cpu = {"off" => [1_000, 1_001] * 6, "on" => [700, 702] * 6, **others.to_h { |name| [name, [701, 702] * 6] }}
    alike = others.drop(1).to_h { |name| [name, Array.new(12) { 130 + random.rand(-9.0..9.0) }] }
    # Two rounds of twelve point the other way, which is enough for 95%, and not for 99.5%.
    memory = {"off" => [100] * 12, "on" => [130] * 12, "on a" => Array.new(10) { |round| 125 + 0.2 * round } + [131, 134], **alike}
    assert_equal "on", study_of(cpu, memory).recommended
    assert_equal "on a", study_of(cpu.slice("off", "on", "on a"), memory.slice("off", "on", "on a")).recommended
  end

  # @return [PumaTuner::Tradeoff::Study] of values by round
  def study_of(cpu_us, pss_mib)
    trials = Array.new(12) do |round|
      cpu_us.keys.each_with_index.map do |name, index|
        trial(name, round, index, 1, 1, memory: nil, conditions: {}, warmup: nil).then do |made|
          made.with(values: {"cpu_per_request" => cpu_us[name][round] * 1_000.0, "pss" => pss_mib[name][round] * PumaTuner::Units::MIB.to_f})
        end
      end
    end
    named = cpu_us.keys.map { |name| Prove::Variant.new(name:) }
    PumaTuner::Tradeoff::Judge.new(Tradeoffs.verdict(named, trials.flatten), subject: "yjit").call
  end

  # The baseline scatters by a tenth, and with it both ratios over it; held against each other, one takes 5% more.
  test "what takes more CPU than the cheapest is not taken for the baseline's scatter" do
    random = Random.new(4)
    scattered = ->(middle, share) { Array.new(12) { middle * (1 + share * (2 * random.rand - 1)) } }
    cpu = {"off" => scattered.call(1_000, 0.15), "on" => scattered.call(700, 0.005), "on with 16 MiB" => scattered.call(735, 0.005)}
    made = study_of(cpu, {"off" => [100] * 12, "on" => [130] * 12, "on with 16 MiB" => [115] * 12})
    assert_operator made.points.last.cpu_ratio.low, :<, made.points[1].cpu_ratio.value
    assert_equal "on", made.recommended
  end

  test "what is not shown to need less memory than the cheapest is not taken for that" do
    random = Random.new(5)
    cpu = {"off" => [1_000, 1_001] * 6, "on" => [700, 702] * 6, "half" => [702, 705] * 6}
    memory = {"off" => [100] * 12, "on" => [130, 128] * 6, "half" => Array.new(12) { |round| (round.even? ? 120 : 135) + random.rand }}
    made = study_of(cpu, memory)
    assert_operator made.points.last.memory, :<, made.points[1].memory
    assert_equal "on", made.recommended
  end

  test "where nothing is shown to be cheaper, the baseline is kept" do
    made = judge({"off" => [1_000, 100], "on" => [1_001, 90]})
    assert_equal ["off", "Nothing is shown to take less CPU than off."], [made.recommended, made.reason]
  end

  # Of two settings beside the baseline each has 2.5% of the error: 2 of 2^n outcomes.
  test "where the rounds are too few to show anything of so many settings, it is said how many it takes" do
    variants = {"off" => [1_000, 100], "on" => [600, 130], "half" => [800, 110]}
    made = judge(variants, rounds_count: 6)
    assert_equal ["off", "Nothing is shown to take less CPU than off. 6 rounds can show nothing of so many settings: it takes 7 or more."],
      [made.recommended, made.reason]
    assert_equal "on", judge(variants, rounds_count: 7).recommended
  end

  test "a limit of memory counts for all workers, and what does not fit is not taken" do
    variants = {"off" => [1_000, 100], "on" => [600, 130], "half" => [800, 110]}
    assert_equal "half", judge(variants, workers_count: 4, memory_limit_bytes: 450 * PumaTuner::Units::MIB).recommended
    none = judge(variants, workers_count: 4, memory_limit_bytes: 10 * PumaTuner::Units::MIB)
    assert_equal "off", none.recommended
    assert_match(/None fits into 10 MiB with 4 workers/, none.reason)
    assert_in_delta 4 * 130, none.estimated_bytes["on"] / PumaTuner::Units::MIB, 8
  end

  test "memory of a cluster is estimated from the workers that ran" do
    made = judge({"off" => [1_000, 100], "on" => [600, 130]}, topology: "2x3", workers_count: 6)
    assert_in_delta 3 * 100, made.estimated_bytes["off"] / PumaTuner::Units::MIB, 8
  end

  test "a process that still grows, and a compiler that is nearly full, are told" do
    growing = [[0, 50, 50], [100, 80, 80], [200, 90, 90], [300, 100, 100]].map { |count, *mib| [count, *mib.map { |one| one * PumaTuner::Units::MIB }] }
    made = judge({"off" => [1_000, 100], "on" => [600, 130]}, memory: growing, conditions: {"yjit_code_ratio" => 0.9, "yjit_code_bytes" => 7 * PumaTuner::Units::MIB})
    remarks = made.points.last.remarks.join
    assert_match(/90\.0% of its limit/, remarks)
    assert_match(/still growing: 10\.0% of it/, remarks)
    assert_equal 7 * PumaTuner::Units::MIB, made.points.last.code_bytes
    flat = growing.map { |count, *| [count, 100 * PumaTuner::Units::MIB, 100 * PumaTuner::Units::MIB] }
    assert_empty judge({"off" => [1_000, 100], "on" => [600, 130]}, memory: flat).points.last.remarks
  end

  test "what memory grew by while the process was warmed up is not told as growth under the load" do
    curve = [[0, 50], [100, 80], [200, 90], [300, 100], [330, 100], [360, 100]].map { |count, mib| [count, mib * PumaTuner::Units::MIB, mib * PumaTuner::Units::MIB] }
    warm = PumaTuner::Load::Warmup.new(steady: true, reason: nil, windows_count: 3, duration_ns: 1, requests_count: 300, cpu_per_request_ns: [1, 1, 1])
    made = judge({"off" => [1_000, 100], "on" => [600, 130]}, memory: curve, warmup: warm)
    assert_equal [0.0, []], [made.points.last.growth_ratio, made.points.last.remarks]
    refute_empty judge({"off" => [1_000, 100], "on" => [600, 130]}, memory: curve).points.last.remarks
  end

  test "of many variants, what one interval shows by itself is not taken: it must hold for all together" do
    variants = {"off" => [1_000, 100], "a" => [970, 90], **("b".."k").to_h { |name| [name, [1_000, 100]] }}
    assert_operator judge(variants).points[1].cpu_ratio.high, :<, 1
    assert_equal %w[off a], [8, 12].map { |rounds_count| judge(variants, rounds_count:).recommended }
  end

  test "while YJIT still compiles, that is told, and so is that nothing should be decided yet" do
    made = judge({"off" => [1_000, 100], "on" => [1_001, 110]}, conditions: {"yjit_new_ratio" => 0.08})
    assert_match(/still compiling: 8\.0% of its code came during the load.*not all of its gain/, made.points.last.remarks.join)
    assert_match(/than off\. But YJIT was still compiling/, made.reason)
    assert_empty judge({"off" => [1_000, 100], "on" => [1_001, 110]}, conditions: {"yjit_new_ratio" => 0.04}).points.last.remarks
  end

  test "a study can be written and read" do
    made = judge({"off" => [1_000, 100], "on" => [600, 130]})
    assert_equal made, PumaTuner::Document.parse(PumaTuner::Document.dump(made), "study", [:tradeoff])
  end

  test "the settings to take are printed as environment variables" do
    factors = [{"yjit" => "off", "topology" => "1x3"},
      {"yjit" => "on", "rubyopt" => "--yjit-mem-size=16", "preload" => "libjemalloc.so.2", "env.MALLOC_ARENA_MAX" => "2"}]
    verdict = judge({"off" => [1_000, 100], "on" => [600, 130]}).verdict
    verdict = verdict.with(cells: verdict.cells.zip(factors).map { |cell, own| cell.with(factors: own) })
    assert_equal [[], ["RUBY_YJIT_ENABLE=1", 'RUBYOPT="--yjit-mem-size=16"', "LD_PRELOAD=libjemalloc.so.2", "MALLOC_ARENA_MAX=2"]],
      PumaTuner::Tradeoff::Judge.new(verdict, subject: "yjit").call.points.map(&:settings)
  end
end
