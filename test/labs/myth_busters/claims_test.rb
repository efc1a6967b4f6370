# frozen_string_literal: true

require_relative "fixture"

class MythBustersClaimsTest < TunerTest
  include MythBustersFixture

  def claims(**parts) = MythBustersFixture::Lab::Claims.new(measured(**parts)).all

  def claim(pattern, **parts) = claims(**parts).find { |claim| claim.text.match?(pattern) } || flunk("no claim is like #{pattern}")

  PUBLISHED = [/\Aio-only: Puma is as fast/, /\Acpu-only/, /\Arealistic: Puma has so much/, /\Atarai.+without YJIT/, /Go goes on where/, /processes that match/, /\Amemory/,
    /100 \/ CPU %/, /Rails went from 5 to 3/, /Rack::Session/, /Oj/, /Trilogy/, /M:N/, /typical Rails API/].freeze

  test "has a row for each published claim that servers can show" do
    PUBLISHED.each do |pattern|
      found = claim(pattern)
      assert found.published, "#{found.text} does not say what was published"
    end
  end

  test "calls reproduced what came out as it was published" do
    {/\Aio-only: Puma is/ => "equal", /\Arealistic: Puma has/ => "about 70%", /\Atarai.+without YJIT/ => "5 to 15 times", /\Amemory/ => "51 MB against 17 MB"}.each do |pattern, published|
      assert_equal [published, :reproduced], claim(pattern).then { |one| [one.published, one.outcome] }
    end
  end

  test "takes a published range as reproduced inside of it, and as contradicted beyond, with the way it went" do
    outcome = ->(pattern, factor) { claim(pattern, languages: languages(factor)).then { |one| [one.outcome, one.detail].compact } }
    assert_equal [:reproduced], outcome.call(/\Atarai.+without YJIT/, 14)
    assert_equal %i[contradicted more], outcome.call(/\Atarai.+without YJIT/, 30)
    assert_equal %i[contradicted less], outcome.call(/\Atarai.+with YJIT/, 10)
  end

  test "says contradicted of what came out the other way" do
    assert_equal :contradicted, claim(/\Aio-only: Puma is/, grid: grid("/io-only" => 60)).outcome
    assert_equal :reproduced, claim(/\Aio-only: Puma is/, grid: grid("/io-only" => 98)).outcome, "within the margin that was declared"
    assert_equal :contradicted, claim(/100 \/ CPU %/).outcome, "three threads had 80% of ten"
  end

  test "holds a claim without a number to its direction" do
    assert_equal :reproduced, claim(/\Acpu-only/).outcome
    assert_equal :contradicted, claim(/the same work: two processes/, capacity: capacity({"Puma 1x5" => 60, "Puma 2x5" => 120, "Go" => 110})).outcome
  end

  test "counts the processes that match Go in throughput and p99, or says what that would take" do
    matched = claim(/the same work: processes that match/, capacity: capacity({"Puma 1x5" => 60, "Puma 2x5" => 120, "Go" => 110}))
    assert_equal 2, matched.measured.value
    missed = claim(/the same work: processes that match/)
    assert_nil missed.measured
    assert_match(/would keep 2\.1 cores busy/, missed.note)
  end

  test "does not pretend to know what a typical Rails app is like" do
    assert_equal :not_measured, claim(/typical Rails API/).outcome
  end

  test "keeps the rows of what could not be measured" do
    [/Oj, by the json of then/, /Trilogy/, /two Ractors/].each { |pattern| assert_equal :not_measured, claim(pattern).outcome }
  end
end
