# frozen_string_literal: true

require "test_helper"
require "support/trials"

class ProofTest < TunerTest
  include Trials

  # An app whose responses grow from trial to trial, as a list does that requests add to; a variant's may be longer.
  class GrowingResponses < Trials::FakeRunner
    attr_reader :outcomes

    # @param extra_bytes [Integer] of what is not the baseline
    def initialize(extra_bytes: 0, **)
      super(**)
      @extra_bytes = extra_bytes
      @outcomes = {}
      @length = 1_000
    end

    def look(variant) = [{[:ruby, nil] => "3.4.5", [:puma, "topology"] => variant.factors["topology"]}, answered(variant)]

    def together(order, round:)
      @length += 100
      order.each_with_index.map { |variant, position| call(variant, round:, position:).tap { @outcomes[variant.name] = answered(variant) } }
    end

    private

    def answered(variant)
      length = @length + ((variant.name == "recommended") ? @extra_bytes : 0)
      PumaTuner::Load::Outcome.new(generator: "fake", connections_count: 1, duration_ns: 1, requests_count: 1, throughput_per_s: 1.0, mean_ns: 1, p50_ns: 1, p90_ns: 1, p99_ns: 1,
        statuses: {"200" => 1}, unexpected_count: 0, socket_errors_count: 0, unknown: [], body_bytes_ranges: [[length, length]])
    end
  end

  # Alike at the look, and not in the rounds.
  class Late < GrowingResponses
    def look(variant) = [super.first, answered(Trials::VARIANTS.first)]
  end

  # An app that somebody changes after the second round.
  class Changing < GrowingResponses
    def together(order, round:)
      super.map { |trial| trial.with(fingerprint: {[:ruby, nil] => (round < 2) ? "3.4.5" : "3.4.6"}) }
    end
  end

  def prove(runner, rounds_count: 6)
    load = PumaTuner::Prove::TrialLoad.new(generator: "fake", connections_count: 1, arrivals: "closed", duration_ns: 1)
    plan = PumaTuner::Prove::Proof::Plan.new(variants: VARIANTS, looks: PumaTuner::Prove::Looks.fixed(rounds_count), seed: 1, load:, noise_rounds_count: 2)
    PumaTuner::Prove::Proof.new(plan, trial_runner: runner).call
  end

  # As `prove --precision 0.5 --rounds 40`: of one app that hardly scatters, and of one that does.
  test "the rounds are as many as the wanted width takes, by the scatter of the first eight" do
    load = PumaTuner::Prove::TrialLoad.new(generator: "fake", connections_count: 1, arrivals: "closed", duration_ns: 1)
    plan = PumaTuner::Prove::Proof::Plan.new(variants: VARIANTS, looks: PumaTuner::Prove::Looks.fixed(40), seed: 1, load:, precision_ratio: 0.005)
    quiet, loud = [0.001, 0.01].map { |noise_ratio| PumaTuner::Prove::Proof.new(plan, trial_runner: GrowingResponses.new(factor: 1.5, noise_ratio:)).call }
    assert_equal [8, :precise_rounds], [quiet.rounds_count, quiet.stopped_because.kind]
    assert_includes 9..39, loud.rounds_count
    ratio = loud.ratio("throughput", of: "recommended", over: "today")
    assert_operator Math.sqrt(ratio.high / ratio.low), :<, 1.0075
    few = PumaTuner::Prove::Proof.new(plan.with(looks: PumaTuner::Prove::Looks.fixed(9)), trial_runner: GrowingResponses.new(factor: 1.5, noise_ratio: 0.02)).call
    assert_equal [9, :imprecise_rounds, true], [few.rounds_count, few.stopped_because.kind, few.complete]
  end

  # Responses of 1.4 s, of which a look at a variant tells.
  class SlowResponses < GrowingResponses
    attr_accessor :times

    def initialize(duration_s)
      super(factor: 1.5)
      @times = PumaTuner::Prove::TrialRunner::Times.new(warmup_window_s: 0.1, warmup_limit_s: 0.3, duration_s:, turns_count: 1, probe_s: 0, boot_limit_s: 60)
    end

    def look(variant) = super.tap { @times = @times.with(duration_s: [@times.duration_s, 7.0].max) }

    def trial_s(times) = times.duration_s

    def least_duration_s(_metric) = 0
  end

  test "trials that are made longer than was asked for are told, with what to do, unless the time limit cuts them again" do
    verdict = lambda do |duration_s, **limit|
      load = PumaTuner::Prove::TrialLoad.of_block(duration_s:)
      plan = PumaTuner::Prove::Proof::Plan.new(variants: VARIANTS, looks: PumaTuner::Prove::Looks.fixed(6), seed: 1, load:, **limit)
      PumaTuner::Prove::Proof.new(plan, trial_runner: SlowResponses.new(duration_s)).call
    end
    longer = verdict.call(2.0)
    assert_equal [7_000_000_000, 1], [longer.load.duration_ns, longer.remarks.size]
    assert_match(/\Aeach trial sends load for 7\.00 s instead of 2\.00 s, as it lasts 5 responses .*: where requests queue, send by fewer --connections/, in_words(longer.remarks.first))
    assert_empty verdict.call(8.0).remarks
    assert_equal [:shorter_trials], verdict.call(2.0, time_limit_s: 20).remarks.map(&:kind)
  end

  # A gem to be compiled, once.
  class LongInTheMaking < GrowingResponses
    attr_reader :made

    def prepare(variant)
      sleep(0.3) unless @made&.include?(variant.name)
      (@made ||= []) << variant.name
    end
  end

  test "what a variant takes to be made is none of the time that the proof may take" do
    runner = LongInTheMaking.new(factor: 1.5)
    load = PumaTuner::Prove::TrialLoad.new(generator: "fake", connections_count: 1, arrivals: "closed", duration_ns: 1)
    plan = PumaTuner::Prove::Proof::Plan.new(variants: VARIANTS, looks: PumaTuner::Prove::Looks.fixed(6), seed: 1, load:, time_limit_s: 0.5)
    verdict = PumaTuner::Prove::Proof.new(plan, trial_runner: runner).call
    assert_equal [%w[today recommended], 6, true], [runner.made, verdict.rounds_count, verdict.complete]
  end

  test "answers that grow in all variants alike are no difference between them, nor from the noise before" do
    verdict = prove(GrowingResponses.new(factor: 1.5))
    assert_equal [6, 0], [verdict.rounds_count, verdict.voided_count]
    assert_equal :better, verdict.comparison("recommended", "throughput").outcome
  end

  test "rounds of an app that is no longer what was looked at do not count" do
    verdict = prove(Changing.new)
    assert_equal [2, false], [verdict.rounds_count, verdict.complete]
    assert_match(/ruby was 3\.4\.5 when (today|recommended) was looked at, and is now 3\.4\.6/, in_words(verdict.stopped_because))
  end

  test "rounds that scatter so much that no change could be seen end early, with a verdict that shows nothing" do
    verdict = prove(GrowingResponses.new(noise_ratio: 0.9), rounds_count: 8)
    assert_equal [false, 6, :not_shown], [verdict.complete, verdict.rounds_count, verdict.comparison("recommended", "throughput").outcome]
    assert_match(/would not show a change of 100/, in_words(verdict.stopped_because))
  end

  test "responses that are longer in one variant are" do
    verdict = prove(Late.new(extra_bytes: 300))
    assert_equal [false, 0], [verdict.complete, verdict.rounds_count]
    assert_match(/are of 1500 bytes with today, and of 1800 bytes with recommended/, in_words(verdict.stopped_because))
  end
end
