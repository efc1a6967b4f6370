# frozen_string_literal: true

require "test_helper"
require "support/tradeoffs"

# Lab 03, without its proofs: what is made of verdicts, by hand, and what is sent.
class YjitLabTest < TunerTest
  include PumaTuner

  NOISE = [0, 3, -2, 4, -4, 1, -3, 2].freeze
  MIB = Units::MIB

  def lab = Lab.find("yjit")

  def cell(service, mix, kinds_count, ruby: "3.4.5") = Labs::YjitMeasured::Cell.new(service:, ruby:, mix:, kinds_count:)

  # Without YJIT: p99 100 ms, CPU 10 ms, 100 MiB.
  #
  # @param on [Hash{String => Numeric}] ratios with it; code_mib: of code
  def verdict(on, code_mib: 8, code_ratio: 0.2, rounds_count: 8, requests_count: 1_000, phase: 0)
    variants = {"YJIT off" => {"p99" => 1.0, "cpu_per_request" => 1.0, "pss" => 1.0}, "YJIT on" => on}
    trials = (0...rounds_count).flat_map { |round| variants.each_with_index.map { |(name, ratios), index| trial(name, ratios, round, index, NOISE[(round + phase * round + 3 * index) % NOISE.size], code_mib, code_ratio, requests_count) } }
    Tradeoffs.verdict(variants.keys.map { |name| Prove::Variant.new(name:, factors: {"yjit" => name[/\w+\z/]}) }, trials)
  end

  def trial(name, ratios, round, index, noise, code_mib, code_ratio, requests_count)
    noise = 1 + noise / 1_000.0
    pss = (100 * MIB * ratios.fetch("pss") * noise).round
    conditions = (name == "YJIT on") ? {"yjit_code_bytes" => code_mib * MIB, "yjit_code_least_bytes" => (code_mib - 1) * MIB, "yjit_bytes" => 3 * code_mib * MIB, "yjit_code_ratio" => code_ratio, "yjit_compiled_count" => 4_000, "yjit_invalidated_count" => 700} : {}
    Prove::Trial.new(variant: name, round:, position: index, requests_count:, conditions:, memory: [[0, pss / 2, pss / 2], [requests_count, pss, pss]],
      warmup: Load::Warmup.new(steady: round != 1, reason: nil, windows_count: 3, duration_ns: 1, requests_count: 1, cpu_per_request_ns: []),
      values: {"throughput" => 100.0, "p50" => 5e7, "p99" => 1e8 * noise * ratios["p99"].to_f, "cpu_per_request" => 1e7 * noise * ratios.fetch("cpu_per_request"), "pss" => pss}.reject { |_, number| number.zero? })
  end

  def ratios(p99, memory, cpu: 0.7) = {"p99" => p99, "pss" => memory, "cpu_per_request" => cpu}

  def story(**fields)
    Labs::YjitMeasured.new({
      cell("oauth", "staging", 3) => verdict(ratios(0.9, 1.15), code_mib: 5), cell("oauth", "production", 16) => verdict(ratios(0.893, 1.2)),
      cell("shop_api", "staging", 3) => verdict(ratios(0.85, 1.13), code_mib: 9, phase: 2), cell("shop_api", "production", 67) => verdict(ratios(0.81, 1.31), code_mib: 40, code_ratio: 0.9), **fields
    })
  end

  def setup = lab # which loads its files

  def claim(measured, beginning) = measured.claims.find { |claim| claim.text.start_with?(beginning) } || flunk("no claim #{beginning}")

  test "story 3's rows are the story's ratios, and their outcome follows from the intervals" do
    measured = story
    p99, memory, staging = ["shop's API, Ruby 3.4.5: YJIT lowers p99", "shop's API, Ruby 3.4.5: YJIT raises memory", "shop's API, Ruby 3.4.5: YJIT raises memory, staging's mix"].map { |text| claim(measured, text) }
    assert_equal [:reproduced] * 3, [p99, memory, staging].map(&:outcome)
    assert_in_delta 0.81, p99.published_ratio, 0.001
    assert_in_delta 1.31, memory.published_ratio, 0.001
    assert_operator memory.measured.level_ratio, :>=, 0.95
    assert_nil claim(measured, "OAuth server, Ruby 3.4.5: code_region_size").outcome
    assert_equal 8 * MIB, claim(measured, "OAuth server, Ruby 3.4.5: code_region_size").measured.value
    assert_equal :contradicted, claim(Labs::YjitMeasured.new({cell("oauth", "production", 16) => verdict(ratios(1.1, 1.2))}), "OAuth server, Ruby 3.4.5: YJIT lowers p99").outcome
  end

  test "production's price over staging's is told with an interval, and contradicted where they are the same" do
    effect = claim(story, "shop's API, Ruby 3.4.5: production's price")
    assert_equal :reproduced, effect.outcome
    assert_in_delta 1.31 / 1.13, effect.measured.value, 0.01
    same = story(cell("shop_api", "staging", 3) => verdict(ratios(0.85, 1.31), phase: 2))
    price = claim(same, "shop's API, Ruby 3.4.5: production's price")
    assert_equal [:contradicted, :no_direction], [price.outcome, price.detail]
  end

  test "one Ruby is held against the other where both were measured" do
    refute(story.claims.any? { |claim| claim.text.include?("Ruby 3.4.5's YJIT") })
    both = story(cell("oauth", "production", 16, ruby: "3.3.8") => verdict(ratios(0.95, 1.3)))
    memory = claim(both, "OAuth server: Ruby 3.4.5's YJIT over 3.3.8's, memory")
    assert_in_delta 1.2 / 1.3, memory.measured.value, 0.01
    assert_equal :reproduced, memory.outcome
    dearer = story(cell("oauth", "production", 16, ruby: "3.3.8") => verdict(ratios(0.95, 1.1)))
    assert_equal :contradicted, claim(dearer, "OAuth server: Ruby 3.4.5's YJIT over 3.3.8's, memory").outcome
  end

  test "what is left out of the shop's load is measured in the full form, and is no point of the curve" do
    whole = lab.cells(quick: false).find { |one| one.mix == Labs::YjitMeasured::WHOLE }
    assert_equal ["shop_api", 72], [whole.service, whole.kinds_count]
    assert_empty lab.cells(quick: true).select { |one| one.mix == Labs::YjitMeasured::WHOLE }
    measured = story(whole => verdict(ratios(0.6, 1.4)))
    found = claim(measured, "shop's API, Ruby 3.4.5, nothing left out: YJIT lowers p99")
    assert_equal [:contradicted, :more], [found.outcome, found.detail]
    assert_in_delta 1, claim(measured, "shop's API, Ruby 3.4.5: p99 without YJIT with all requests").measured.value, 0.01
    assert_empty measured.curve.select { |one| one.mix == Labs::YjitMeasured::WHOLE }
  end

  test "the curve goes from one kind of requests to all, and needs three points" do
    refute_includes story.charts.map(&:id), "variety"
    more = [1, 10, 30].to_h { |count| [cell("shop_api", nil, count), verdict(ratios(0.9, 1.05 + count / 200.0), code_mib: 6 + count)] }
    measured = story(**more)
    assert_equal [1, 3, 10, 30, 67], measured.curve.map(&:kinds_count)
    chart = measured.charts.find { |one| one.id == "variety" }
    assert_equal %w[1 3 10 30 67], chart.across.ticks.map(&:last)
    [1.055, 1.13, 1.10, 1.20, 1.31].zip(chart.series.first.points) { |expected, (_, ratio)| assert_in_delta expected, ratio, 0.005 }
    assert_equal [7, 9, 16, 36, 40], measured.charts.find { |one| one.id == "code" }.series.first.points.map { |_, mib| mib.round }
    assert_equal 5, measured.tables.last.rows.size
  end

  test "memory is drawn over the requests that all trials have served" do
    chart = story.charts.find { |one| one.id == "memory-oauth-3-4-5" }
    assert_equal ["YJIT off, production", "YJIT on, production", "YJIT off, staging", "YJIT on, staging"], chart.series.map(&:title)
    points = chart.series.first.points
    assert_equal [0, 1_000], points.minmax_by(&:first).map(&:first)
    assert_in_delta 100, points.last[1], 1
    assert_in_delta 75, points[points.size / 2][1], 1
  end

  test "what was not measured is said with its reason, as is what had not settled, and a limit that is near" do
    quick = story(cell("oauth", "production", 16) => verdict({"p99" => 0.0, "pss" => 1.2, "cpu_per_request" => 0.7}, requests_count: 100).then { |one| one.with(trials: one.trials.map { |trial| trial.with(values: trial.values.except("p99")) }) })
    assert_equal :not_measured, claim(quick, "OAuth server, Ruby 3.4.5: YJIT lowers p99").outcome
    assert_match(/fewer than 200 requests/, quick.unknown(false).fetch("p99 of the OAuth server, production: 16 kinds, Ruby 3.4.5"))
    assert_match(/one Ruby/, quick.unknown(true).values.join)
    assert_match(/2 trials had not settled/, claim(story, "OAuth server, Ruby 3.4.5: YJIT lowers p99").note)
    assert_match(/used 90.0% of its limit/, story.conclusions.join)
  end

  test "while YJIT still compiles, times are not held against the published ones, and memory is with a note" do
    early = verdict(ratios(1.2, 1.05)).then { |one| one.with(trials: one.trials.map { |trial| trial.with(conditions: trial.conditions.merge("yjit_new_ratio" => 0.2)) }) }
    measured = story(cell("oauth", "production", 16) => early)
    names = ["YJIT lowers p99", "CPU per request, on over off", "YJIT raises memory", "production's price over staging's"].map { |text| "OAuth server, Ruby 3.4.5: #{text}" }
    outcomes = names.map { |name| claim(measured, name).outcome }
    assert_equal [:not_measured, :not_measured, :contradicted, :not_measured], outcomes
    assert_match(/20.0% of what YJIT compiled came during the load/, claim(measured, names[2]).note)
    assert_match(/still compiling/, measured.unknown(false).fetch("times of the OAuth server, production: 16 kinds, Ruby 3.4.5"))
  end

  test "the finding can be read in every format, and from its file" do
    measured = story
    finding = Lab::Run.new(lab, quick: true, command: "puma_tuner lab run yjit --quick").finding(claims: measured.claims, tables: measured.tables, charts: measured.charts, conclusions: measured.conclusions,
      verdicts: measured.verdicts.transform_keys(&:to_s), unknown: measured.unknown(true))
    %i[text html markdown].each { |format| assert_includes Report.render(finding, format:), "64.3 → 84.2 GiB" }
    assert_equal finding, Document.parse(Document.dump(finding), "finding", [:finding])
  end

  test "the short form is announced with less than four minutes, and the full form has both Rubies and the curve" do
    assert_operator lab.expected_s(quick: true), :<, 240
    assert_equal 4, lab.cells(quick: true).size
    full = lab.cells(quick: false)
    assert_equal [%w[3.3.8 3.4.5], [1, 3, 67, full.map(&:kinds_count).max]], [full.map(&:ruby).uniq.sort, full.select { |one| one.service == "shop_api" && one.ruby == "3.4.5" }.map(&:kinds_count).sort]
  end

  # Of which ten rounds are an exact interval.
  test "the long form has at most 25 claims that intervals decide, with ten rounds where ratios were published" do
    full = lab.cells(quick: false)
    rounds = full.to_h { |cell| [cell, lab.send(:sizes, cell, false).fetch(:rounds_count)] }
    published = ->(cell) { cell.mix == "production" || [cell.mix, cell.ruby] == %w[staging 3.3.8] }
    assert_equal [[10], [6]], [true, false].map { |one| rounds.select { |cell, _| published[cell] == one }.values.uniq }
    assert_equal %w[3.3.8 3.4.5], full.select { |cell| cell.mix == "staging" }.map(&:ruby).sort
    measured = Labs::YjitMeasured.new(full.to_h { |cell| [cell, verdict(ratios(0.9, 1.1))] })
    assert_includes 15..25, measured.claims.count(&:by_interval?)
    assert_includes 90 * 60..120 * 60, lab.expected_s(quick: false)
  end

  test "a service that is not set up is refused, with what to do" do
    before, ENV["PUMA_TUNER_CACHE"] = ENV["PUMA_TUNER_CACHE"], "/nonexistent"
    mistake = assert_raises(UsageError) { lab.call(Lab::Run.new(lab, quick: true)) }
    assert_match(/OAuth server is not set up.*puma_tuner lab setup yjit/, mistake.message)
  ensure
    ENV["PUMA_TUNER_CACHE"] = before
  end
end
