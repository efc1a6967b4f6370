# frozen_string_literal: true

require "test_helper"
require "monitor"
require "tmpdir"

# Locks that are watched: what of them is seen in traces and in the ledger, and that they lock as before.
class LocksTest < TunerTest
  kind :integration

  include PumaTuner::Probe

  Clock = GvlClock

  def setup
    assert Clock.start, Clock.why_not
    @folder = Dir.mktmpdir
    @path = File.join(@folder, "watched")
    assert_nil Clock.open_ledger(@path, "{}")
    assert Clock.watch_locks
  end

  # A ledger whose process watches no locks ends it.
  def teardown
    GC.stress = false
    Clock.open_ledger(File.join(@folder, "unwatched"), "{}")
    FileUtils.rm_rf(@folder)
  end

  # @return [Thread] whose value are the steps of a request that does the block
  def begin_request
    Thread.new {
      Clock.request_begin
      yield
      steps
    }
  end

  # @return [Array<Array(String, Integer)>] of this thread's request, which ends
  def steps = Clock.request_take(true).last.each_slice(2).map { |kind, number| [PumaTuner::Probe::Parts::CODES.key(kind), number] }

  def steps_of(&) = begin_request(&).value

  # @return [Array<String>] kinds of those that are not held and no wait for the GVL
  def kinds(steps) = steps.map(&:first) - %w[held gvl_wait]

  def markers(steps) = steps.select { |kind, _| PumaTuner::Probe::Parts::MARKERS.key?(kind) }

  def ledger(path = @path) = Ledger.read(path)

  # @return [Array<Ledger::Lock>] those that have a place in the ledger
  def locks = ledger.locks

  # @return [Array] markers of a request with so many steps before that short holds are
  #   marked only where somebody waits for the lock
  def late_markers
    markers(steps_of do
      150.times { sleep 0 }
      yield
    end)
  end

  # Each pair of markers is closed in its turn, whatever lies between.
  def assert_balanced(steps)
    open = []
    markers(steps).each do |kind, id|
      (kind == "acquire") ? open.push(id) : assert(open.delete_at(open.rindex(id) || flunk("#{id} is released and was not acquired: #{steps}")))
    end
    assert_empty open, steps.inspect
  end

  # A thread that holds the lock until the block's end, and no GVL meanwhile.
  def while_held(lock)
    held, done = Queue.new, Queue.new
    holder = Thread.new { lock.synchronize { (held << 1) && done.pop } }
    held.pop
    yield
  ensure
    done << 1
    holder.join
  end

  def wait_for_sleep(thread) = wait_until("the thread's wait") { thread.stop? }

  test "a hold over a sleep is seen, and so is the wait of another thread for it" do
    mutex = Mutex.new
    held = Queue.new
    line = __LINE__ + 1
    take = -> { mutex.synchronize { (held << 1) && sleep(0.03) } }
    holder = begin_request(&take)
    held.pop
    waiter = begin_request(&take)
    assert_equal %w[acquire sleep release], kinds(holder.value)
    waited = waiter.value
    assert_equal %w[acquire lock sleep release], kinds(waited)
    assert_equal "lock", waited[waited.index { |kind, _| kind == "acquire" } + 1].first, "the wait follows at once: #{waited}"
    assert_equal [1], markers(waited).map(&:last).uniq
    lock = locks.first
    assert_equal ["mutex", "Thread::Mutex", 1, 2, 1], [lock.kind, lock.class_name, lock.size, lock.threads_count, lock.waits_count]
    assert_match(/\Alocks_test.rb:#{line} in /, lock.place)
    assert_operator lock.hold_ns, :>=, 2 * 0.99 * 30_000_000
    wait_ns = waited.find { |kind, _| kind == "lock" }.last
    assert_operator wait_ns, :>=, 10_000_000
    assert_equal wait_ns, lock.wait_ns
  end

  test "a hold over io is seen though nobody waits" do
    reader, writer = IO.pipe
    mutex = Mutex.new
    trace = steps_of { mutex.synchronize { (writer << "x") && reader.read(1) } }
    assert_equal %w[acquire io release], kinds(trace).uniq
    assert_equal [1, 0, 1], locks.first.then { |lock| [lock.holds_count, lock.waits_count, lock.threads_count] }
  end

  test "a hold that only computes leaves nothing but a count" do
    mutex = Mutex.new
    before = ledger.lock_pairs_count
    trace = steps_of { 100.times { mutex.synchronize { 1 + 1 } } }
    assert_empty markers(trace)
    assert_empty locks
    assert_operator ledger.lock_pairs_count - before, :>=, 100
  end

  test "a hold that only computes is seen when somebody waits for it" do
    mutex = Mutex.new.lock
    waiter = Thread.new { mutex.synchronize { 1 } }
    wait_for_sleep(waiter)
    mutex.unlock # seen from here on: it has been waited for
    waiter.join
    mutex.lock
    waiter = Thread.new { mutex.synchronize { 1 } }
    wait_for_sleep(waiter)
    Clock.request_begin
    mutex.unlock
    mutex.lock # before the one who was woken
    spin(0.001)
    mutex.unlock
    trace = steps
    waiter.join
    assert_equal %w[acquire release], markers(trace).map(&:first)
    trace = trace.drop_while { |kind, _| kind != "acquire" }
    assert_equal %w[acquire held release held], trace.map(&:first)
    assert_operator trace[1].last, :>=, 990_000, "the time of the hold lies between the two"
  end

  test "all waits for one lock are one in the trace, however often others take it first" do
    mutex = Mutex.new.lock
    request = begin_request { mutex.synchronize { sleep 0.001 } }
    wait_for_sleep(request)
    5.times do
      mutex.unlock
      mutex.lock
      sleep 0.002
    end
    mutex.unlock
    trace = request.value
    assert_equal %w[acquire lock sleep release], kinds(trace), trace.inspect
    assert_operator trace.assoc("lock").last, :>=, 9_000_000
    assert_equal 1, locks.first.waits_count
  end

  test "nested locks are seen in their order, and each in its place" do
    outer, inner = Mutex.new, Mutex.new
    trace = steps_of do
      outer.synchronize do
        spin(0.002)
        inner.synchronize { sleep 0.002 }
        spin(0.002)
      end
    end
    ids = markers(trace).map(&:last)
    assert_equal [%w[acquire acquire release release], [ids[0], ids[1], ids[1], ids[0]]], [markers(trace).map(&:first), ids]
    refute_equal ids[0], ids[1]
    between = trace[(trace.index(["acquire", ids[0]]) + 1)...trace.index(["acquire", ids[1]])]
    assert_operator between.sum(&:last), :>=, 1_980_000, "what was computed between the two stands there"
  end

  test "locks may be given back in any order" do
    one, two = Mutex.new, Mutex.new
    trace = steps_of do
      [one, two].each(&:lock)
      sleep 0.001
      one.unlock
      sleep 0.001
      two.unlock
    end
    assert_equal %w[acquire acquire sleep release sleep release], kinds(trace)
    assert_balanced trace
    assert_empty late_markers { one.synchronize { two.synchronize { 1 } } }
  end

  test "short holds of a lock that others may hold for long are marked, while the trace has room" do
    mutex = Mutex.new
    assert_empty markers(steps_of { mutex.synchronize { 1 } }), "nobody is known to hold it for long"
    steps_of { mutex.synchronize { sleep 0.001 } }
    trace = steps_of do
      2.times { mutex.synchronize { spin(0.002) } }
      sleep 0.001
    end
    assert_equal %w[acquire release acquire release sleep], kinds(trace)
    assert_balanced trace
    assert_operator trace[(trace.index(["acquire", 1]) + 1)...trace.index(["release", 1])].sum(&:last), :>=, 1_980_000, "what was computed with it stands there"
    assert_empty late_markers { mutex.synchronize { 1 } }
  end

  test "a time slice that ends within a hold lets the GVL go" do
    mutex = Mutex.new
    running = true
    other = Thread.new { nil while running }
    trace = steps_of { mutex.synchronize { spin(0.3) } }
    running = false
    other.join
    assert_equal %w[acquire release], markers(trace).map(&:first)
  end

  test "a monitor is held from the first entry to the last exit, by any of its names" do
    monitor = Monitor.new
    trace = steps_of do
      monitor.mon_enter
      monitor.synchronize { monitor.try_enter && sleep(0.001) }
      monitor.exit
      sleep 0.001
      monitor.mon_exit
      sleep 0.001
    end
    assert_equal %w[acquire sleep sleep release sleep], kinds(trace), trace.inspect
    assert_equal ["monitor", "Monitor", 1], locks.first.then { |lock| [lock.kind, lock.class_name, lock.holds_count] }
  end

  test "a lock of a MonitorMixin is told by whoever takes it, not by Ruby's own library" do
    object = Object.new.extend(MonitorMixin)
    steps_of { object.synchronize { sleep 0.001 } }
    assert_match(/\Alocks_test.rb:#{__LINE__ - 1} in /, locks.first.place)
    refute_includes locks.first.place, "/"
  end

  {"a mutex" => -> { Mutex.new }, "a monitor" => -> { Monitor.new }}.each do |name, make|
    test "whoever waits for a condition has given #{name} back meanwhile" do
      lock = make.call
      condition = lock.is_a?(Monitor) ? lock.new_cond : ConditionVariable.new
      wait = -> { lock.is_a?(Monitor) ? condition.wait : condition.wait(lock) }
      request = begin_request do
        lock.synchronize do
          sleep 0.001
          wait.call
          sleep 0.001
        end
      end
      wait_for_sleep(request)
      sleep 0.005
      other = steps_of { lock.synchronize { condition.signal && sleep(0.02) } }
      trace = request.value
      assert_equal %w[acquire sleep release lock acquire lock sleep release], kinds(trace), trace.inspect
      assert_operator trace.reverse.assoc("lock").last, :>=, 10_000_000, "the second is for the lock, which the other holds"
      assert_equal %w[acquire sleep release], kinds(other)
      lock = locks.first
      assert_equal [2 + 1, 1, 2], [lock.holds_count, lock.waits_count, lock.threads_count]
      assert_operator lock.hold_ns, :>=, 0.99 * 22_000_000
    end
  end

  test "they lock as before, whatever ends the block" do
    mutex = Mutex.new
    assert_raises(KeyError) { mutex.synchronize { raise KeyError } }
    assert_equal 7, [1].each { mutex.synchronize { break 7 } }.then { 7 }
    assert_equal 8, mutex.synchronize { next 8 }
    assert_equal(9, catch(:done) { mutex.synchronize { throw :done, 9 } })
    assert_equal 10, -> { mutex.synchronize { return 10 } }.call
    refute_predicate mutex, :locked?
    assert_equal [true, false], [mutex.try_lock, mutex.try_lock]
    assert_raises(ThreadError) { mutex.lock }
    assert_same mutex, mutex.unlock
    assert_raises(ThreadError) { mutex.unlock }
    assert_raises(ThreadError) { mutex.synchronize }
    assert_raises(ThreadError) { mutex.sleep(0.001) }
    monitor = Monitor.new
    assert_raises(ThreadError) { monitor.exit }
    assert_equal 5, monitor.synchronize { monitor.synchronize { 5 } }
    refute_predicate monitor, :mon_locked?
    assert_empty markers(steps_of { mutex.synchronize { monitor.synchronize { 1 } } })
  end

  test "an exception out of a hold, or a wait, closes it" do
    mutex = Mutex.new
    trace = steps_of do
      mutex.synchronize { sleep(0.001) && raise(KeyError) }
    rescue KeyError
      sleep 0.001
    end
    assert_equal %w[acquire sleep release sleep], kinds(trace)
    while_held(mutex) do
      gives_up = begin_request do
        mutex.lock
      rescue KeyError
        sleep 0.001
      end
      wait_for_sleep(gives_up)
      gives_up.raise(KeyError)
      assert_equal %w[acquire lock release sleep], kinds(gives_up.value)
    end
    assert_equal 2, locks.first.holds_count, "that of the one who gave up is none"
  end

  test "a thread killed while it holds a lock, or waits for one, leaves no trace of it" do
    mutex = Mutex.new
    while_held(mutex) { Thread.new { mutex.lock }.tap { |thread| wait_for_sleep(thread) }.kill.join }
    2.times do
      holder = Thread.new { mutex.lock && sleep }
      wait_for_sleep(holder)
      holder.kill.join
    end
    refute_predicate mutex, :locked?
    steps_of { mutex.synchronize { sleep 0.001 } }
    assert_empty late_markers { mutex.synchronize { 1 } }, "nobody waits for it"
  end

  test "what is held at the end of a request is given back there, and is none of the next one's" do
    mutex = Mutex.new
    mutex.synchronize { sleep 0.001 } # it has a place
    first, second = Thread.new {
      Clock.request_begin
      mutex.lock
      sleep 0.001
      first = steps
      Clock.request_begin
      sleep 0.001
      mutex.unlock
      [first, steps]
    }.value
    assert_equal %w[acquire sleep release], kinds(first)
    assert_equal %w[sleep], kinds(second)
    assert_equal 2, locks.first.holds_count
  end

  test "a full trace keeps its sum, and the pairs of its markers" do
    mutexes = Array.new(5) { Mutex.new }
    nested = ->(rest) { rest.empty? ? sleep(0.00002) : rest.first.synchronize { sleep(0.00002) && nested.call(rest.drop(1)) } }
    numbers, trace = Thread.new {
      Clock.request_begin
      150.times { nested.call(mutexes) }
      numbers, flat = Clock.request_take(true)
      [PumaTuner::Probe::Parts::TAKEN.zip(numbers).to_h, flat.each_slice(2).map { |kind, number| [PumaTuner::Probe::Parts::CODES.key(kind), number] }]
    }.value
    assert_operator trace.size, :<=, 512
    assert_balanced trace
    assert_equal numbers[:wall], (trace - markers(trace)).sum(&:last)
  end

  test "locks stay known when the collector moves objects" do
    kept = Array.new(50) { [Object.new, Mutex.new, Monitor.new] }
    hold = -> { kept.each { |_, *locks| locks.each { |lock| lock.synchronize { sleep 0.00001 } } } }
    first = steps_of(&hold)
    held = Mutex.new.lock
    kept.each_with_index { |each, index| each[0] = nil if index.even? }
    3.times { GC.verify_compaction_references(expand_heap: true, toward: :empty) }
    sleep 0.001
    held.unlock
    assert_equal markers(first).map(&:last), markers(steps_of(&hold)).map(&:last)
    assert_equal 101, locks.size
  end

  test "a lock that is gone leaves its place to the next one that is taken there" do
    take = -> { Mutex.new.synchronize { sleep 0.00001 } }
    600.times do |turn|
      take.call
      GC.start if turn % 20 == 0
    end
    assert_operator locks.size, :<, 100
    assert_equal 600, locks.sum(&:holds_count)
    assert_equal 0, ledger.unplaced_locks_count
  end

  test "locks beyond those that have a place are counted, and lock as before" do
    mutexes = Array.new(300) { Mutex.new }
    trace = Array.new(300) { |number| steps_of { mutexes[number].synchronize { sleep 0.00001 } } }
    assert_equal [256, 44], [locks.size, ledger.unplaced_locks_count]
    assert_equal [[["acquire", 256], ["release", 256]], [["acquire", 0], ["release", 0]]], [markers(trace[255]), markers(trace[256])]
    assert_includes Account.new({}, {@path => ledger}).unknown, PumaTuner::Unknown.of(:locks, :no_place, missed_count: 44, most_count: 256)
  end

  test "frozen locks are watched, too" do
    kept = Array.new(50) { [Object.new, Mutex.new.freeze] }
    hold = -> { kept.each { |_, lock| lock.synchronize { sleep 0.00001 } } }
    first = steps_of(&hold)
    kept.each_with_index { |each, index| each[0] = nil if index.even? }
    3.times { GC.verify_compaction_references(expand_heap: true, toward: :empty) }
    assert_equal markers(first), markers(steps_of(&hold))
    assert_equal [2], locks.map(&:holds_count).uniq
  end

  test "watched locks survive a collection at every allocation" do
    mutex, monitor = Mutex.new, Monitor.new
    GC.stress = true
    trace = steps_of { 3.times { mutex.synchronize { monitor.synchronize { sleep 0.0001 } } && Mutex.new.synchronize { sleep 0.0001 } } }
    GC.stress = false
    assert_balanced trace
    assert_operator markers(trace).size, :>=, 18 - 2
  end

  test "a pool is a lock with as many places as connections" do
    pool = Object.new
    use = lambda do |got: 2|
      was_inside = Clock.checkout(true)
      Clock.pool_tried(pool)
      Queue.new.pop(timeout: 0.002)
      Clock.pool_got(pool, got)
      Clock.checkout(was_inside)
      sleep 0.002
      Clock.pool_returned(pool)
    end
    trace = steps_of(&use)
    assert_equal %w[acquire pool sleep release], kinds(trace), trace.inspect
    lock = locks.first
    assert_equal ["pool", "Object", 2, 1, 1], [lock.kind, lock.class_name, lock.size, lock.holds_count, lock.waits_count]
    assert_equal %w[acquire pool release sleep], kinds(steps_of { use.call(got: nil) }), "no connection was to be had"
    assert_equal 1, locks.first.holds_count
  end

  def check_out(pool)
    was_inside = Clock.checkout(true)
    Clock.pool_tried(pool)
    yield if block_given?
    Clock.pool_got(pool, 2)
    Clock.checkout(was_inside)
  end

  test "what a pool takes back or throws away inside of its checkout is no connection of this thread's" do
    pool = Object.new
    trace = steps_of do
      check_out(pool)
      check_out(pool) { Clock.pool_returned(pool) }
      2.times do
        sleep 0.001
        Clock.pool_returned(pool)
      end
      sleep 0.001
    end
    assert_equal %w[acquire acquire sleep release sleep release sleep], kinds(trace), trace.inspect
    assert_equal [2], locks.map(&:holds_count)
  end

  test "of more locks than are known of one thread the oldest is no hold: nobody knows its end" do
    mutexes = Array.new(17) { Mutex.new }
    trace = steps_of do
      mutexes.each { |mutex| mutex.lock && sleep(0.0001) }
      mutexes.each(&:unlock)
    end
    assert_balanced trace
    assert_equal [0, *[1] * 16], locks.map(&:holds_count)
  end

  [Mutex, Monitor].each do |parent|
    test "a wait for a lock whose class an app has made of #{parent} is a wait, and no hold" do
      lock = Class.new(parent).new
      request = nil
      while_held(lock) do
        request = begin_request { lock.synchronize { sleep 0.001 } }
        wait_for_sleep(request)
        sleep 0.02
      end
      trace = request.value
      assert_equal %w[acquire lock sleep release], kinds(trace), trace.inspect
      assert_equal [2, 1, trace.assoc("lock").last], locks.first.then { |one| [one.holds_count, one.waits_count, one.wait_ns] }
      assert_operator locks.first.wait_ns, :>=, 0.99 * 20_000_000
    end
  end

  test "what a pool does inside of its checkout is part of that" do
    mutex = Mutex.new
    trace = steps_of do
      was_inside = Clock.checkout(true)
      Clock.pool_tried(mutex.class)
      mutex.synchronize { ConditionVariable.new.wait(mutex, 0.002) }
      Clock.pool_got(mutex.class, 1)
      Clock.checkout(was_inside)
      Clock.pool_returned(mutex.class)
    end
    assert_equal %w[acquire pool release], kinds(trace)
    assert_equal "pool", trace[trace.index { |kind, _| kind == "acquire" } + 1].first, "the wait follows at once: #{trace}"
    assert_equal [["pool", 1, 1]], locks.map { |lock| [lock.kind, lock.holds_count, lock.waits_count] }
  end

  test "fibers of a thread hold locks of their own" do
    one, two = Mutex.new, Mutex.new
    trace = steps_of do
      fibers = [one, two].map { |mutex| Fiber.new { mutex.synchronize { sleep(0.001) && Fiber.yield && sleep(0.001) } } }
      2.times { fibers.each(&:resume) }
    end
    assert_balanced trace
    assert_equal 2, markers(trace).map(&:last).uniq.size
  end

  # What a thread does with the locks, by chance: returns how often it held each.
  def use_by_chance(locks, random)
    held = Hash.new(0)
    conditions = locks.to_h { |lock| [lock, ConditionVariable.new] }
    15.times do
      first, last = locks.sample(2, random:).sort_by { |lock| locks.index(lock) }
      [first, last].each { |lock| held[lock] += 1 }
      first.synchronize do
        sleep 0.0001 if random.rand(2) == 0
        last.synchronize { (random.rand(2) == 0) ? sleep(0.0001) : spin(0.0002) }
        if first.is_a?(Mutex) && random.rand(4) == 0
          conditions[first].wait(first, 0.0002)
          held[first] += 1
        end
        throw :done if random.rand(8) == 0
      end
    rescue UncaughtThrowError
      sleep 0.0001
    end
    held
  end

  test "whatever threads do at once, each hold is counted, each trace is whole, and nobody seems to wait in the end" do
    random = Random.new(7)
    locks = Array.new(3) { [Mutex.new, Monitor.new] }.flatten
    locks.each { |lock| lock.synchronize { sleep 0.001 } } # each has its place
    threads = Array.new(8) do |number|
      Thread.new(Random.new(random.seed + number)) do |own|
        Clock.request_begin
        held = use_by_chance(locks, own)
        numbers, flat = Clock.request_take(true)
        [held, PumaTuner::Probe::Parts::TAKEN.zip(numbers).to_h, flat.each_slice(2).map { |kind, number| [PumaTuner::Probe::Parts::CODES.key(kind), number] }]
      end
    end
    results = threads.map(&:value)
    results.each do |_, numbers, trace|
      assert_balanced trace
      assert_equal numbers[:wall], (trace - markers(trace)).sum(&:last)
    end
    own_counts = results.map(&:first).reduce { |all, held| all.merge(held) { |_, one, two| one + two } }.values_at(*locks)
    assert_equal own_counts, ledger.locks.map { |lock| lock.holds_count - 1 }, "in the order in which they got their places"
    assert_empty late_markers { locks.each { |lock| lock.synchronize { 1 } } }
  end

  test "a child does not write where its parent does, and records for itself when it begins to" do
    mutex = Mutex.new
    steps_of { mutex.synchronize { sleep 0.001 } }
    before = File.binread(@path, 100_000, Ledger::LAYOUT[:locks_offset])
    path = File.join(@folder, "child")
    mutex.synchronize do
      Process.wait(fork do
        3.times { mutex.synchronize { sleep 0.001 } } rescue nil # rubocop:disable Style/RescueModifier -- it is held
        Mutex.new.synchronize { sleep 0.001 }
        Clock.start
        Clock.open_ledger(path, "{}")
        Clock.watch_locks
        Clock.request_begin
        Mutex.new.synchronize { sleep 0.001 }
        Clock.request_end(Clock.entry(1, "GET /"), nil, nil)
        exit!(0)
      end)
      assert_predicate $?, :success?
      assert_equal before, File.binread(@path, 100_000, Ledger::LAYOUT[:locks_offset])
    end
    child = ledger(path)
    assert_equal [1], child.locks.map(&:holds_count)
    assert_equal %w[acquire release], child.traces.values.flatten.first.steps.each_slice(2).map(&:first).grep(/acquire|release/)
  end

  test "nothing is marked and counted when nobody watches" do
    Clock.open_ledger(File.join(@folder, "another"), "{}")
    mutex = Mutex.new
    assert_empty markers(steps_of { mutex.synchronize { sleep 0.001 } })
    assert_nil ledger(File.join(@folder, "another")).locks
    assert_empty ledger.locks
  end

  test "it tells what being watched costs" do
    assert_operator ledger.cost_per_lock_pair_ns, :>, 0
  end
end
