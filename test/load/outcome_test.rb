# frozen_string_literal: true

require "test_helper"
require "json"
require "tmpdir"

class OutcomeTest < TunerTest
  Outcome = PumaTuner::Load::Outcome

  def outcome(**changes)
    Outcome.new(generator: "wrk 4.1.0", connections_count: 10, duration_ns: 2_000_000_000, requests_count: 400, throughput_per_s: 200.0,
      mean_ns: 50_000_000, p50_ns: 49_000_000, p90_ns: 60_000_000, p99_ns: 80_000_000, statuses: {"200" => 400},
      unexpected_count: 0, socket_errors_count: 0, unknown: [], **changes)
  end

  test "has no complaint when all went well" do
    assert_nil outcome.complaint
    assert_same (good = outcome), good.ensure_expected_responses
  end

  test "complains of wrong responses, broken connections and silence" do
    {
      {unexpected_count: 3, statuses: {"200" => 397, "500" => 3}} => /3 of 400 responses had an unexpected status \(200: 397, 500: 3\)/,
      {unexpected_count: 3, wrong_body_count: 3} => /3 of 400 responses did not contain the expected text/,
      {socket_errors_count: 2} => /2 connections broke or were refused, beside 400 responses/,
      {socket_errors_count: 2, first_failure: "connecting: refused"} => /beside 400 responses; the first to fail: connecting: refused/,
      {unanswered_count: 5} => /5 requests were never answered, beside 400 that were/,
      {requests_count: 0, mean_ns: nil, statuses: {}} => /no request was answered/
    }.each do |changes, said|
      assert_match said, outcome(**changes).complaint
      assert_match said, assert_raises(PumaTuner::InvalidMeasurement) { outcome(**changes).ensure_expected_responses }.message
    end
  end

  test "the advice is of what went wrong: a slow app is asked less, and only statuses can be listed" do
    {
      {unexpected_count: 3, statuses: {"500" => 3}} => /look at the server's log\. Statuses that are right can be listed with expect:/,
      {unexpected_count: 3, statuses: {"403" => 3}} => /log\. A host name that the app does not know is refused like this, too: header:Host=…\. Statuses that/,
      {unexpected_count: 3, statuses: {"200" => 300, "429" => 3}} => /log\. Whoever asks often is refused like this \(Rack::Attack, .*meanwhile\. Statuses that/,
      {socket_errors_count: 2} => /Send the same requests by hand, and look at the server's log\.\z/,
      {unanswered_count: 5} => /beside 400 that were\. It is slow for so many at once: send by fewer --connections, or for a longer --duration\.\z/,
      {unanswered_count: 5, intended_count: 405} => /send a lower --rate\.\z/
    }.each do |changes, said|
      assert_match said, assert_raises(PumaTuner::InvalidMeasurement) { outcome(**changes).ensure_expected_responses }.message
    end
  end

  # A thousand latencies, evenly spread around a median of 8.44855 ms, times `scale`.
  def median_ns(scale)
    latencies_ns = Array.new(1_000) { |place| ((7.0 + 2.9 * (place + 0.5) / 1_000) * scale * 1e6).round }
    outcome(latency: PumaTuner::Probe::Histogram.of(latencies_ns)).percentile_ns("p50")
  end

  # The buckets there go from 8.389 to 8.651 ms, and on to 8.913 ms: by their middles these medians are equal, or 3.1% apart.
  test "percentiles in one bucket of the histogram are told apart, and those beside its edge are not far from each other" do
    {[1.0, 1.023] => 1.023, [1.0237, 1.0247] => 1.001}.each do |scales, ratio|
      medians = scales.map { |scale| median_ns(scale) }
      scales.zip(medians) { |scale, ns| assert_in_epsilon 8_448_550 * scale, ns, 0.0005 }
      assert_in_delta ratio, medians.last.fdiv(medians.first), 0.0005
    end
    six_rounds = [1.0, 1.023].map { |scale| [median_ns(scale)] * 6 }
    assert_equal :worse, PumaTuner::Prove::Outcome.of(PumaTuner::Stats::PairedRatio.of(*six_rounds), more_is_better: false, equivalent_ratio: 0.02)
  end

  test "a percentile is no more than the longest latency, 0 of nothing else, and unknown of none" do
    told = ->(latencies_ns) { outcome(latency: PumaTuner::Probe::Histogram.of(latencies_ns), max_ns: latencies_ns.max).percentile_ns("p50") }
    assert_equal [8_400_000, 0, nil], [[8_400_000], [0, 0, 5_000], []].map(&told)
    assert_equal 49_000_000, outcome.percentile_ns("p50")
  end

  test "a load and a trial of it tell the same percentiles, also of a load in parts" do
    latency = PumaTuner::Probe::Histogram.of(Array.new(1_000) { |place| 8_400_000 + 200 * place })
    request = {statuses: {200 => 1_000}, answered_count: 1_000, unexpected_count: 0, wrong_body_count: 0, body_bytes_min: 1, body_bytes_max: 1}
    figures = {latency: latency.counts, service: latency.counts, latency_sum_ns: 8_500_000_000, latency_max_ns: 8_599_800, elapsed_ns: 8_500_000_000,
               settling_ns: 0, answered_count: 1_000, in_time_count: 1_000, cpu_ns: 1, connections_count: 1, failed_count: 0, unanswered_count: 0,
               unmet_count: 0, refused: false, first_failure: nil, requests: [request]}
    arrivals = PumaTuner::Load::Arrivals.closed
    one = PumaTuner::Load::NativeOutcome.new(figures, name: "x", connections_count: 1, duration_s: 8.5, arrivals:).outcome
    [one, one + one].each do |told|
      assert_equal %w[p50 p90 p99 p99.9].map { |name| told.percentile_ns(name) }, [told.p50_ns, told.p90_ns, told.p99_ns, told.p999_ns]
      assert_operator told.p50_ns, :<, told.p90_ns
    end
  end

  test "a request of an open loop that had no response has met no goal" do
    latency = PumaTuner::Probe::Histogram.of([1_000_000] * 400)
    goals = [PumaTuner::Goal.read("90% < 300ms")]
    attained = lambda do |**due|
      outcome(latency:, **due).held_against(goals).attainments.map { |one| [one.share.value, one.met?] }
    end
    assert_equal [[1.0, true]], attained.call
    assert_equal [[1.0, true]], attained.call(intended_count: 400)
    assert_equal [[0.8, false]], attained.call(intended_count: 500, unanswered_count: 90, socket_errors_count: 10)
  end

  # An open loop of 8 s to a server that does `served_per_s`, one request after the other, in `alone_ms` each.
  def sent(rate_per_s, served_per_s, alone_ms: 10)
    grown_s = 8 * [rate_per_s.fdiv(served_per_s) - 1, 0].max
    left_count = rate_per_s * alone_ms / 1_000 + 8 * [rate_per_s - served_per_s, 0].max
    mean_ns = (alone_ms * 1e6 + grown_s * 1e9 / 2).round
    outcome(intended_count: rate_per_s * 8, requests_count: rate_per_s * 8, duration_ns: 8_000_000_000, drained_count: left_count,
      mean_ns:, p50_ns: mean_ns, p99_ns: (alone_ms * 1e6 + grown_s * 1e9 * 0.99).round)
  end

  test "an open loop tells that the server fell behind its rate, by little or by far, and not that it is slow" do
    assert_equal [true] * 7, [[110, 100], [120, 100], [150, 100], [170, 100], [200, 100], [1_000, 10], [100, 50]].map { |rates| sent(*rates).fell_behind? }
    assert_equal [false] * 5, [sent(100, 100), sent(100, 100, alone_ms: 900), sent(100, 100, alone_ms: 4_000), sent(5, 4), sent(100, 99)].map(&:fell_behind?)
    refute_predicate outcome, :fell_behind?
    refute_predicate outcome(intended_count: 0, requests_count: 0, mean_ns: nil), :fell_behind?
    assert_predicate outcome(intended_count: 800, duration_ns: 8_000_000_000, unanswered_count: 300), :fell_behind?
    # Two of three pages take a second, one 7: with a thread for each request none waits.
    mixed = {intended_count: 80, duration_ns: 8_000_000_000, drained_count: 30, mean_ns: 3_000_000_000, p50_ns: 1_000_000_000,
             p99_ns: 7_000_000_000}
    refute_predicate outcome(**mixed), :fell_behind?
    assert_predicate outcome(**mixed, p50_ns: 3_000_000_000), :fell_behind?
  end

  test "what the server printed is told with the complaint, and is not part of what is kept" do
    error = assert_raises(PumaTuner::InvalidMeasurement) { outcome(socket_errors_count: 2).ensure_expected_responses { ["no such table"] } }
    assert_match(/\nIts last lines:\n  \| no such table\z/, error.message)
    refute_includes error.kept, "no such table"
  end

  test "goes through JSON and back" do
    assert_equal outcome, Outcome.from_document(JSON.parse(JSON.generate(outcome.to_document)))
  end

  test "is a document of its own" do
    Dir.mktmpdir do |folder|
      path = File.join(folder, "load.json")
      full = outcome(latency: PumaTuner::Probe::Histogram.of([1_000, 2_000]), lag: PumaTuner::Probe::Histogram.of([5]), statuses: {"200" => 400})
      PumaTuner::Document.write(full, path)
      assert_equal full, PumaTuner::Document.read(path, :load_outcome)
    end
  end

  test "is frozen through and through" do
    assert Ractor.shareable?(outcome)
  end
end
