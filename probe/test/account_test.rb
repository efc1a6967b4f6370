# frozen_string_literal: true

require "test_helper"
require "support/top_builders"

class AccountTest < TunerTest
  include TopBuilders

  Account = PumaTuner::Probe::Account

  # @param counts [Hash{String => Integer}] traces by endpoint, each numbered by its wall time
  def process(counts, first: 0)
    entries = counts.keys.map { |name| entry(name, [10]) }
    traces = counts.to_h do |name, count|
      [[:request, name], Array.new(count) { |place| PumaTuner::Probe::Trace.new(steps: ["held", 1], wall_ns: first + place, queue_ns: 0, cpu_ns: 1, gc_ns: 0) }]
    end
    ledger(*entries).with(traces:)
  end

  def traces_of(processes_count)
    ledgers = Array.new(processes_count) { |number| ["#{number}.ledger", yield(number)] }.to_h
    Account.new({}, ledgers).endpoints.to_h { |endpoint| [endpoint.name, endpoint.traces] }
  end

  test "as many traces as eight processes have are all kept" do
    all = traces_of(8) { process({"GET /a" => 2_000, "GET /b" => 48}) }
    assert_equal({"GET /a" => 16_000, "GET /b" => 384}, all.transform_values(&:size))
    assert_equal 16_384, Account::TRACES_MAX
  end

  test "of more, endpoints with few keep theirs, and the others share what is left, of all processes alike" do
    many = traces_of(64) { |number| process({"GET /a" => 1_000, "GET /b" => 1_000, "GET /rare" => 4}, first: number * 10_000) }
    assert_equal 256, many["GET /rare"].size
    assert_equal [8_064, 8_064], many.values_at("GET /a", "GET /b").map(&:size)
    by_process = many["GET /a"].map { |trace| trace.wall_ns / 10_000 }.tally
    assert_equal (0...64).to_a, by_process.keys.sort
    assert_operator by_process.values.max - by_process.values.min, :<=, 1
    assert_equal many["GET /a"].uniq, many["GET /a"]
  end

  test "the number of traces does not grow with endpoints and workers" do
    names = Array.new(200) { |number| "GET /things/#{number}/:id" }
    some, all = [8, 64].map { |count| traces_of(count) { process(names.to_h { |name| [name, 10] }) }.values.sum(&:size) }
    assert_equal 16_000, some
    assert_includes 15_000..Account::TRACES_MAX, all
  end
end
