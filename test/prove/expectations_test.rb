# frozen_string_literal: true

require "test_helper"
require "json"
require "support/trials"

class ExpectationsTest < TunerTest
  include Trials

  Expectations = PumaTuner::Prove::Expectations

  FACTS = {noise: [], load: nil, seed: 1, machine: nil, started_at: nil, command: nil, stopped_because: nil, expectations: []}.freeze

  def verdict(factor: 1.5, rounds: 8, variants: VARIANTS)
    looks = PumaTuner::Prove::Looks.fixed(rounds)
    trials = PumaTuner::Prove::Rounds.new(variants:, looks:, trial_runner: FakeRunner.new(factor:), random: Random.new(1)).call
    PumaTuner::Prove::Judge.new(variants:, trials:, primary: "throughput", looks:).call(**FACTS)
  end

  def judged(*texts, **options) = Expectations.parse(texts).judge(verdict(**options))

  def shown(*texts, **options) = judged(*texts, **options).map(&:shown)

  test "a bound is shown when the whole interval is beyond it" do
    assert_equal [true, false, true, false], shown("throughput >= 1.4", "throughput >= 1.5", "p99 <= 0.7", "p99 <= .66")
    assert_equal [true], shown("throughput>=1.4")
  end

  # The fake rounds have a p99 of about 100 ms over the variant's factor.
  test "a goal for the latency is shown when the whole interval over the rounds is below it" do
    latest_ms = verdict.cells.last.estimates["p99"].high / 1e6
    assert_equal [true, false], shown("99% < #{(latest_ms * 1.1).ceil}ms", "99% < #{(latest_ms * 0.9).floor}ms")
    missed = judged("recommended: 99% < 1ms").first
    assert_equal [false, "recommended"], [missed.shown, missed.variant]
    assert_match(/\Ap99 was \S+ (ms|s), and its 9\d% interval is .* to /, in_words(missed.reason))
    assert_equal ["5 rounds are too few for an interval"], judged("99% < 1s", rounds: 5).map { |one| in_words(one.reason) }
  end

  # Today's p97.5 is about 100 ms, the recommended one's about 50 ms.
  def verdict_of_percentiles(texts, requests_count: 1_000)
    expectations = Expectations.parse(texts)
    facts = lambda do |variant, round|
      latency = {"p97.5" => 1e8 / ((variant.name == "today") ? 1 : 2) * (1 + round / 1_000.0)} if requests_count >= 80
      {requests_count:, values: {"throughput" => 100.0, **latency.to_h}}
    end
    looks = PumaTuner::Prove::Looks.fixed(8)
    plan = PumaTuner::Prove::Proof::Plan.new(variants: VARIANTS, looks:, seed: 1, load: nil, expectations:)
    trials = PumaTuner::Prove::Rounds.new(variants: VARIANTS, looks:, trial_runner: FakeRunner.new(facts:), random: Random.new(1)).call
    found = PumaTuner::Prove::Judge.new(variants: VARIANTS, trials:, metrics: plan.metrics, primary: plan.primary, looks:).call(**FACTS)
    found.with(expectations: expectations.judge(found))
  end

  test "any percentile may be expected, as a goal or over the baseline's, and is a row of the report" do
    texts = ["97.5% < 60ms", "97.50%<40ms", "p97.5 <= 0.6", "p97.5 better", "p97.5 >= 0.6", "recommended: p97.5 not worse"]
    found = verdict_of_percentiles(texts)
    assert_equal [true, false, true, true, false, true], found.expectations.map(&:shown)
    assert_match(/\Ap97\.5 was 50\.\d ms, and its 9\d% interval is .* to /, in_words(found.expectations[1].reason))
    assert_equal 1, found.metrics.count { |metric| metric.name == "p97.5" }
    assert_match(/^ *p97\.5 +100 .* 0\.50\dx? \(.*better/, PumaTuner::Report.render(found, format: :text))
    assert_match(/\| p97\.5 \|/, PumaTuner::Report.render(found, format: :markdown))
    assert_equal found, PumaTuner::Prove::Verdict.from_document(JSON.parse(JSON.generate(found.to_document)))
  end

  test "a percentile of too few requests is not shown, and says how many it takes" do
    found = verdict_of_percentiles(["97.5% < 1s", "p97.5 better"], requests_count: 79)
    assert_equal ["p97.5 takes 80 requests in each trial, and one had 79: use longer trials"] * 2,
      found.expectations.map { |one| in_words(one.reason) }
  end

  test "a percentage that none can be of, and a goal for a block, are mistakes that say what to write" do
    ["0% < 1s", "0.0% < 1s", "100% < 1s", "101% < 3ms", "97.5% < 3", "97.5% > 3ms", "97.5 < 3ms"].each do |text|
      assert_match(/\A"#{text}" is not an expectation\. .*"90% < 300ms", a goal.*\sabove 0 and below 100/m, assert_raises(PumaTuner::UsageError, text) { Expectations.parse([text]) }.message)
    end
    ["p0 better", "p100 <= 0.9", "p101 not worse"].each do |text|
      assert_match(/which is not measured; the metrics are .* and any other percentile, such as p97\.5\.\z/, assert_raises(PumaTuner::UsageError) { Expectations.parse([text]) }.message)
    end
    error = assert_raises(PumaTuner::UsageError) { Expectations.parse(["97.5% < 1s"], metrics: PumaTuner::Prove::Metric::BLOCK) }
    assert_match(/expects something of p97\.5, which is not measured; the metrics are iterations, .*, rss\.\z/, error.message)
  end

  test "a goal of one endpoint is refused, as a load sees none" do
    expectations = Expectations.parse(["GET /articles/:id: 97.5% < 1s"])
    error = assert_raises(PumaTuner::UsageError) { expectations.ensure_known(variant_names: ["recommended"], metrics: PumaTuner::Prove::Metric::SERVED) }
    assert_match(%r{GET /articles/:id is not compared .* variants are recommended\. A load does not see .*: send one endpoint's alone, with --path\.\z}, error.message)
  end

  test "the reason is the interval" do
    expectation = judged("p99 <= 0.5").first
    assert_match(/\Athe 96% interval is 0\.66\d to 0\.6\d\d\z/, in_words(expectation.reason))
    assert_equal ["p99 <= 0.5", "recommended"], [expectation.text, expectation.variant]
    assert_nil judged("p99 <= 0.9").first.reason
  end

  test "several interim looks share the 5%, whichever metric is asked for" do
    looks = PumaTuner::Prove::Looks.stepwise([8, 16, 32])
    trials = PumaTuner::Prove::Rounds.new(variants: VARIANTS, looks: PumaTuner::Prove::Looks.fixed(8), trial_runner: FakeRunner.new(factor: 1.5), random: Random.new(1)).call
    found = PumaTuner::Prove::Judge.new(variants: VARIANTS, trials:, primary: "throughput", looks:).call(**FACTS)
    assert_operator found.comparison("recommended", "p99").ratio.level_ratio, :>=, 1 - 0.05 / 3
    assert_operator found.comparison("recommended", "p99").ratio.high, :>, verdict.comparison("recommended", "p99").ratio.high
  end

  test "nothing good is shown of a variant that fails clearly more often" do
    failure = PumaTuner::Prove::Failure.new(variant: "recommended", attempts_count: 6, all_count: 14, reason: "2 of 10 responses had an unexpected status (500: 2)", clearly_more: true)
    found = Expectations.parse(["throughput >= 1.4", "p99 not worse"]).judge(verdict.with(failures: [failure]))
    assert_equal [false, false], found.map(&:shown)
    assert_match(/\Ait failed in 6 of 14 rounds: 2 of 10 responses/, in_words(found.first.reason))
  end

  test "outcomes are shown as they are" do
    assert_equal [true, true, false, true], shown("throughput better", "p50 better", "p50 worse", "pss equivalent")
    assert_equal [true, false], shown("throughput worse", "throughput better", factor: 0.5)
    assert_match(/\Ait is worse; the .* interval is/, in_words(judged("throughput better", factor: 0.5).first.reason))
  end

  test "\"not worse\" holds when the variant is equivalent, better, or worse within the margin" do
    assert_equal [true, true, true], shown("throughput not worse", "p50  not worse", "pss not worse")
    assert_equal [true, true], shown("throughput not worse", "p50 not worse", factor: 0.995)
    assert_equal [false, false], shown("throughput not worse", "p50 not worse", factor: 0.97)
  end

  test "a metric clear of 1 by itself, but not among so many, says so" do
    found = verdict
    comparisons = found.comparisons.map { |one| (one.metric == "p50") ? one.with(outcome: :not_shown, adjusted_p_value: 0.12) : one }
    assert_match(/\Ano difference is shown; the .*, but .*adjusted p 0\.12/, in_words(Expectations.parse(["p50 better"]).judge(found.with(comparisons:)).first.reason))
  end

  test "it must hold of all variants, or of the one that is named" do
    third = PumaTuner::Prove::Variant.new(name: "a.ru: old", factors: {"topology" => "1x1"})
    expectations = judged("throughput >= 1.4", "a.ru: old: throughput better", rounds: 12, variants: [*VARIANTS, third])
    assert_equal [["recommended", true], ["a.ru: old", true], ["a.ru: old", true]], expectations.map { |one| [one.variant, one.shown] }
  end

  test "few rounds, and what was not measured, show nothing" do
    assert_match(/5 rounds are too few/, in_words(judged("throughput better", rounds: 5).first.reason))
    assert_match(/gc_per_request of recommended could not be compared/, in_words(judged("gc_per_request better").first.reason))
  end

  test "an expectation that is not understood is refused, with the forms that are" do
    ["throughput", "throughput > 1.2", "throughput >= fast", "p99better", ""].each do |text|
      assert_match(/METRIC not worse/, assert_raises(PumaTuner::UsageError) { Expectations.parse([text]) }.message)
    end
    ["p99 <= 50", "p99 <= 300", "throughput >= 0.05"].each do |text|
      assert_match(/"#{text}" is about [\d.]+ times the baseline's\. Write .* or "90% < 300ms"/m,
        assert_raises(PumaTuner::UsageError) { Expectations.parse([text]) }.message)
    end
    assert_match(/speed, which is not measured; the metrics are throughput, p50/, assert_raises(PumaTuner::UsageError) { Expectations.parse(["speed better"]) }.message)
  end

  test "names that nobody bears are refused beforehand" do
    metrics = PumaTuner::Prove::Metric::SERVED
    Expectations.parse(["recommended: p99 better"]).ensure_known(variant_names: ["recommended"], metrics:)
    refused = ->(text) { assert_raises(PumaTuner::UsageError) { Expectations.parse([text]).ensure_known(variant_names: ["recommended"], metrics:) }.message }
    assert_match(/today is not compared with the baseline; the variants are recommended/, refused["today: p99 better"])
    assert_match(/iterations, which is not measured; the metrics are throughput/, refused["iterations better"])
  end

  test "nothing is judged without an expectation" do
    assert_empty judged
  end
end
