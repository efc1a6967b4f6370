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

  # Of some variants the server fails.
  class SomeFail < SlowResponses
    attr_reader :looked

    def initialize(failing)
      super(8.0)
      @failing = failing
      @looked = []
    end

    def look(variant)
      @looked << variant.name
      raise PumaTuner::ServerFailed, "the server ended with status 1" if @failing.include?(variant.name)
      super
    end
  end

  # Of four variants of which two may be left out; a trial lasts a second at least.
  #
  # @return [PumaTuner::Prove::Verdict]
  def prove_some(rounds_count, spared_count: 2, failing: [], runner: SomeFail.new(failing), **limit)
    variants = VARIANTS + %w[2x1 1x1].map { |name| PumaTuner::Prove::Variant.new(name:, factors: {"topology" => name}) }
    plan = PumaTuner::Prove::Proof::Plan.new(variants:, spare: variants.last(spared_count), seed: 1,
      looks: PumaTuner::Prove::Looks.fixed(rounds_count), load: PumaTuner::Prove::TrialLoad.of_block(duration_s: 8.0), **limit)
    PumaTuner::Prove::Proof.new(plan, trial_runner: runner).call
  end

  def names(verdict) = verdict.cells.map(&:variant)

  test "that turns are short beside a response is told with the figures that are none then" do
    remarks = [true, false].map do |short|
      runner = SlowResponses.new(8.0)
      runner.define_singleton_method(:short_turns?) { short }
      prove_some(7, runner:).remarks.map { |remark| in_words(remark) }
    end
    assert_equal [1, []], [remarks.first.size, remarks.last]
    assert_match(/\Arequests\/s are too low, and long latencies are missing, .* --expect "p99 not worse"/, remarks.first.first)
  end

  test "variants that can be spared are left out where too few rounds were planned to show anything of all" do
    few = prove_some(6)
    assert_equal [%w[today recommended], 6, :better], [names(few), few.rounds_count, few.comparison("recommended", "throughput").outcome]
    told = "2x1 and 1x1 were left out: with all variants nothing is shown by fewer than 7 rounds, and 6 were planned"
    assert_equal [told], few.remarks.map { |remark| in_words(remark) }
    assert_equal [%w[today recommended 2x1 1x1], []], prove_some(7).then { |all| [names(all), all.remarks] }
    asked_for = prove_some(6, spared_count: 0)
    assert_equal [4, :not_shown], [asked_for.cells.size, asked_for.comparison("recommended", "throughput").outcome]
    assert_equal %w[today recommended], names(prove_some(5, spared_count: 3)), "one stays beside the baseline"
  end

  # Seven rounds of four variants take 28 s at least, of three 21 s; six of two take 12 s.
  test "so they are, the last one first, where the time is too short for that, with trials as short as they may be" do
    assert_equal [4, 3, 2], [40, 25, 16].map { |time_limit_s| prove_some(8, time_limit_s:).cells.size }
    short = prove_some(8, time_limit_s: 25)
    assert_equal [%w[today recommended 2x1], 7, %i[better better]],
      [names(short), short.rounds_count, %w[recommended 2x1].map { |name| short.comparison(name, "throughput").outcome }]
    assert_equal %i[left_out fewer_rounds shorter_trials], short.remarks.map(&:kind)
    assert_match(/\A1x1 was left out: .* 7 rounds, and the time limit allows fewer\z/, in_words(short.remarks.first))
  end

  test "one that can be spared is left out where its server fails at the look, with the reason; of what can't be, that is the end" do
    found = prove_some(8, failing: %w[2x1])
    assert_equal [%w[today recommended 1x1], 8, true, :better], [names(found), found.rounds_count, found.complete, found.comparison("1x1", "throughput").outcome]
    assert_in_delta PumaTuner::Prove::Looks.fixed(8).level_ratio(2), found.level_ratio, 1e-12, "as of a plan without it"
    told = "2x1 was left out, as it failed when it was looked at before the rounds: the server ended with status 1"
    assert_equal [told], found.remarks.map { |remark| in_words(remark) }
    assert_equal [%w[today 2x1], %i[failed_at_look left_out]],
      prove_some(6, spared_count: 3, failing: %w[recommended]).then { |few| [names(few), few.remarks.map(&:kind)] }
    assert_equal %w[today 1x1], names(prove_some(8, spared_count: 3, failing: %w[recommended 2x1]))
    [[2, %w[recommended]], [3, %w[recommended 2x1 1x1]], [2, %w[today]]].each do |spared_count, failing|
      assert_raises(PumaTuner::Prove::VariantFailed, failing.inspect) { prove_some(8, spared_count:, failing:) }
    end
  end

  # @return [Array] names of the variants that were looked at, and what the proof says
  def looked(rounds_count, failing: [], **)
    runner = SomeFail.new(failing)
    verdict = prove_some(rounds_count, failing:, runner:, **)
    [runner.looked, verdict.remarks.map { |remark| in_words(remark) }]
  end

  test "what is left out for want of rounds or time is not looked at, unless something likelier fails" do
    names, told = looked(6, failing: %w[2x1])
    assert_equal [%w[today recommended], 1], [names, told.size]
    assert_match(/\A2x1 and 1x1 were left out: with all variants nothing is shown by fewer than 7 rounds/, told.first)
    assert_equal [%w[today recommended 2x1], %w[today recommended]], [25, 16].map { |time_limit_s| looked(8, time_limit_s:).first }
    assert_equal %w[today recommended 2x1], looked(6, spared_count: 3, failing: %w[recommended]).first
    assert_equal %w[today recommended 2x1 1x1], looked(6, spared_count: 3, failing: %w[recommended 2x1]).first
    assert_equal %w[today recommended 2x1 1x1], looked(6, spared_count: 0).first, "what is asked for is never left out"
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
