# frozen_string_literal: true

require "test_helper"
require "json"
require "support/builders"

class WhatIfTest < TunerTest
  include Builders

  # 6 ms of CPU and 15 ms of io; 10 ms of CPU, 4 of them garbage collection, 8 ms of a lock and 2 ms of io.
  def articles = endpoint_demand(demand([2, 3, 1], [5, 10]), name: "GET /articles", weight_ratio: 0.75)

  def orders = endpoint_demand(demand([1, 8, 1], [8, 2], wait_kinds: %w[lock io], gc_ms: 4), name: "POST /orders/:id", weight_ratio: 0.25)

  def app(**fields) = workload(endpoints: [articles, orders], **fields)

  def changed(*texts, of: app, on: machine) = Predict::WhatIf.parse(texts).apply(of, on)

  def workload_after(*texts, of: app) = changed(*texts, of:).first

  def endpoint_after(text, name) = workload_after(text).endpoints.find { |endpoint| endpoint.name == name }

  def mistake(*texts, of: app) = assert_raises(UsageError) { changed(*texts, of:) }.message

  test "no what-if changes nothing" do
    assert_equal [app, machine], changed
    assert_empty Predict::WhatIf.parse([]).remarks
  end

  test "less CPU of one endpoint, and of no other" do
    assert_equal [4.2 * MS, 15 * MS], endpoint_after("cpu(/articles)*0.7", "GET /articles").then { |endpoint| [endpoint.mean_held_ns, endpoint.mean_wait_ns] }
    assert_equal orders, endpoint_after("cpu(/articles)*0.7", "POST /orders/:id")
    assert_in_delta app.mean_held_ns - 0.75 * 0.3 * 6 * MS, workload_after("cpu(/articles)*0.7").mean_held_ns, 10
  end

  test "less CPU of all is less of the mean" do
    assert_in_delta 0.5 * app.mean_held_ns, workload_after("cpu*50%").mean_held_ns, 10
  end

  test "an endpoint is named with its verb, without it, or by a pattern" do
    ["GET /articles", "/articles", "/art*", "GET *"].each do |selector|
      assert_equal 3 * MS, endpoint_after("cpu(#{selector})*0.5", "GET /articles").mean_held_ns, selector
      assert_equal orders, endpoint_after("cpu(#{selector})*0.5", "POST /orders/:id"), selector
    end
    route = "GET /files/*path(.:format)"
    odd = workload(endpoints: [endpoint_demand(demand([4]), name: route, weight_ratio: 0.5),
      endpoint_demand(demand([4]), name: "#{route}/x", weight_ratio: 0.5)])
    assert_equal [2 * MS, 4 * MS], workload_after("cpu(/files/*path(.:format))*0.5", of: odd).endpoints.map(&:mean_held_ns)
  end

  test "CPU taken away leaves the longest burst first, and none goes below nothing" do
    assert_equal [2 * MS, 1 * MS, 1 * MS], endpoint_after("cpu(/articles)-2ms", "GET /articles").demands.first.bursts_ns
    assert_equal [1 * MS, 0, 1 * MS], endpoint_after("cpu(/articles)-4ms", "GET /articles").demands.first.bursts_ns
    assert_equal 0, endpoint_after("cpu(/articles)-1s", "GET /articles").mean_held_ns
    assert_equal [2 * MS, 3.5 * MS, 1 * MS], endpoint_after("cpu(/articles)+500us", "GET /articles").demands.first.bursts_ns
  end

  test "waits of one kind, by a factor or a time from the longest first" do
    assert_equal [2.5 * MS, 5 * MS], endpoint_after("io*0.5", "GET /articles").demands.first.waits_ns
    assert_equal [5 * MS, 2 * MS], endpoint_after("io-8ms", "GET /articles").demands.first.waits_ns
    assert_equal [3 * MS, 0], endpoint_after("io-12ms", "GET /articles").demands.first.waits_ns
    assert_equal [5 * MS, 30 * MS], endpoint_after("io(/articles)+20ms", "GET /articles").demands.first.waits_ns
    orders_after = endpoint_after("io=0", "POST /orders/:id")
    assert_equal [[8 * MS, 0], %w[lock io], 8 * MS], [orders_after.demands.first.waits_ns, orders_after.demands.first.wait_kinds, orders_after.mean_wait_ns]
    assert_equal [4 * MS, 6 * MS], endpoint_after("lock*0.5", "POST /orders/:id").then { |endpoint| [endpoint.mean_lock_ns, endpoint.mean_wait_ns] }
  end

  # 12 ms of a database, 30 of another server, 2 of IO that nobody knows, and the markers of a lock, which are no time.
  def shop
    waits = demand([1, 1, 1, 1, 1, 1, 1], [4, 8, 30, 2, 0, 0], wait_kinds: %w[db db http io acquire release])
    list = demand([1, 1], [6], wait_kinds: %w[db])
    workload(endpoints: [endpoint_demand(waits, name: "GET /shop", weight_ratio: 0.5),
      endpoint_demand(list, name: "GET /list", weight_ratio: 0.5)])
  end

  def waits_after(*texts) = workload_after(*texts, of: shop).endpoints.map { |endpoint| endpoint.demands.first.waits_ns.map { |ns| ns.fdiv(MS) } }

  test "io is all of it, or what it was for, of all endpoints or of some" do
    assert_equal [[2, 4, 15, 1, 0, 0], [3]], waits_after("io*0.5")
    assert_equal [[2, 4, 30, 2, 0, 0], [3]], waits_after("io(db)*0.5")
    assert_equal [[2, 4, 30, 2, 0, 0], [6]], waits_after("io(db, /shop)*0.5")
    assert_equal [[4, 8, 50, 2, 0, 0], [6]], waits_after("io(http) + 20ms")
    assert_equal [[4, 8, 30, 0, 0, 0], [6]], waits_after("io( other )=0")
    assert_equal [[4, 8, 5, 2, 0, 0], [6]], waits_after("io(/shop)-25ms")
    assert_equal [[4, 0, 30, 2, 0, 0], [0]], waits_after("io(db,/*)-8ms")
  end

  test "a kind of io that is not there is told, with those that are" do
    {
      "io(memcache)*0.5" => /there is no endpoint memcache; there is GET \/shop, GET \/list; kinds of io are db, redis, http, file, other/,
      "io(redis)*0.5" => /no recorded request has a wait of the kind redis; there is db, http, io\z/,
      "io(http, /list)*0.5" => /no recorded request of \/list has a wait of the kind http; there is db/,
      "io(db, /nope)*0.5" => /there is no endpoint \/nope; there is GET \/shop, GET \/list\z/,
      "db*0.5" => /write io\(db\), as it is a kind of io/, "io(db)+20" => /write a time after \+ with its unit/
    }.each { |text, pattern| assert_match(pattern, mistake(text, of: shop), text) }
  end

  test "markers of locks are no waits" do
    assert_equal [44 * MS, 0], shop.endpoints.first.demands.first.then { |demand| [demand.wait_ns, demand.lock_ns] }
    assert_equal %w[db http io], shop.endpoints.first.demands.first.waited_kinds
    held = demand([1, 1, 1], [0, 0], wait_kinds: %w[acquire release]).with(waits_ns: [7, 7])
    assert_equal 0, held.wait_ns
  end

  BACKGROUND = ["solid_queue-worker-#", "solid_queue-dispatcher", "cron", "cron [nightly]"]
    .map { |name| Model::BackgroundDemand.new(name:, burst_ns: 3 * MS, gap_ns: 200 * MS) }

  test "a background thread can be left out by its name, by a prefix or by a pattern" do
    names = ->(text) { workload_after(text, of: app(background: BACKGROUND)).background.map(&:name) }
    assert_equal ["cron", "cron [nightly]"], names.call("without thread solid_queue")
    assert_equal ["solid_queue-worker-#", "cron", "cron [nightly]"], names.call("without thread *dispatch*")
    assert_equal ["solid_queue-worker-#", "solid_queue-dispatcher", "cron [nightly]"], names.call("without thread cron")
    assert_equal ["solid_queue-worker-#", "solid_queue-dispatcher", "cron"], names.call("without  thread  cron [nightly]")
    assert_empty names.call("without thread *")
    assert_equal app(background: BACKGROUND).with(background: []), workload_after("without thread *", of: app(background: BACKGROUND))
    assert_match(/without thread cron: its work is assumed to be done on another machine/, Predict::WhatIf.parse(["without thread cron"]).remarks.first)
  end

  test "a background thread that is not there is told, with those that are" do
    told = mistake("without thread sidekiq", of: app(background: BACKGROUND))
    assert_match(/there is no thread sidekiq among those that serve no requests; there is /, told)
    assert_match(/; there is solid_queue-worker-#, .*, cron \[nightly\]/, told)
    assert_match(/the recording has none/, mistake("without thread sidekiq"))
    ["without thread", "without cron", "without thread ", "without=cron", "without*2"].each { |text| assert_match(/write such as/, mistake(text)) }
  end

  test "a workload of before there were background threads has none" do
    document = JSON.parse(JSON.generate(app(background: BACKGROUND).to_document))
    assert_equal BACKGROUND, Model::Workload.from_document(document).background
    assert_equal [], Model::Workload.from_document(document.except("background")).background
  end

  test "garbage collection goes with the CPU time it took" do
    without = endpoint_after("gc=0", "POST /orders/:id")
    assert_equal [6 * MS, 0, [1 * MS, 4 * MS, 1 * MS]], [without.mean_held_ns, without.mean_gc_ns, without.demands.first.bursts_ns]
    assert_equal [8 * MS, 2 * MS], endpoint_after("gc(/orders/*)*0.5", "POST /orders/:id").then { |endpoint| [endpoint.mean_held_ns, endpoint.mean_gc_ns] }
    assert_equal [9 * MS, 3 * MS], endpoint_after("gc-1ms", "POST /orders/:id").then { |endpoint| [endpoint.mean_held_ns, endpoint.mean_gc_ns] }
  end

  test "YJIT speeds up Ruby, in Puma too, and not the garbage collector" do
    after = workload_after("yjit*2", of: app(overhead_cpu_ns: 40_000))
    assert_equal [3 * MS, 7 * MS, 20_000], [*after.endpoints.map(&:mean_held_ns), after.overhead_cpu_ns]
    assert_equal 4 * MS, after.endpoints.last.mean_gc_ns
    assert_match(/prove --factor yjit=off,on/, Predict::WhatIf.parse(["yjit*2"]).remarks.first)
  end

  test "a share of an endpoint, and the others fitted into the rest" do
    three = workload(endpoints: %w[a b c].zip([0.5, 0.3, 0.2]).map { |name, weight_ratio| endpoint_demand(demand([1]), name: "GET /#{name}", weight_ratio:) })
    weights = ->(*texts) { workload_after(*texts, of: three).endpoints.map { |endpoint| endpoint.weight_ratio.round(6) } }
    assert_equal [0.2, 0.48, 0.32], weights.call("mix(/a)=0.2")
    assert_equal [0.2, 0.7, 0.1], weights.call("mix(/a)=20%", "mix(/b)=0.7")
    assert_equal [0.375, 0.225, 0.4], weights.call("mix(/[ab])=60%")
    assert_equal [0.666667, 0.2, 0.133333], weights.call("weight(/a)*2")
    assert_match(%r{sum up to 1\.20}, mistake("mix(/a)=0.6", "mix(/b)=0.6", of: three))
    assert_match(%r{GET /a has a share by two}, mistake("mix(/a)=0.2", "mix(/*)=0.6", of: three))
    assert_match(/nothing is left for the other 40.0%/, mistake("mix(/*)=0.6", of: three))
  end

  test "more traffic, another rate, other connections" do
    assert_equal Model::Arrivals.closed(20), workload_after("traffic*2").arrivals
    assert_equal Model::Arrivals.open(300), workload_after("rate=300").arrivals
    assert_equal Model::Arrivals.closed(50, think_ns: 7 * MS), workload_after("connections=50", of: app(think_ms: 7)).arrivals
    open = app.with(arrivals: Model::Arrivals.open(100, kind: "bursty", burst_count: 5))
    assert_equal Model::Arrivals.open(150, kind: "bursty", burst_count: 5), workload_after("traffic*1.5", of: open).arrivals
    assert_equal Model::Arrivals.open(40, kind: "bursty", burst_count: 5), workload_after("rate=40", of: open).arrivals
    assert_predicate Predict::WhatIf.parse(["rate=40"]), :load?
    refute_predicate Predict::WhatIf.parse(["cpu*2"]), :load?
  end

  test "more cores do in proportion what the measured ones do" do
    two = machine(cores_count: 2, effective_cores: [1.0, 1.6])
    four, one = ["cores=4", "cores=1"].map { |text| changed(text, on: two).last }
    assert_equal [4, [1.0, 1.6, 2.4, 3.2]], [four.cores_count, four.effective_cores.map { |cores| cores.round(9) }]
    assert_equal [1, [1.0]], [one.cores_count, one.effective_cores]
  end

  test "other versions, and another overhead" do
    after = workload_after("puma=6.6", "ruby=3.2", "overhead*0.5", of: app(overhead_cpu_ns: 40_000))
    assert_equal ["6.6", "3.2", 20_000], [after.puma_version, after.ruby_version, after.overhead_cpu_ns]
  end

  test "what was seen of the recorded Puma and Ruby is not taken for another version's" do
    seen = [app.with(puma_features: %w[overload_delay]), machine.with(gvl_rule: "hot")]
    rest = ->(text) { changed(text, of: seen.first, on: seen.last).then { |workload, machine| [workload.puma_features, machine.gvl_rule] } }
    assert_equal [nil, "hot"], rest.call("puma=7.2")
    assert_equal [%w[overload_delay], nil], rest.call("ruby=4.0")
    assert_equal [%w[overload_delay], "hot"], rest.call("overhead*0.5")
  end

  test "Puma's own CPU is the machine's, too, which is what is simulated" do
    names = %i[acceptor_cpu_ns reactor_wakeup_cpu_ns reactor_register_cpu_ns tail_cpu_ns]
    puma = machine(**names.zip([40_000, 20_000, 10_000, 6_000]).to_h)
    expected = {"overhead*0.5" => [20_000, 10_000, 5_000, 3_000], "yjit*4" => [10_000, 5_000, 2_500, 1_500]}
    expected.each do |text, figures|
      assert_equal figures, changed(text, on: puma).last.to_h.values_at(*names)
    end
  end

  test "expressions follow one another, and say themselves" do
    what_if = Predict::WhatIf.parse(["cpu*0.5", " cpu(/articles)-1ms ", ""])
    assert_equal ["cpu*0.5", "cpu(/articles)-1ms"], what_if.to_a
    assert_equal 2 * MS, what_if.apply(app, machine).first.endpoints.first.mean_held_ns
  end

  test "what is given stays as it was, and what comes out is as frozen" do
    before = app
    Ractor.make_shareable(before)
    after, = changed("cpu*0.5", "io-1ms", "gc=0", "mix(/articles)=0.1", of: before)
    assert_equal app, before
    assert_predicate after.endpoints, :frozen?
    assert(after.endpoints.flat_map(&:demands).all? { |demand| demand.bursts_ns.frozen? && demand.waits_ns.frozen? })
  end

  test "mistakes are told with what there is" do
    {
      "cpu(/nope)*0.7" => %r{there is no endpoint /nope; there is GET /articles, POST /orders/:id},
      "disk*2" => /there is no disk to change; there is cpu, io/,
      "cpu" => /write such as/,
      "cpu*fast" => /write a number above 0/,
      "cpu*0" => /above 0/,
      "cpu=5ms" => /cpu is changed by \* or - or \+/,
      "io-20" => /write a time after - with its unit/,
      "io=5" => /write =0/,
      "pool*0.5" => /no recorded request has a wait of the kind pool; there is io, lock/,
      "lock(/articles)*0.5" => %r{of /articles has a wait of the kind lock},
      "mix(/articles)=2" => /share from 0 to 1/,
      "mix=0.5" => /write the share/,
      "weight*2" => /name an endpoint/,
      "yjit(/articles)*1.2" => /no endpoint's own/,
      "rate=0" => /above 0/,
      "rate*2" => /rate=300/,
      "connections=0" => /from 1 to 10000/,
      "cores=0" => /from 1 to 256/,
      "cores=half" => /whole number/,
      "puma=5.6" => /from 6.0 to 8.x/,
      "ruby=new" => /from 3.0/,
      "gc*2" => /at most 1/,
      "cpu*1e7" => /at most a million/,
      "io+3601s" => /at most an hour/,
      "io-#{"9" * 400}s" => /write a time after - with its unit/,
      "cpu*1000000" => /longer than an hour/,
      "traffic*1e6" => /that would be 10000000 connections; .* 1 to 10000 connections/,
      "rate=0.0001" => /an open loop may have 0\.001 to 200000/
    }.each { |text, pattern| assert_match(/\A--what-if #{Regexp.escape(text)}: .*#{pattern.source}/, mistake(text), text) }
    untimed = workload(endpoints: [endpoint_demand(demand([2], gc_ms: nil))])
    assert_match(%r{not timed in GET /}, mistake("gc=0", of: untimed))
    assert_equal 1 * MS, workload_after("yjit*2", of: untimed).endpoints.first.mean_held_ns
  end

  test "changes that are too large only together are refused, before any number is beyond all" do
    assert_match(/longer than an hour/, mistake(*["cpu*100000"] * 100))
    assert_match(/longer than an hour/, mistake(*["overhead*1e6"] * 100, of: app(overhead_cpu_ns: 40_000)))
    long = workload(endpoints: [endpoint_demand(demand([1, 1], [4_000_000]))])
    assert_equal MS, changed("cpu*0.5", of: long).first.mean_held_ns, "one that was recorded to be as long stays so"
  end

  # Two locks, the first held over 2 ms of a file; then short system calls.
  def locking
    waits = demand([1, 2, 3, 4, 5, 6, 7], [0, 2, 0, 1, 0.01, 1], wait_kinds: %w[acquire file release acquire file release])
    workload(endpoints: [endpoint_demand(waits)], kinds_of_locks: ["mutex", ["pool", 2]])
  end

  test "a lock that nobody takes is gone, and its requests keep the GVL where they took it" do
    after = workload_after("without lock lock 0", of: locking)
    assert_equal ["lock 1"], after.locks.map(&:name)
    request = after.endpoints.first.demands.first
    assert_equal [[3 * MS, 7 * MS, 5 * MS, 6 * MS, 7 * MS], [2 * MS, 0, 10_000, 0], %w[file acquire file release]],
      [request.bursts_ns, request.waits_ns, request.wait_kinds]
    assert_empty workload_after("without lock lock*", of: locking).locks
    assert_match(/no lock Mutex that was watched; there is lock 0, lock 1/, mistake("without lock Mutex", of: locking))
  end

  test "a pool has another size, and no lock has one" do
    assert_equal [1, 10], workload_after("size(lock 1)=10", of: locking).locks.map(&:servers_count)
    assert_match(/no pool lock 0/, mistake("size(lock 0)=10", of: locking))
    assert_match(/name the pool/, mistake("size=10", of: locking))
    assert_match(/from 1 to/, mistake("size(lock 1)=0", of: locking))
  end

  test "system calls that come back at once no longer let go of the GVL" do
    request = workload_after("without releases file", of: locking).endpoints.first.demands.first
    assert_equal [[1 * MS, 2 * MS, 3 * MS, 4 * MS, 11 * MS, 7 * MS], 5], [request.bursts_ns, request.waits_ns.size]
    assert_equal workload_after("without releases all", of: locking), workload_after("without releases file", of: locking)
    assert_match(/no recorded request has such a wait/, mistake("without releases db", of: locking))
    assert_match(/write a kind of io after releases/, mistake("without releases lock", of: locking))
  end
end
