# frozen_string_literal: true

require "test_helper"
require "support/trials"

class ProofDisturbanceTest < TunerTest
  include Trials

  # @param taken [Array<Array(Float, Float)>] share of the machine that others took from the baseline and from the variant, by round
  # @param log_ratios [Array<Float>] of throughput, variant over baseline
  def trials(taken, log_ratios: [0.0] * taken.size)
    taken.each_with_index.flat_map do |shares, round|
      %w[today recommended].each_with_index.map do |variant, position|
        conditions = {"foreign_cpu_ratio" => shares[position] / 2, "stolen_ratio" => shares[position] / 2}
        PumaTuner::Prove::Trial.new(variant:, round:, position:, requests_count: 1, conditions:, values: {"throughput" => 100 * Math.exp(log_ratios[round] * position)})
      end
    end
  end

  def disturbance(planned_count: 6) = PumaTuner::Prove::Disturbance.new(VARIANTS, planned_count:)

  def void_rounds(taken, **) = disturbance(**).mark(trials(taken)).select(&:void).map { |trial| [trial.round, trial.variant] }

  def summary(...)
    found = disturbance.mark(trials(...))
    disturbance.summary(found, primary: "throughput", level_ratio: 0.95)
  end

  test "a disturbance that hits both variants alike voids nothing, however large it is" do
    assert_empty void_rounds([[0.5, 0.45], [0.0, 0.05], [0.3, 0.3], [0.4, 0.38], [0.6, 0.6]])
  end

  test "a round in which one variant is hit clearly more is void, and told of that one" do
    assert_equal [[2, "recommended"], [4, "today"]], void_rounds([[0.05, 0.05], [0.06, 0.05], [0.05, 0.3], [0.05, 0.04], [0.2, 0.02], [0.05, 0.05], [0.05, 0.05]])
    found = disturbance.mark(trials([[0.05, 0.05], [0.06, 0.06], [0.05, 0.3], [0.05, 0.05], [0.05, 0.05]])).find(&:void)
    assert_equal [:disturbed, "other processes took 25.0% more of the machine than during the other variant's turns"], [found.void.kind, in_words(found.void.detail)]
  end

  test "a variant that makes others work, such as a database, is not hit by them" do
    assert_empty void_rounds([[0.0, 0.3], [0.02, 0.3], [0.0, 0.28], [0.01, 0.33], [0.0, 0.3], [0.01, 0.31]])
  end

  test "fewer than five rounds are too few to tell an outlier" do
    assert_empty void_rounds([[0.0, 0.4], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
  end

  test "where one variant or the other is hit in every round, none of these is an outlier" do
    assert_empty void_rounds([0.3, -0.3, 0.25, -0.2, 0.15, -0.25, 0.05].map { |more| [0.5, 0.5 + more] })
  end

  test "no more than a third of the planned rounds is run again: the worst" do
    taken = [0.0, 0.01, -0.01, 0.02, 0.0, 0.01, -0.02, 0.3, 0.4, -0.5].map { |more| [0.5, 0.5 + more] }
    assert_equal [8, 9], void_rounds(taken, planned_count: 6).map(&:first)
  end

  test "it is judged anew as rounds are added" do
    first = disturbance.mark(trials([[0.0, 0.0], [0.0, 0.0], [0.0, 0.3], [0.0, 0.0], [0.0, 0.0]]))
    assert_equal [2], first.select(&:void).map(&:round)
    # A difference of 30% turns out to be nothing out of the ordinary.
    rest = trials([[0.0, 0.0]] * 5 + [[0.0, 0.3], [0.0, 0.25], [0.0, 0.2]] * 2).drop(10)
    assert_empty disturbance.mark(first + rest).select(&:void)
  end

  test "trials that fail have no part in it, and stay void" do
    failed = trials([[0.0, 0.0]] * 5).map { |trial| (trial.round == 1) ? trial.with(void: PumaTuner::Prove::Void.failed("500"), conditions: {}) : trial }
    assert_equal [:failed] * 2, disturbance.mark(failed).filter_map { |trial| trial.void&.kind }
  end

  test "it tells how noisy it was, and what of the scatter goes with it" do
    taken = [0.05, 0.1, 0.0, 0.02, 0.08, 0.06, 0.04, 0.09].map { |more| [0.05, 0.05 + more - 0.05] }
    log_ratios = taken.map { |one, other| 0.5 - (other - one) }
    found = summary(taken, log_ratios:)
    assert_in_delta 0.05, found.taken_ratio.value, 0.02
    assert_in_delta 1, found.explained_ratio, 1e-6
    assert_in_delta 0, found.quiet_effect_ratio, 1e-4
    unrelated = summary(taken, log_ratios: [0.1, 0.2, 0.15, 0.12, 0.19, 0.11, 0.2, 0.1])
    assert_operator unrelated.explained_ratio, :<, 0.3
    assert_operator unrelated.quiet_effect_ratio, :>, 0.02
  end

  test "few rounds give the taken share alone" do
    assert_nil summary([[0.1, 0.1]] * 3).explained_ratio
    unknown = trials([[0.1, 0.1]]).map { |trial| trial.with(conditions: {}) }
    assert_nil disturbance.summary(unknown, primary: "throughput", level_ratio: 0.95)
  end

  test "a measurement without a pair should not count when others took much of the machine" do
    of = ->(conditions) { PumaTuner::Prove::Disturbance.of_unpaired(conditions) }
    assert_match(/others used 40.0% of the machine/, of["foreign_cpu_ratio" => 0.4])
    assert_match(/hypervisor took 9.0%/, of["stolen_ratio" => 0.09])
    assert_match(/quota was used up 2 times/, of["throttled_count" => 2])
    assert_nil of["foreign_cpu_ratio" => 0.1, "stolen_ratio" => 0.04, "throttled_count" => 0]
  end
end
