# frozen_string_literal: true

require "test_helper"

class UslTest < TunerTest
  Usl = PumaTuner::Predict::Usl

  def law(single, contention, crosstalk)
    PumaTuner::Predict::UslFit.new(single_per_s: single, contention_ratio: contention, crosstalk_ratio: crosstalk, residual_ratio: nil, points_count: nil)
  end

  def points(law, counts, random: nil)
    counts.map { |count| [count, law.at(count) * (random ? 1 + 0.02 * (random.rand - 0.5) : 1)] }
  end

  test "the law gives the figures worked out by hand" do
    # 100 x 4 / (1 + 0.1 x 3 + 0.01 x 12)
    assert_in_epsilon 400 / 1.42, law(100, 0.1, 0.01).at(4), 1e-12
    assert_in_epsilon Math.sqrt(90), law(100, 0.1, 0.01).peak_count, 1e-12
  end

  test "points of a law give back the law" do
    fit = Usl.fit(points(law(100, 0.1, 0.01), [1, 2, 3, 5, 8, 16, 32]))
    assert_in_epsilon 100, fit.single_per_s, 1e-9
    assert_in_epsilon 0.1, fit.contention_ratio, 1e-9
    assert_in_epsilon 0.01, fit.crosstalk_ratio, 1e-9
    assert_in_delta 0, fit.residual_ratio, 1e-12
    assert_equal 7, fit.points_count
  end

  test "noise of one percent moves it little and shows as residual" do
    fit = Usl.fit(points(law(100, 0.1, 0.01), [1, 2, 3, 4, 6, 8, 12, 16, 24, 32], random: Random.new(3)))
    assert_in_epsilon 100, fit.single_per_s, 0.03
    assert_in_delta 0.1, fit.contention_ratio, 0.02
    assert_in_epsilon 9.5, fit.peak_count, 0.1
    assert_in_delta 0.006, fit.residual_ratio, 0.004
  end

  test "no other law nearby fits better" do
    noisy = points(law(100, 0.1, 0.01), [1, 2, 3, 4, 6, 8, 12, 16], random: Random.new(5))
    fit = Usl.fit(noisy)
    miss = ->(candidate) { noisy.sum { |count, per_s| (per_s / candidate.at(count) - 1)**2 } }
    %i[single_per_s contention_ratio crosstalk_ratio].product([0.99, 1.01]) do |member, factor|
      assert_operator miss.call(fit), :<, miss.call(fit.with(member => fit.public_send(member) * factor))
    end
  end

  test "a curve without crosstalk has no peak, and is Amdahl's" do
    fit = Usl.fit(points(law(50, 0.25, 0), [1, 2, 4, 8]))
    assert_in_epsilon 0.25, fit.contention_ratio, 1e-9
    assert_in_epsilon 200, law(50, 0.25, 0).limit_per_s, 1e-12
    assert_nil law(50, 0.25, 0).peak_count
  end

  test "what grows in proportion has no limit" do
    straight = Usl.fit([[1, 10.0], [2, 20.5], [4, 41.5]])
    assert_equal [0.0, 0.0], [straight.contention_ratio, straight.crosstalk_ratio]
    assert_nil straight.peak_count
    assert_nil straight.limit_per_s
    assert_operator straight.residual_ratio, :>, 0
  end

  test "a term that would be negative is left out" do
    bent = Usl.fit([[1, 10.0], [2, 16.0], [4, 25.0], [8, 40.0]])
    assert_equal 0.0, bent.crosstalk_ratio
    assert_operator bent.contention_ratio, :>, 0
    steep = Usl.fit([[1, 10.0], [2, 20.2], [4, 40.0], [8, 50.0]])
    assert_equal 0.0, steep.contention_ratio
    assert_operator steep.crosstalk_ratio, :>, 0
  end

  test "what only falls has its peak at one" do
    assert_equal 1.0, law(50, 1.2, 0.1).peak_count
    assert_equal 1.0, law(50, 0.1, 2.0).peak_count
    assert_in_epsilon 50, law(50, 1.2, 0.1).limit_per_s, 1e-12
  end

  test "fewer than three settings fit any law, and so give none" do
    assert_nil Usl.fit([[1, 10.0], [2, 18.0], [2, 18.4]])
  end

  test "a fit survives its file" do
    fit = Usl.fit(points(law(100, 0.1, 0.01), [1, 2, 4]))
    assert_equal fit, PumaTuner::Predict::UslFit.from_document(fit.to_document.transform_keys(&:to_s))
  end
end
