# frozen_string_literal: true

require "test_helper"

class TimeLimitTest < TunerTest
  Prove = PumaTuner::Prove

  TIMES = Prove::TrialRunner::Times.new(warmup_window_s: 1.0, warmup_limit_s: 6.0, duration_s: 4.0, turns_count: 8, probe_s: 1.0, boot_limit_s: 60)

  # Ten seconds, or as much less as is taken off.
  TRIAL_S = ->(times) { 2 + 3 * times.warmup_window_s + times.duration_s + times.probe_s }

  def fit(left_s, times: TIMES, looks: Prove::Looks.fixed(12), trial_s: TRIAL_S, least_duration_s: 0, **kept)
    limit = Prove::TimeLimit.new((left_s + 1e-6) / (1 - Prove::TimeLimit::SPARE_RATIO), variants_count: 2, trial_s:, least_duration_s:)
    limit.fit(times, looks, **kept)
  end

  test "a plan that fits is not changed" do
    fitted = fit(240)
    assert_equal [TIMES, 12, []], [fitted.times, fitted.looks.rounds_max, fitted.remarks]
  end

  test "rounds go first, down to one more than the fewest that can show anything" do
    fitted = fit(150)
    assert_equal [TIMES, 7], [fitted.times, fitted.looks.rounds_max]
    assert_equal ["to fit into the time limit, 7 rounds were planned instead of 12"], fitted.remarks.map { |remark| in_words(remark) }
  end

  test "the load for the cause is cut next, then the load and the warm-up" do
    assert_equal [0, 4.0, 7], fit(130).then { |fitted| [fitted.times.probe_s, fitted.times.duration_s, fitted.looks.rounds_max] }
    shorter = fit(85)
    assert_equal 7, shorter.looks.rounds_max
    assert_operator shorter.times.duration_s, :<, 4
    assert_operator 14 * TRIAL_S.call(shorter.times), :<=, 85
    assert_match(/trials were shortened: 2\.\d s of load, at most \d.* instead of 4\.0 s of load, at most 6\.0 s of warm-up, the cause looked for/, in_words(shorter.remarks[1]))
  end

  # Of a round that would end too late, none is begun.
  test "the fewest rounds that can show anything are over in time though all take a fifth longer than foreseen, unless one more fits by no means" do
    [55, 85, 130, 150].each do |left_s|
      given_s = left_s / (1 - Prove::TimeLimit::SPARE_RATIO)
      assert_operator 6 * 2 * TRIAL_S.call(fit(left_s).times) * 1.2, :<=, given_s, left_s.to_s
    end
    fewest = fit(50)
    assert_equal 6, fewest.looks.rounds_max
    assert_operator 12 * TRIAL_S.call(fewest.times), :<=, 50
    asked_for = fit(110, looks: Prove::Looks.fixed(6))
    assert_equal [0, 4.0, 6], [asked_for.times.probe_s, asked_for.times.duration_s, asked_for.looks.rounds_max]
  end

  test "a time too short for any interval is reported" do
    fitted = fit(20)
    assert_operator fitted.looks.rounds_max, :<, 6
    assert_equal Prove::TimeLimit::DURATION_LEAST_S, fitted.times.duration_s
    assert_includes fitted.remarks.map { |remark| in_words(remark) }, "the time limit allows #{fitted.looks.rounds_max} rounds, and significance takes at least 6"
  end

  test "one round is one" do
    assert_equal "to fit into the time limit, 1 round was planned instead of 12", in_words(fit(1).remarks.first)
  end

  test "rounds that are there take no time, and what is added to them is as long" do
    assert_equal [TIMES, 12, []], fit(60, kept_count: 9).then { |fitted| [fitted.times, fitted.looks.rounds_max, fitted.remarks] }
    assert_equal [TIMES, 11], fit(59, kept_count: 9).then { |fitted| [fitted.times, fitted.looks.rounds_max] }
    assert_equal [TIMES, 4], fit(10, kept_count: 3).then { |fitted| [fitted.times, fitted.looks.rounds_max] }
    assert_equal [TIMES, 12], fit(0, kept_count: 12).then { |fitted| [fitted.times, fitted.looks.rounds_max] }
  end

  test "rounds that were made shorter say how long others are, whatever time there is now" do
    short = TIMES.with(duration_s: 1.0, probe_s: 0)
    fitted = fit(10_000, kept_count: 3, kept_times: short)
    assert_equal [short, 12, [:shorter_trials]], [fitted.times, fitted.looks.rounds_max, fitted.remarks.map(&:kind)]
    assert_equal TIMES, fit(10_000, kept_times: short).times
  end

  test "trials are not made so short that they can't tell what decides" do
    assert_in_delta 3.0, fit(20, least_duration_s: 3).times.duration_s
    assert_in_delta 4.0, fit(20, least_duration_s: 9).times.duration_s
  end

  test "where nobody says how long trials are, as of blocks, there are fewer" do
    assert_equal 1, fit(1, times: nil, trial_s: ->(_) { 10 }).looks.rounds_max
  end

  test "looks that come too late are left out, and the noise is not measured beforehand" do
    fitted = fit(410, looks: Prove::Looks.stepwise([10, 20, 40]), noise_rounds_count: 4)
    assert_equal [[10, 20], 0], [fitted.looks.rounds_counts, fitted.noise_rounds_count]
    assert_includes fitted.remarks.map(&:kind), :noise_left_out
  end
end
