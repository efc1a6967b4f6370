# frozen_string_literal: true

require_relative "fixture"

# The simulator asked backwards: which request fits what was published.
class MythBustersTalkTest < TunerTest
  include MythBustersFixture

  Inversion = MythBustersFixture::Lab::Inversion
  Talk = MythBustersFixture::Lab::Talk

  def inversion = @inversion ||= Inversion.new(requests_count: 2_000)

  test "the request as told can't be the one that gave the published figures" do
    literal = inversion.given(Inversion::LITERAL)
    assert_in_delta 0.3, literal.reading.cpu_ratio, 1e-6
    assert_operator literal.puma_per_s, :<, 50, "21 ms with the GVL"
    assert_operator literal.miss_ratio, :>, 10
    refute literal.fits?
    shorter = inversion.given(Inversion::SHORTER)
    assert_in_delta 600, shorter.puma_per_s, 30
    assert_operator shorter.go_per_s, :>, 4_000, "nothing holds Go at 1,200"
  end

  test "about 1.6 ms of CPU beside 50 ms fits: what one process stops at, what Go reaches, and that two processes are too few" do
    best = inversion.best
    assert_in_delta 1.65e6, best.reading.cpu_ns, 1.5e5
    assert best.enough_processes?
    assert_in_delta Inversion::PUMA_PER_S, best.puma_per_s, 40
    assert_operator best.miss_ratio, :<, 1.16
    misses = inversion.searched.map(&:miss_ratio)
    assert_operator misses.first, :>, 1.4
    assert_operator misses.last, :>, 1.4
  end

  test "a pool of few threads gives the same figures without any wait for the GVL, so these alone do not tell the cause" do
    few = inversion.given(Inversion::FEW_THREADS)
    assert_in_delta Inversion::PUMA_PER_S, few.puma_per_s, 40
    assert_operator few.miss_ratio, :<, 1.2
  end

  test "what Puma takes is part of the request's CPU, and work is what is left" do
    assert_equal 300, Talk.units(1_600_000, 400_000, 4_000.0)
    assert_equal 0, Talk.units(1_600_000, 2_000_000, 4_000.0)
  end

  test "the published figures are held against the talk's own request, too" do
    claims = of_talk(cores_count: 4)
    assert_equal ["about 70%", "1,200 against 600 requests/s", "at least 3 processes", "at least 3", "about 600 requests/s", "about 1,200 requests/s"], claims.map(&:published)
    assert_equal [:contradicted, :reproduced, :reproduced, nil, nil, nil], claims.map(&:outcome), "50% of Go's throughput, twice, and 1,240 to 1,000"
    assert_equal 3, claims[3].measured.value
    assert_in_delta 620, claims[4].measured.value, 1
  end

  test "that two processes are too few is not told where all cores are too few for Go's throughput" do
    claim = of_talk(cores_count: 2)[2]
    assert_equal :not_measured, claim.outcome
    assert_match(/Not to be told on 2 cores: Go's throughput would keep 2\.0 busy/, claim.note)
  end

  def of_talk(cores_count:) = MythBustersFixture::Lab::ClaimsOfServers.new(measured, cores_count:).all.select { |claim| claim.text.start_with?("the talk's own request") }
end
