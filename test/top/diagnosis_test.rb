# frozen_string_literal: true

require "test_helper"
require "support/top_builders"

class TopDiagnosisTest < TunerTest
  include TopBuilders

  # @return [PumaTuner::Statement]
  def diagnosis(*entries, **facts) = status(*entries, **facts).diagnosis

  def sentence(...) = Report::TopWords.sentence(diagnosis(...))

  test "who makes others wait for the GVL is named, with how long for a request of the others" do
    report = entry("GET /report", [100] * 10, cpu: 900, gvl_wait: 50, blames: {[:request, "GET /report"] => 50})
    articles = entry("GET /articles", [50] * 90, cpu: 450, gvl_wait: 3_000, blames: {[:request, "GET /report"] => 2_790, [:special, "(gc)"] => 210})
    assert_equal "GVL-bound: GET /report makes others wait 31.0 ms a request.", sentence(report, articles)
    cause = status(report, articles).endpoints.to_h { |one| [one.name, Report::TopWords.cause(one.cause)] }
    assert_equal({"GET /articles" => "gvl: GET /report", "GET /report" => "its own code"}, cause)
  end

  test "an endpoint that is in nobody's way but its own is held against all requests" do
    alone = entry("GET /a", [10] * 100, gvl_wait: 500, cpu: 400, blames: {[:request, "GET /a"] => 500})
    assert_equal "GVL-bound: GET /a makes others wait 5.00 ms a request.", sentence(alone)
  end

  test "a background thread that holds the GVL is named as one" do
    found = diagnosis(entry("GET /a", [10] * 10, gvl_wait: 60, cpu: 20, blames: {[:thread, "reindexer"] => 60}))
    assert_equal ["thread", "reindexer", 6.0 * MS], found.facts.values_at("holder_kind", "holder", "made_ns")
    assert_includes Report::TopWords.sentence(found), "thread reindexer makes"
  end

  test "each hindrance has a sentence of its own" do
    said = {queue: "Too few threads: requests wait 6.00 ms in Puma for one of 5 in a worker, 60% of their time.",
            preempted: "Too few cores: requests that have the GVL wait 6.00 ms for one, 60% of their time.",
            lock: "Lock-bound: requests wait 6.00 ms for locks, 60% of their time; most in GET /a.",
            gc: "Garbage collection takes 6.00 ms of a request, 60% of their time; most in GET /a."}
    assert_equal said, said.to_h { |part, _| [part, sentence(entry("GET /a", [10] * 10, part => 60, :cpu => 20))] }
    assert_equal "Too few connections: requests wait 5.00 ms for one of a pool, 50% of their time.",
      sentence(entry("GET /a", [10] * 10, lock: 60, io: 20, cpu: 20, pool: 50))
  end

  test "where nothing holds requests up, it is told what they do" do
    assert_equal "Nothing in Puma holds requests up: they wait 8.00 ms for a database, 80% of their time.",
      sentence(entry("GET /a", [10] * 10, cpu: 20, io: 80, db: 70))
    assert_equal "Nothing in Puma holds requests up: they compute for 9.00 ms, 90% of their time.", sentence(entry("GET /a", [10] * 10, cpu: 90))
    assert_equal :cpu, diagnosis(entry("GET /a", [10] * 10, cpu: 60, io: 21, gvl_wait: 19)).kind, "19% is no hindrance"
  end

  test "without requests, and without parts, no cause is made up" do
    assert_equal "No request has ended in this window.", sentence
    unknown = entry("GET /a", [10] * 10).then { |one| one.with(sums: one.sums.map.with_index { |sum, index| sum if index.zero? }) }
    found = status(unknown, why_not: "no compiler")
    assert_equal [:unknown, nil, "no compiler"], [found.diagnosis.kind, found.endpoints.first.cause, found.why_not]
  end
end
