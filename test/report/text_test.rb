# frozen_string_literal: true

require "test_helper"
require "json"
require_relative "golden"
require_relative "proof_fixture"

class ReportTextTest < TunerTest
  include Golden

  def text(value, verbose: true, **options) = PumaTuner::Report.render(value, format: :text, verbose:, **options)

  def many_endpoints(count)
    (1..count).map { |number| ["GET /api/v2/organizations/:organization_id/reports/#{number}.json", 2_000 - number * 10, *TuningFixture::ENDPOINTS[number % 5].drop(2)] }
  end

  test "the text of a whole tuning in single mode" do
    assert_golden "tuning.txt", text(TuningFixture.tuning)
  end

  test "unasked, a tuning shows the conclusions, the threads, the settings worth a look, the advice and the proof" do
    output = text(TuningFixture.tuning, verbose: false)
    assert_golden "tuning_brief.txt", output
    assert_equal ["In short", "Threads", "Predicted", "Recommended", "Proof", "There is more"],
      output.lines.grep(/\A[A-Z]/).grep_v(/\ARecommended config/).map { |line| line[/\A[A-Z][a-z ]+/].strip }
    assert_match(/^  3 of 16 topologies\.$/, output)
    assert_operator output.lines.size, :<, text(TuningFixture.tuning).lines.size / 2
  end

  test "unasked, a proof on its own shows what was found and its table, and an observation its threads and endpoints" do
    assert_golden "verdict_brief.txt", text(TuningFixture.verdict, verbose: false)
    output = text(TuningFixture.observation, verbose: false)
    assert_match(/^Threads.*^Endpoints.*^Jobs.*^Details.*^There is more: --verbose, and in the HTML report\.\n\z/m, output)
    refute_match(/^GVL|^Background/, output)
  end

  test "the text promises nothing more where nothing is left out" do
    [TuningFixture.advice_list, TuningFixture.workload].each { |value| refute_includes text(value, verbose: false), "There is more" }
    refute_includes text(TuningFixture.tuning), "There is more"
  end

  test "the text of a tuning without a proof" do
    assert_golden "tuning_without_verdict.txt", text(TuningFixture.tuning(verdict: nil))
  end

  test "a tuning whose model misses what it was made from says that first, and recommends nothing" do
    output = text(TuningFixture.tuning_without_trust)
    assert_golden "tuning_without_trust.txt", output
    [output, text(TuningFixture.tuning_without_trust, verbose: false), text(TuningFixture.sweep.with(self_check: TuningFixture.self_check))].each do |told|
      assert_match(/\AIn short.*\n  Beware +The model does not reproduce the recording at 1x8/, told)
    end
  end

  test "a model that reproduces its recordings takes one line" do
    well = TuningFixture.self_check.then { |check| check.with(settings: check.settings.first(1)) }
    output = text(TuningFixture.sweep.with(self_check: well))
    refute_match(/Beware/, output)
    assert_match(/The model reproduces its recording within noise \(1x5 with 20 connections: throughput -1%, p50 \+1%,\s+p99 -9%\); this says nothing of other settings/, output)
  end

  test "percentiles that were asked for are the columns" do
    asked = TuningFixture.sweep.then do |sweep|
      sweep.with(forecasts: sweep.forecasts.map { |one| one.with(quantiles: {"p95" => one.p90_ns, "p99.9" => one.p99_ns}) })
    end
    assert_match(/requests\/s +p95 ms +p99\.9 ms +cores/, text(asked))
    assert_includes PumaTuner::Report.render(asked, format: :markdown), "| workers x threads | requests/s | p95 | p99.9 | cores |"
    page = PumaTuner::Report.render(asked, format: :html)
    %w[p50 p90 p95 p99 p99.9].each { |name| assert_includes page, "#{name} ms</th>" }
  end

  test "the most load that some settings can take, and why no more" do
    output = text(TuningFixture.sweep_of_capacities)
    assert_golden "sweep_of_capacities.txt", output
    assert_includes PumaTuner::Report.render(TuningFixture.sweep_of_capacities, format: :html), 'id="capacity"'
  end

  test "a tuning that recommends to stay, with the same settings measured twice" do
    tuning = TuningFixture.tuning(advice_list: TuningFixture.advice_list(recommended: "1x5"), verdict: TuningFixture.verdict_of_the_same)
    assert_golden "tuning_stay.txt", text(tuning)
  end

  test "an observation of a cluster with parts and facts unknown" do
    assert_golden "observation_of_a_cluster.txt", text(TuningFixture.cluster_observation)
  end

  test "an observation without the extension, most parts unknown" do
    assert_golden "observation_without_extension.txt", text(TuningFixture.observation_without_extension)
  end

  test "a snapshot of a process of jobs, without Puma" do
    assert_golden "observation_of_jobs.txt", text(TuningFixture.jobs_observation)
  end

  test "many endpoints with long names" do
    assert_golden "observation_with_many_endpoints.txt", text(TuningFixture.observation(endpoint_rows: many_endpoints(20)))
  end

  test "many topologies become a matrix and the interesting rows" do
    assert_golden "tuning_with_many_topologies.txt", text(TuningFixture.tuning(sweep: TuningFixture.sweep(workers: 1..14, threads: 1..5)))
  end

  test "a sweep of three loads has a matrix and its reasons for each, with what is assumed above and what limits it below" do
    assert_golden "sweep_of_three_loads.txt", text(TuningFixture.wide_sweep)
  end

  test "few forecasts are rows, and all of them are explained" do
    settings = [{}, {timeslice_ms: 10}, {timeslice_ms: 10, io_threads_count: 2}]
    assert_golden "sweep_of_three_settings.txt", text(TuningFixture.sweep(workers: 2..2, threads: 2..3, settings:))
  end

  test "the same topology with several minimums is told apart, in rows" do
    forecasts = [1, 3, 5].map { |count| TuningFixture.forecast(1, 5, min_threads_count: count) }
    output = text(TuningFixture.sweep.with(forecasts: forecasts * 9))
    assert_match(/^  1x5 min 3 +247/, output)
    refute_match(/-w 1/, output)
  end

  test "the text says only so where nothing has a steady state" do
    output = text(TuningFixture.sweep(workers: 1..1, threads: 1..2, loads: [PumaTuner::Model::Arrivals.open(2_000, kind: "even")]))
    assert_match(/^Predicted: workers x threads, with 2000 requests\/s \(even\)$/, output)
    assert_match(/^  1x1  no steady state$/, output)
    assert_includes output.gsub(/\s+/, " "), "No steady state: 1x2: 2000 requests/s arrive and at most 168/s can be served: the queue grows without bound."
    refute_match(/Amdahl|gvlwait/, output)
  end

  test "loads of one topology are the rows of one table" do
    loads = [TuningFixture.closed, TuningFixture.closed(200), *[100, 240, 400].map { |rate| PumaTuner::Model::Arrivals.open(rate) }]
    assert_golden "sweep_of_one_topology.txt", text(TuningFixture.sweep(workers: 1..1, threads: 5..5, loads:))
  end

  test "the text of a workload of an open loop" do
    arrivals = PumaTuner::Model::Arrivals.open(80)
    assert_includes text(TuningFixture.workload(arrivals:)), "Arrivals: open loop (poisson) of 80.0 requests/s, whatever the server does."
  end

  test "the text of a workload" do
    assert_golden "workload.txt", text(TuningFixture.workload)
  end

  test "the text of a list of advice" do
    assert_golden "advice_list.txt", text(TuningFixture.advice_list)
  end

  test "the text of a verdict" do
    assert_golden "verdict.txt", text(TuningFixture.verdict)
  end

  test "a proof of two versions of a gem" do
    assert_golden "proof_of_gems.txt", text(ProofFixture.gems)
  end

  test "a proof of two blocks" do
    assert_golden "proof_of_blocks.txt", text(ProofFixture.blocks)
  end

  test "a proof of six variants tells who has what" do
    assert_golden "proof_of_six_variants.txt", text(ProofFixture.factorial)
  end

  test "a verdict of so few rounds that nothing can be shown, without forecasts and without memory" do
    verdict = TuningFixture.verdict(voided: false)
    cells = verdict.cells.map { |cell| cell.with(estimates: cell.estimates.except("pss"), predicted: {}) }
    comparisons = verdict.comparisons.map { |comparison|
      comparison.with(ratio: comparison.ratio.with(level_ratio: nil, samples_count: 2), predicted_ratio: nil, mde_ratio: nil,
        t_ratio: nil, p_value: nil, adjusted_p_value: nil, outcome: :not_shown)
    }
    assert_golden "verdict_of_two_rounds.txt", text(verdict.with(cells:, comparisons:, trials: verdict.trials.first(4), rounds_count: 2))
  end

  test "colour adds nothing but colour" do
    colored = text(TuningFixture.tuning, color: true)
    assert_includes colored, "\e[1mPredicted"
    assert_equal text(TuningFixture.tuning), PumaTuner::Report::Paint.strip(colored)
  end

  test "no line is longer than a hundred columns" do
    every_part = PumaTuner::Probe::Parts::REQUEST.to_h { |part| [part, 0.1] }
    busy = [["GET /a/name/that/is/far/too/long", 1_234_567, 12_345, 12_345, 54_321, every_part]]
    many = TuningFixture.sweep(workers: 1..14, threads: 1..5)
    nasty = ProofFixture.nasty("a name that goes on and on and on, and does not end where it should")
    [TuningFixture.tuning, TuningFixture.tuning(sweep: many), TuningFixture.tuning(sweep: TuningFixture.wide_sweep), TuningFixture.wide_sweep, TuningFixture.cluster_observation, TuningFixture.verdict, nasty,
      ProofFixture.gems, ProofFixture.blocks, ProofFixture.factorial,
      TuningFixture.observation_without_extension, TuningFixture.jobs_observation,
      TuningFixture.observation(endpoint_rows: many_endpoints(20)), TuningFixture.observation(endpoint_rows: busy)].each do |value|
      assert_empty text(value).lines(chomp: true).select { |line| line.length > 100 }
    end
  end

  test "what is recommended stands under the threads of a tuning, with workers when there are several" do
    assert_match(/^  also: .*\nRecommended config: puma -t 3:3 -w 2$/, text(TuningFixture.tuning))
    stay = TuningFixture.tuning(advice_list: TuningFixture.advice_list(recommended: "1x5"), verdict: nil)
    assert_match(/^Recommended config: puma -t 5:5$/, text(stay))
  end

  test "without a recommendation no config is named" do
    nothing = PumaTuner::Advise::AdviceList.new(advice: [])
    [TuningFixture.observation, TuningFixture.tuning(advice_list: nothing, verdict: nil)].each do |value|
      refute_includes text(value), "Recommended config"
    end
  end

  test "a void trial's reason is told, and nothing where none was void" do
    told = text(TuningFixture.verdict).gsub(/\s+/, " ")
    assert_includes told, "2 trials void; their rounds were run again."
    assert_includes told, "round 3, recommended: 2 of 1552 responses had an unexpected status (500: 2)"
    assert_includes text(TuningFixture.verdict(voided: false)), "No trial was void."
  end

  test "nothing that a proof was given or has read steers the terminal" do
    refute_match(/[\e\a]/, text(ProofFixture.nasty("x\e]0;owned\a")))
  end

  test "the text says when there is no advice" do
    assert_includes text(PumaTuner::Advise::AdviceList.new(advice: [])), "Nothing to say"
  end

  test "the busiest of many rows are shown, with the number left out" do
    output = text(TuningFixture.observation(endpoint_rows: many_endpoints(20)))
    assert_includes output, "all, 14 rows more among them"
    threads = (1..11).map { |number| TuningFixture.background.first.with(name: "thread #{number}") }
    output = text(TuningFixture.observation(background: threads))
    assert_equal 8, output.scan(/^  thread \d+ +2\.9/).size
    assert_includes output, "3 threads more in the HTML report and in the JSON."
  end

  test "requests whose parts do not sum to their wall time are counted in a note, and nothing is said when there are none" do
    assert_includes text(TuningFixture.cluster_observation).gsub(/\s+/, " "), "80 of 7,502 requests (1.1%) have parts that do not add up to their wall time within 1%."
    refute_includes text(TuningFixture.observation), "do not add up"
  end

  test "names cannot steer the terminal" do
    rows = [["GET /\e]0;owned\a", *TuningFixture::ENDPOINTS.first.drop(1)]]
    output = text(TuningFixture.observation(endpoint_rows: rows))
    refute_match(/[\e\a]/, output)
    assert_includes output, "GET /?]0;owned?"
  end

  test "the measured time of many threads is shown for the first ones" do
    output = text(TuningFixture.observation(threads: TuningFixture.threads((0..7).to_a, 5)))
    assert_equal 32, output.scan(/^puma srv tp \d+: cpu/).size
    assert_includes output, "worker 6\n"
    assert_includes output, "8 threads more"
  end

  test "a window without a pool thread or an endpoint shows neither table" do
    output = text(TuningFixture.observation.with(threads: [], endpoints: [], jobs: [], background: [], budget: PumaTuner::Probe::Budget.zero))
    refute_match(/^Threads|^Endpoints|^Jobs|^GVL|^Background/, output)
    assert_includes output, "0 requests"
  end
end
