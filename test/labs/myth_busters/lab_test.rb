# frozen_string_literal: true

require_relative "fixture"

# The whole lab, as small as it can be: every part, and rounds that prove nothing.
class MythBustersLabTest < TunerTest
  time_limit 280

  MythBusters = MythBustersFixture::Lab

  def tiny
    quick = MythBusters::Sizes.quick
    duel = quick.duel.with(rounds_count: 1, seconds: 0.2, warmup_s: 0.1)
    quick.with(duel:, mixed: duel, grid: quick.grid.transform_values { [1] }, connections: [1], saturated: 2, rate_ratios: [0.5], open_s: 0.3,
      ab: {requests_count: 3, connections: [1]}, shares: [0.7], threads: [5], clients_count: 5, record_s: 1.0, warmup_s: 0.2, cell_s: 0.4, probe_s: 0.3,
      seeds_count: 2, requests_count: 200, block: {rounds_count: 1, duration_s: 0.05, warmup_limit_s: 0.05},
      talk: {topologies: %w[1x4 2x4], connections: [2, 4]})
  end

  PARTS = [/Puma and Go/, /tarai/, /\Aab/, /capacity/, /threads/, /70% IO/, /which request the talk/, /the talk's request/, /database clients in the app/, /variants/, /json/, /database clients/, /side by side/].freeze

  # @return [Array(PumaTuner::Lab::Finding, Array<String>)] and what was said to be at hand
  def run_keeping(folder, lab)
    notes = []
    run = PumaTuner::Lab::Run.new(lab, quick: true, say: ->(text) { notes << text }, folder: File.expand_path("../../../labs/07-myth-busters", __dir__), kept: PumaTuner::Lab::Kept.new(folder, same: {}))
    [lab.call(run), notes]
  end

  test "runs every part and tells each as claims, tables and charts; a run that goes on measures nothing again" do
    reason = MythBustersFixture.why_not
    skip reason if reason
    finding, notes = Dir.mktmpdir do |folder|
      lab = MythBusters.new(quick: tiny)
      run_keeping(folder, lab).tap do |finding, _|
        again, notes = run_keeping(folder, lab)
        assert(PARTS.none? { |part| notes.any?(part) }, notes.inspect)
        assert_equal finding.with(started_at: again.started_at, machine: again.machine), again
      end
    end
    PARTS.each { |part| assert notes.any?(part), part }
    assert_operator finding.claims.size, :>, 35
    assert_equal ["a typical Rails API spends 65–70% of its time in IO"], finding.claims.select { |claim| claim.outcome == :not_measured }.map(&:text)
    assert finding.charts.any? { |chart| chart.id == "io-share" }
    assert finding.tables.find { |table| table.title.start_with?("The predictor's error") }.rows.any?
    %i[text html markdown json].each { |format| refute_empty PumaTuner::Report.render(finding, format:) }
    assert_equal finding, PumaTuner::Document.parse(PumaTuner::Report.render(finding, format: :json), "finding.json", %w[finding])
  end

  test "says which packages its set-up lacks, and how to have them" do
    needed = {"there" => RbConfig.ruby, "not-there" => "no-such-program", "nor-there" => "/no/such/file"}
    mistake = assert_raises(PumaTuner::UsageError) { MythBusters::Packages.ensure_installed(needed.keys, needed:) }
    assert_match(/apt-get install --no-install-recommends not-there nor-there\z/, mistake.message)
    assert_nil MythBusters::Packages.ensure_installed(["there"], needed:)
  end
end
