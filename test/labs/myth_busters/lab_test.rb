# frozen_string_literal: true

require_relative "fixture"

# The whole lab, as small as it can be: every part, and rounds that prove nothing.
class MythBustersLabTest < TunerTest
  time_limit 280

  MythBusters = MythBustersFixture::Lab

  def tiny
    quick = MythBusters::Sizes.quick
    quick.with(duel: quick.duel.with(rounds_count: 1, seconds: 0.2, warmup_s: 0.1), connections: [1], saturated: 2, rate_ratios: [0.5], open_s: 0.3,
      ab: {requests_count: 3, connections: [1]}, shares: [0.7], threads: [5], clients_count: 5, record_s: 1.0, warmup_s: 0.2, cell_s: 0.4, probe_s: 0.3,
      seeds_count: 2, requests_count: 200, block: {rounds_count: 1, duration_s: 0.05, warmup_limit_s: 0.05})
  end

  test "runs every part and tells each as claims, tables and charts" do
    reason = MythBustersFixture.why_not
    skip reason if reason
    lab = MythBusters.new(quick: tiny)
    notes = []
    finding = lab.call(PumaTuner::Lab::Run.new(lab, quick: true, say: ->(text) { notes << text }, folder: File.expand_path("../../../labs/07-myth-busters", __dir__)))
    [/Puma and Go/, /tarai/, /\Aab/, /capacity/, /threads/, /70 % IO/, /variants/, /json/, /database clients/, /side by side/].each { |part| assert notes.any?(part), part }
    assert_operator finding.claims.size, :>, 35
    assert_equal ["a typical Rails API spends 65–70 % of its time in IO"], finding.claims.select { |claim| claim.outcome == "not measured" }.map(&:text)
    assert finding.charts.any? { |chart| chart.id == "io-share" }
    assert finding.tables.find { |table| table.title.start_with?("The predictor's error") }.rows.any?
    %i[text html markdown json].each { |format| refute_empty PumaTuner::Report.render(finding, format:) }
    assert_equal finding, PumaTuner::Document.parse(PumaTuner::Report.render(finding, format: :json), "finding.json", %w[finding])
  end

  test "is known by name, and says what its set-up lacks" do
    lab = PumaTuner::Lab.find("myth_busters")
    assert_equal [5, true], [lab.story, lab.respond_to?(:set_up)]
    assert_equal ["nothing"], MythBusters::Packages::NEEDED.merge("nothing" => "no-such-program").then { |needed| needed.keys.reject { |name| MythBusters::Packages.path_of(needed.fetch(name)) } } & ["nothing"]
    assert_nil MythBusters::Packages.path_of("/no/such/file")
  end
end
