# frozen_string_literal: true

require "test_helper"
require "support/advising"

class TailTest < TunerTest
  include Advising

  # 195 requests of 2 ms of CPU and 8 of waiting, and five that take longer.
  #
  # @param slow [Probe::Trace]
  def recorded(slow, usual_count: 195)
    endpoint = endpoint_observation(traces: [trace("held", 2, "io", 8)] * usual_count + [slow] * 5)
    observation(endpoints: [endpoint])
  end

  def tail(slow, today: "1x5", **options, &)
    forecasting = Forecasting.new(->(what_if, settings) { forecast(settings[:topology]&.to_s || today, 100, p99_ms: what_if ? 40 : 80) })
    situation = Advise::Situation.new(workload, sweep(forecast(today, 100, p99_ms: 100)), observation: recorded(slow, **options), sweeper: forecasting)
    Advise::TailSearch.new(situation).call
  end

  def text(tail) = Report.render(Advise::AdviceList.new(advice: [], tail:), format: :text, verbose: true)

  test "slow requests that wait for the GVL have a tail made by threads" do
    found = tail(trace("held", 2, "gvl_wait", 30, "io", 10))
    assert_equal [:gvl_wait, 5, 200], [found.cause, found.slow_count, found.requests_count]
    assert_in_delta 30.0 / 32, found.cause_ratio
    part = found.parts.find { |one| one.name == :gvl_wait }
    assert_equal [0.0, 30.0 * MS], [part.usual_ns, part.slow_ns]
    assert_match(/By threads: slow requests wait for the GVL. That is 93\.8% of what the slowest 2\.5% take longer/, text(found).gsub(/\s+/, " "))
  end

  test "garbage collection is told from the work beside it, and waits for a thread, for IO and for locks from both" do
    assert_equal :gc, tail(trace("held", 40, "io", 8, gc_ms: 35)).cause
    assert_equal :cpu, tail(trace("held", 40, "io", 8, gc_ms: 5)).cause
    assert_equal :io, tail(trace("held", 2, "db", 80)).cause
    assert_equal :lock, tail(trace("held", 2, "pool", 80, "io", 8)).cause
    assert_equal :queue, tail(trace("held", 2, "io", 8).with(queue_ns: 50 * MS)).cause
  end

  test "p99 without garbage collection, and with one thread, is forecast beside today's" do
    found = tail(trace("held", 2, "gvl_wait", 30, "io", 10))
    assert_in_delta 0.4, found.without_gc_ratio.value
    assert_in_delta 0.8, found.one_thread_ratio.value
    assert_match(/Predicted without any garbage collection: p99 0\.400x .* today's, which is 100 ms/, text(found).gsub(/\s+/, " "))
    assert_nil tail(trace("held", 2, "gvl_wait", 30), today: "1x1").one_thread_ratio
  end

  test "a request counts for those that it stands for" do
    rare = endpoint_observation(name: "GET /rare", requests_count: 10, traces: [trace("held", 100)] * 100)
    usual = endpoint_observation(requests_count: 9_990, traces: [trace("held", 2)] * 98 + [trace("held", 2, "io", 60)] * 2)
    situation = Advise::Situation.new(workload, sweep(forecast("1x5", 1)), observation: observation(endpoints: [rare, usual]))
    found = Advise::TailSearch.new(situation).call
    assert_equal :io, found.cause, "the slowest hundredth is of the frequent endpoint"
  end

  test "too few requests, or none that differ, have no tail to speak of" do
    assert_nil tail(trace("held", 90), usual_count: 90)
    assert_nil tail(trace("held", 2, "io", 8))
    assert_nil Advise::TailSearch.new(Advise::Situation.new(workload, sweep(forecast("1x5", 1)))).call
  end

  test "it outlives its file" do
    list = Advise::AdviceList.new(advice: [], tail: tail(trace("held", 2, "gvl_wait", 30)))
    assert_equal list, Document.parse(Document.dump(list), "advice.json", [:advice_list])
  end
end
