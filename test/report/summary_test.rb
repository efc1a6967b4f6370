# frozen_string_literal: true

require "test_helper"
require_relative "proof_fixture"
require "support/advice_fixture"

class ReportSummaryTest < TunerTest
  def points(value)
    PumaTuner::Report::Summary.new(PumaTuner::Report::Contents.of(value)).points.to_h { |point| [point.label, point.text] }
  end

  test "a whole tuning says what was found, recommended, predicted, proven and remarked" do
    assert_equal %w[Found Recommended Predicted Proven Remarks], points(TuningFixture.tuning).keys
  end

  test "a load with too few clients for the server is to be raised" do
    limited = ->(bottleneck) {
      sweep = TuningFixture.sweep
      forecasts = sweep.forecasts.map { |forecast| forecast.with(bottleneck:, scenario: forecast.scenario.with(arrivals: PumaTuner::Model::Arrivals.closed(4))) }
      points(TuningFixture.tuning(sweep: sweep.with(forecasts:)))["Found"]
    }
    assert_includes limited["clients"], "By the model, the number of connections limits it: raise --connections to learn what the server bears."
    refute_includes limited["gvl"], "--connections"
  end

  test "a server in development is told before its figures are believed, once in a report" do
    observation = TuningFixture.observation.then { |one| one.with(server: one.server.with(rack_environment: "development")) }
    told = "Recorded in development, where frameworks reload code and log more; for figures of production set RAILS_ENV=production (without Rails RACK_ENV)."
    assert_includes points(TuningFixture.tuning(observation:))["Found"], told
    assert_equal 1, PumaTuner::Report.render(TuningFixture.tuning(observation:), format: :markdown).scan("Recorded in development, where").size
    refute_includes PumaTuner::Report.render(TuningFixture.tuning, format: :markdown), "development"
  end

  test "without trust in the model nothing is recommended, and what was measured instead is told" do
    told = points(TuningFixture.tuning_without_trust.with(verdict: TuningFixture.verdict(other: "2x3")))
    assert_equal %w[Beware Found Recommended Proven Remarks], told.keys
    assert_equal "Nothing without a measurement, as the model misses what it recorded; the likeliest settings were measured beside today's.", told["Recommended"]
    assert_match(/\A2x3 is better than today/, told["Proven"])
    refute_match(/No setting is recommended/, told["Remarks"])
  end

  test "what else keeps a setting from being recommended is told as such, also where the model is far off" do
    untrusted = TuningFixture.tuning_without_trust.with(verdict: TuningFixture.verdict(other: "2x3"))
    list = untrusted.advice_list.with(advice: [AdviceFixture.titles.fetch(:pool_before_threads)])
    told = points(untrusted.with(advice_list: list))
    assert_nil told["Recommended"]
    assert_match(/\ANo more threads before the pool of connections/, told["Remarks"])
  end

  test "where the model is far off, what the others showed that were measured stands beside what is recommended" do
    verdict = TuningFixture.verdict(voided: false)
    other = TuningFixture.verdict(other: "2x8", other_topology: "2x8", factor: 1.9, voided: false)
    both = verdict.with(cells: verdict.cells + other.other_cells, comparisons: verdict.comparisons + other.comparisons)
    trusted, untrusted = [nil, TuningFixture.self_check].map do |self_check|
      TuningFixture.tuning(sweep: TuningFixture.sweep.with(self_check:), verdict: both)
    end
    refute_match(/2x8/, points(trusted)["Proven"])
    assert_match(/\Arecommended \(2x3\) is better than today .* 2x8 is better than today /, points(untrusted)["Proven"])
    [trusted, untrusted].each do |one|
      assert_match(/\Arecommended is better than today/, PumaTuner::Report::Findings.title(PumaTuner::Report::Contents.of(one)))
    end
  end

  test "what a proof showed to be better than what was recommended is the headline in every format, and the recommendation" do
    settings = {today: "1x5", advised: "2x8"}
    said = {title: TuningFixture.say(:go_by_proof, **settings), change: TuningFixture.say(:puma_options, topology: "2x8"),
            evidence: [TuningFixture.say(:by_proof, **settings, former: "2x3", former_better: true)]}
    list = TuningFixture.advice_list.with(advice: [TuningFixture.go.with(**said, topology: TuningFixture.topology("2x8"))])
    verdict = TuningFixture.verdict(other: "2x8", other_topology: "2x8", factor: 1.9)
    tuning = TuningFixture.tuning(advice_list: list, verdict:)
    assert_equal "2x8 (2 workers with 8 threads each) instead of 1x5: puma -w 2 -t 8:8. The proof showed 2x8 to be better than 1x5 " \
                 "and than 2x3, which was recommended before: what was measured goes before forecasts.", points(tuning)["Recommended"]
    pages = %i[text markdown html].map { |format| PumaTuner::Report.render(tuning, format:) }
    pages.each { |page| assert_includes page, "Go from 1x5 to 2x8: 1.90x" }
  end

  test "the largest parts are named with what they mean" do
    assert_includes points(TuningFixture.observation)["Found"], "43.8% queue (in Puma, waiting for a pool thread), 20.0% io"
  end

  test "time in no known part is named, too" do
    assert_includes points(TuningFixture.cluster_observation)["Found"], "residual (unaccounted for)"
  end

  test "the proof says whether the prediction held" do
    assert_includes points(TuningFixture.tuning)["Proven"],
      "in requests/s: 1.64x (1.60–1.69), 96% interval of 6 paired rounds; predicted 1.68x, inside that interval."
    far = TuningFixture.verdict.then { |verdict| verdict.with(comparisons: verdict.comparisons.map { |comparison| comparison.with(predicted_ratio: 3.0) }) }
    assert_includes points(far)["Proven"], "predicted 3.00x, outside that interval"
  end

  test "variants that fell behind an open loop are named beside what was proven, in summary and section" do
    verdict = TuningFixture.verdict
    cells = verdict.cells.map.with_index { |cell, index| index.zero? ? cell.with(remarks: [PumaTuner::Statement.of(:fell_behind)]) : cell }
    behind = verdict.with(cells:)
    told = "With #{verdict.cells.first.variant}, more requests came than were answered, and the queue still grew when a trial ended"
    assert_includes points(TuningFixture.tuning(verdict: behind))["Proven"], told
    pages = [verdict, behind].map { |value| PumaTuner::Report.render(value, format: :markdown).gsub(/\s+/, " ") }
    assert_equal [false, true], pages.map { |page| page.include?("the queue still grew when a trial ended") }
  end

  test "what was left out of a proof, and why, is told beside what was proven, also of a file; and that not all likely settings were measured" do
    remarks = [PumaTuner::Statement.of(:failed_at_look, variant: "3x1", text: "the server ended"),
      PumaTuner::Statement.of(:left_out, variants: %w[2x1], least_count: 7, rounds_count: nil), PumaTuner::Statement.of(:noise_left_out)]
    verdict = TuningFixture.verdict(other: "2x3").with(remarks:)
    told = points(TuningFixture.tuning_without_trust.with(verdict: PumaTuner::Prove::Verdict.from_document(JSON.parse(JSON.generate(verdict.to_document)))))
    assert_match(/ 3x1 was left out, as it failed .* rounds: the server ended\. 2x1 was left out: .*, and the time limit allows fewer\.\z/, told["Proven"])
    assert_includes told["Recommended"], "; some of the likeliest settings were measured beside today's."
  end

  test "the summary tells how much of the machine others took where it is much" do
    told = lambda do |ratio|
      disturbed = PumaTuner::Prove::Disturbed.new(taken_ratio: PumaTuner::Stats::Estimate.of_range([ratio]), again_count: 0, explained_ratio: nil, quiet_effect_ratio: nil)
      points(TuningFixture.tuning(verdict: TuningFixture.verdict.with(disturbed:)))["Proven"]
    end
    assert_includes told[0.31], "Others took 31.0% of the machine meanwhile."
    refute_includes told[0.06], "Others took"
  end

  test "why nothing is proven is told, and nothing more of what the server said" do
    unproven = TuningFixture.tuning(verdict: nil).with(unproven: PumaTuner::Unknown.of(:proof, :failed, detail: "recommended: it fell.\nIts last lines:\n  | boom"))
    assert_equal ["Nothing: recommended: it fell.", "Nothing: the proof was left out."], [unproven, TuningFixture.tuning(verdict: nil)].map { |tuning| points(tuning)["Proven"] }
  end

  test "\"no difference shown\" is not called equivalent" do
    assert_includes points(TuningFixture.tuning)["Proven"], "no difference shown: CPU per request."
  end

  test "an expectation names its variant, once, where there are several" do
    wanted = ["p50 better", "yjit=on threads=8: p50 better"].zip(["yjit=on threads=5", "yjit=on threads=8"])
      .map { |text, variant| PumaTuner::Prove::Expectation.new(text:, variant:, shown: true, reason: nil) }
    assert_equal "p50 better of yjit=on threads=5 is shown; yjit=on threads=8: p50 better is shown.",
      points(ProofFixture.factorial.with(expectations: wanted))["Asked for"]
  end

  test "what was asked for is shown or not, with the reason, and the cause is told" do
    told = points(ProofFixture.gems)
    assert_equal ["Proven", "Asked for", "Cause"], told.keys
    assert_equal "throughput >= 1.1 is shown; p99 <= 0.95 is not shown (the 96% interval is 0.912 to 0.990).", told["Asked for"]
    assert_match(/\AOf 660 µs saved per request/, told["Cause"])
  end

  test "what comes before threads is told before them, in the title and once, and the setting is the same" do
    usual = TuningFixture.advice_list
    queries = usual.recommendation.with(rule: "queries", topology: nil, lines: {}, factors: {},
      title: PumaTuner::Statement.of(:queries_first, endpoint: "GET /a", count: 20.0))
    tuning = TuningFixture.tuning(advice_list: usual.with(advice: [queries, *usual.advice]))
    before = points(TuningFixture.tuning)
    told = points(tuning)
    assert_equal "GET /a asks the database 20 times: fewer queries before more threads. #{before["Recommended"]}", told["Recommended"]
    assert_equal before["Remarks"], told["Remarks"]
    contents = PumaTuner::Report::Contents.of(tuning)
    assert_equal "Fewer queries first. #{PumaTuner::Report::Contents.of(TuningFixture.tuning).headline}", contents.headline
    titles = PumaTuner::Report::Sections::Advice.new(contents).section.blocks.grep(PumaTuner::Report::Blocks::Article).map(&:title)
    assert_match(/\AGET \/a asks/, titles[0])
    assert_match(/\AGo from 1x5/, titles[1])
    assert_equal usual.advice.size + 1, titles.size
  end

  test "to stay is recommended without a prediction, and the same settings tell the noise" do
    stay = points(TuningFixture.tuning(advice_list: TuningFixture.advice_list(recommended: "1x5"), verdict: TuningFixture.verdict_of_the_same))
    assert_equal "Stay with 1x5 (a single process with 5 threads).", stay["Recommended"]
    refute_includes stay.keys, "Predicted"
    assert_includes stay["Proven"], "today again (1x5) and today (1x5) are equivalent in requests/s"
    assert_includes stay["Proven"], "Both have the same settings, so this is the noise."
  end

  # Today's settings cannot take the load; others can.
  def overloaded
    sweep = TuningFixture.sweep(loads: [PumaTuner::Model::Arrivals.open(300)])
    advice = TuningFixture.go.with(throughput_ratio: nil, p50_ratio: nil, p99_ratio: nil)
    TuningFixture.tuning(sweep:, advice_list: PumaTuner::Advise::AdviceList.new(advice: [advice]), verdict: nil)
  end

  test "settings without a steady state have that said, and no ratio" do
    told = points(overloaded)
    assert_operator told["Found"], :end_with?, "By the model, there is no steady state: 300 requests/s arrive and at most 247/s can be served: the queue grows without bound."
    assert_equal "A steady state, which 1x5 has not.", told["Predicted"]
    rows = PumaTuner::Report::Sections::Glance.new(PumaTuner::Report::Contents.of(overloaded)).table.then do |table|
      table.rows.map { |row| row.cells.zip(table.columns).map { |cell, column| PumaTuner::Report::Words.cell(cell, column, narrow: true) } }
    end
    assert_equal ["requests/s", "no steady state", "300 (296–304)", "-"], rows.first
    text = PumaTuner::Report.render(overloaded, format: :text)
    refute_match(/Remark: Go/, text)
  end

  test "the what-ifs are named with what the model makes of them" do
    told = points(TuningFixture.tuning(sweep: TuningFixture.sweep.with(what_if: ["traffic*2", "yjit=1.2"])))
    assert_operator told["Found"], :end_with?, "By the model and assuming traffic*2 and yjit=1.2, the GVL limits it."
  end

  test "an open loop with room is limited by nothing" do
    told = points(TuningFixture.tuning(sweep: TuningFixture.sweep(loads: [PumaTuner::Model::Arrivals.open(100)])))
    assert_operator told["Found"], :end_with?, "By the model, nothing limits it at this rate."
  end

  test "a proof that was left out is said of a tuning, and not of a value on its own" do
    assert_equal "Nothing: the proof was left out.", points(TuningFixture.tuning(verdict: nil))["Proven"]
    assert_empty points(TuningFixture.sweep)
  end

  test "each of several variants has its primary metric told, and no more" do
    proven = points(ProofFixture.factorial)["Proven"]
    assert_equal 5, proven.scan("is better than yjit=on threads=3 in requests/s").size
    refute_includes proven, "Also "
    assert_includes points(ProofFixture.gems)["Proven"], " Also better: p50 "
  end

  test "a verdict without pairs, or with one variant, says so" do
    assert_equal "recommended (2x3) could not be compared in requests/s.", points(TuningFixture.verdict.with(comparisons: []))["Proven"]
    late = PumaTuner::Statement.of(:no_time_for_a_round, left_s: 2.9, round_s: 8.1, rounds_count: 6, lacking_s: 45.7)
    none = TuningFixture.verdict.with(comparisons: [], trials: [], complete: false, stopped_because: late)
    assert_match(/\Arecommended \(2x3\) could not be compared in requests\/s: not one round fits into .*: 2 s, where a round takes about 9 s\. 6 rounds, .*, need 46 s more\.\z/,
      points(none)["Proven"])
    alone = TuningFixture.verdict.then { |verdict| verdict.with(cells: verdict.cells.first(1), comparisons: [], trials: []) }
    assert_equal "Nothing: there was one variant only.", points(alone)["Proven"]
  end
end
