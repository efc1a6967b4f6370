# frozen_string_literal: true

require "test_helper"
require "json"
require "support/top_builders"

class TopStatusTest < TunerTest
  include TopBuilders

  test "rates, percentiles and counts are of the window alone" do
    before = entry("GET /a", [1_000] * 50)
    after = entry("GET /a", [1_000] * 50 + [10] * 98 + [20] * 2)
    row = status(after, before: [before]).endpoints.first
    assert_equal [100, 10.0], [row.requests_count, row.throughput_per_s]
    assert_in_delta 10, row.p50_ns.fdiv(MS), 0.2
    assert_in_delta 20, row.p99_ns.fdiv(MS), 0.4
    assert_equal 1_020 * MS, row.budget.wall_ns
  end

  test "looks that follow each other within a second are at different instants" do
    one, two = Array.new(2) { sleep(0.002) && Top::Status.of(server, reading(0, {"a" => ledger}), reading(10, {"a" => ledger})).at }
    assert_match(/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/, one)
    refute_equal one, two
  end

  test "an endpoint that nobody asked for meanwhile has no row" do
    same = entry("GET /old", [10])
    assert_equal ["GET /a"], status(same, entry("GET /a", [5]), before: [same]).endpoints.map(&:name)
  end

  test "of a worker: its own requests, its busy threads and its queue, in the mean" do
    pool = %w[1 2].map { |number| entry("puma srv tp #{number}", [4_000], kind: :pool_thread, cpu: 4_000) }
    ledgers = {"a" => ledger(entry("GET /a", [50] * 100, queue: 2_500), *pool, pid: 7, worker_index: 0),
               "b" => ledger(entry("GET /a", [50] * 20), pid: 8, worker_index: 1, yjit_enabled: true)}
    empty = {"a" => ledger(pid: 7, worker_index: 0), "b" => ledger(pid: 8, worker_index: 1)}
    found = Top::Status.of(server, reading(0, empty, cpu_ms: 1_000), reading(10, ledgers, cpu_ms: 6_000, code_bytes: 12 * Units::MIB))
    assert_equal "2x5", found.topology.to_s
    assert_equal 120, found.requests_count
    first, second = found.workers
    assert_equal [7, 100, 0.8, 0.25, 0.5], [first.pid, first.requests_count, first.busy_mean, first.queued_mean, first.cpu_ratio]
    assert_equal [8, 20, 0.0, "on", 12 * Units::MIB], [second.pid, second.requests_count, second.busy_mean, second.yjit, second.code_bytes]
  end

  test "a worker has as many threads as its pool may have now, and a server what most of its workers have" do
    Dir.mktmpdir do |folder|
      counts = [8, 8, 2, nil]
      ledgers = counts.each_with_index.to_h do |count, index|
        File.write("#{folder}/#{index}.pool", JSON.generate({pool: {max_count: count}})) if count
        ["#{folder}/#{index}.ledger", ledger(entry("GET /a", [50]), worker_index: index, threads_count: 5)]
      end
      found = Top::Status.of(server, reading(0, {}), reading(10, ledgers))
      assert_equal [8, 8, 2, 5], found.workers.map(&:threads_count)
      assert_equal "4x8", found.topology.to_s
      ["", "[]", "{}", '{"pool":null}', '{"pool":"8"}', '{"pool":{"max_count":"8"}}'].each do |text|
        File.write("#{folder}/0.pool", text)
        assert_equal({"#{folder}/1.ledger" => 8}, Probe::Resize.threads_counts(%w[0 1 3].map { |name| "#{folder}/#{name}.ledger" }), "a state that is damaged: #{text}")
      end
    end
  end

  test "a folder in bytes of no text hides nothing, and can stand in a document" do
    place = "/nowhere/caf\xE9"
    found = Top::Status.of(server(folder: place), reading(0, {}), reading(10, {"#{place}/0.ledger" => ledger(entry("GET /a", [50]), worker_index: 0, threads_count: 5)}))
    assert_equal ["1x5", "/nowhere/caf\uFFFD"], [found.topology.to_s, JSON.parse(JSON.generate(found.to_document)).fetch("folder")]
  end

  test "a worker that has begun since counts from its own beginning, and one that has ended is counted without a row" do
    ended = ledger(entry("GET /a", [10] * 3), worker_index: 0)
    late = ledger(entry("GET /a", [10] * 4), pid: 101, worker_index: 0)
    after = reading(10, {"old" => ended, "new" => late}, cpu_ms: 500)
    after = after.with(processes: after.processes.select { |one| one.path == "new" })
    found = Top::Status.of(server, reading(0, {"old" => ledger(entry("GET /a", [10]), worker_index: 0)}), after)
    assert_equal [6, 1, 4, 0.05], [found.requests_count, found.workers.size, found.workers.first.requests_count, found.workers.first.cpu_ratio]
  end

  test "more than a pool's threads are never busy" do
    found = status(entry("tp 1", [90_000], kind: :pool_thread, cpu: 90_000), threads_count: 3)
    assert_equal 3, found.workers.first.busy_mean
  end

  test "threads that serve no requests are told with what they made requests wait" do
    background = entry("reindexer", [4_000], kind: :thread, cpu: 4_000)
    asked = entry("GET /a", [10] * 10, gvl_wait: 40, cpu: 50, blames: {[:thread, "reindexer"] => 30, [:special, "(gc)"] => 10})
    thread = status(background, asked).background.first
    assert_equal ["reindexer", 0.4, 30 * MS], [thread.name, thread.cpu_ratio, thread.made_wait_ns]
  end

  test "a status is a document that can be read again" do
    found = status(entry("GET /a", [10] * 10, cpu: 60)).with(outlook: outlook(["1x5", 100, 20], ["1x4", nil, nil]), recommendation:, cost: Top::Cost.new(status_ratio: 0.004, outlook_ratio: nil))
    again = Document.parse(Document.dump(found), "x", [:status])
    assert_equal found, again
    assert_equal :beyond_capacity, again.outlook.settings.last.unsteady.kind
    older = JSON.generate(JSON.parse(Document.dump(found)).except("recommendation"))
    assert_equal found.with(recommendation: nil), Document.parse(older, "x", [:status])
  end

  test "a server's recommendation is what its own lines read, and an old one says nothing of now" do
    Dir.mktmpdir do |folder|
      found = -> { server.with(directory: folder).recommendation }
      assert_nil found.call
      recommendation.write(folder)
      assert_equal [Probe::Recommendation.read(folder), "2x5"], [found.call, found.call.topology]
      recommendation(made_at_s: Time.now.to_f - Probe::Recommendation::OLD_S - 1).write(folder)
      assert_nil found.call
    end
  end

  test "next to a setting are those with a worker or a thread less and more, as far as there are such" do
    assert_equal %w[2x3 2x2 2x4 1x3 3x3], Top.neighbours(Topology.parse("2x3")).map(&:to_s)
    assert_equal %w[1x1 1x2 2x1], Top.neighbours(Topology.parse("1x1")).map(&:to_s)
  end
end
