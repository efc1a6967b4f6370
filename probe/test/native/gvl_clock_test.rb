# frozen_string_literal: true

require "test_helper"
require "monitor"
require "socket"
require "tmpdir"

# The clock against workloads whose truth is known. What is asserted is where time goes, never how fast this machine is:
# a wait takes at least as long as it was asked to, and at most as long as the app's own clock says.
class GvlClockTest < TunerTest
  Clock = PumaTuner::Probe::GvlClock

  def setup
    assert Clock.start, Clock.why_not
  end

  # @return [Thread] of a request that does the block. Its value: the request's numbers; and by the app's own clocks how long the block
  #   took (inside), how long that was with all around it (outside), and the block's CPU time (own_cpu)
  def begin_request
    before_ns = own_ns
    Thread.new {
      Clock.request_begin
      began_ns, began_cpu_ns = own_ns, own_cpu_ns
      yield
      own_cpu, inside = own_cpu_ns - began_cpu_ns, own_ns - began_ns
      take.merge(own_cpu:, inside:, outside: own_ns - before_ns)
    }
  end

  # @return [Hash{Symbol => Integer}] the numbers of a request that does the block, on a thread of its own
  def numbers_of(&) = begin_request(&).value

  # Does the block when the request's thread has waited for so long, which ends the wait.
  # @return [Hash{Symbol => Integer}] the request's numbers
  def after_waiting(seconds, request)
    sleep 0.001 until request.stop?
    sleep seconds
    yield
    request.value
  end

  def own_ns = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

  def own_cpu_ns = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond)

  # @return [Hash{Symbol => Integer}] the numbers of this thread's request, which ends
  def take = PumaTuner::Probe::Parts::TAKEN.zip(Clock.request_take(false).first).to_h

  # @return [Array(Array<Array(String, Integer)>, Hash{Symbol => Integer})] steps and numbers of this thread's request, which ends
  def take_with_steps
    numbers, steps = Clock.request_take(true)
    [steps.each_slice(2).map { |kind, ns| [PumaTuner::Probe::Parts::STEPS.fetch(kind), ns] },
      PumaTuner::Probe::Parts::TAKEN.zip(numbers).to_h]
  end

  # @return [Array] what take_with_steps gives of a request that does the block, on a thread of its own
  def steps_of
    Thread.new {
      Clock.request_begin
      yield
      take_with_steps
    }.value
  end

  # Two clocks of one machine agree so far.
  CLOCKS_RATIO = 1.001

  # The CPU time that falling asleep and waking up takes is no wait.
  WAIT_RATIO = 0.99

  # A wait of so long at least, as long as the app's own clock allows, and no other wait of note.
  def assert_waited(part, least_s, numbers)
    assert_operator numbers[part], :>=, least_s * WAIT_RATIO * 1e9
    assert_operator numbers[part], :<=, numbers[:inside] * CLOCKS_RATIO
    others = %i[io lock sleep] - [part]
    assert_operator numbers.values_at(*others).sum, :<, numbers[part] / 10, numbers.to_s
  end

  PARTS = %i[cpu preempted gvl_wait gc io lock sleep].freeze

  test "the parts sum to the wall time exactly" do
    reader, writer = IO.pipe
    numbers = numbers_of do
      spin(0.02)
      sleep 0.01
      writer.write("x")
      reader.read(1)
      Mutex.new.synchronize { Array.new(50_000) { Object.new } }
    end
    assert_equal numbers[:wall], numbers.values_at(*PARTS).sum
    assert_operator numbers[:wall] * CLOCKS_RATIO, :>=, numbers[:inside]
    assert_operator numbers[:wall], :<=, numbers[:outside] * CLOCKS_RATIO
  end

  # After one request, while another thread computes all the time, the thread looks for the connection's next one, as Puma does.
  # Once more where the machine or a slice's end came between: that shows in how long two milliseconds of CPU took.
  # @return [Array<Array(String, Integer)>] steps of its next request; and its numbers, with how long the look took
  def steps_after_a_look(*origin, look_s: 0)
    tries = Array.new(5) { once_after_a_look(*origin, look_s:) }
    tries.min_by { |_, numbers| numbers[:spun_ns] }
  end

  def once_after_a_look(*origin, look_s:)
    over = false
    reader, writer = IO.pipe
    Thread.new {
      Clock.request_begin
      Clock.request_take(false)
      Thread.new { nil until over }
      began_ns = own_ns
      reader.wait_readable(look_s)
      look_ns = own_ns - began_ns
      Clock.request_begin(*origin)
      over = true
      spun_ns = own_ns
      spin(0.002)
      spun_ns = own_ns - spun_ns
      steps, numbers = take_with_steps
      [steps, numbers.merge(look_ns:, spun_ns:)]
    }.value
  ensure
    over = true
    [reader, writer].each { |io| io&.close }
  end

  test "what a thread waits for while it looks for a connection's next request is no time of another that lay in the list" do
    steps, numbers = steps_after_a_look(true)
    assert_operator numbers[:look_ns], :>, 50_000_000
    assert_equal %w[held], steps.map(&:first)
    assert_operator numbers[:gvl_wait], :<, 1_000_000
  end

  test "nor is it where the look took as long as a rest, as when the kernel runs another thread meanwhile" do
    steps, numbers = steps_after_a_look(true, look_s: 0.001)
    assert_operator numbers[:look_ns], :>, 50_000_000
    assert_equal %w[held], steps.map(&:first)
    assert_operator numbers[:gvl_wait], :<, 1_000_000
    assert_equal "gvl_wait", steps_after_a_look(look_s: 0.001).first.first.first, "the connection's next request has it"
  end

  test "it is time of the connection's next request, but for the look" do
    steps, numbers = steps_after_a_look
    assert_equal "gvl_wait", steps.first.first
    refute_includes steps.map(&:first), "io"
    assert_in_delta numbers[:look_ns], steps.first.last, 0.1 * numbers[:look_ns]
  end

  # @return [Hash{Symbol => Integer}] what a thread's totals gain by a poll of a connection between two requests
  def gained_by_a_poll
    reader, writer = IO.pipe
    Thread.new {
      Clock.request_begin && Clock.discard # it serves
      before = Clock.totals(Thread.current)
      reader.wait_readable(0.02)
      PumaTuner::Probe::Parts::TOTALS.zip(Clock.totals(Thread.current).zip(before).map { |now, was| now - was }).to_h
    }.value
  ensure
    [reader, writer].each { |io| io&.close }
  end

  test "a poll of a connection between two requests is a rest, but for threads that only look: they waited for a core" do
    assert_operator gained_by_a_poll[:idle], :>=, 20_000_000 * WAIT_RATIO
    Clock.looks_only = true
    gained = gained_by_a_poll
    assert_equal 0, gained[:idle]
    assert_operator gained[:compute], :>=, 20_000_000 * WAIT_RATIO
    assert_operator gained[:io], :<, gained[:compute] / 10
    ours, = pair = Socket.pair(:UNIX, :STREAM)
    assert_waited :io, 0.02, numbers_of { ours.wait_readable(0.02) } # the app's own, in a request
  ensure
    Clock.looks_only = false
    pair&.each(&:close)
  end

  test "computing counts as cpu" do
    numbers = numbers_of { spin(0.1) }
    assert_operator numbers[:cpu] + numbers[:gc], :>=, numbers[:own_cpu] * WAIT_RATIO
    assert_operator numbers[:cpu] + numbers[:gc], :<=, numbers[:wall]
    assert_operator numbers[:io] + numbers[:lock] + numbers[:sleep], :<, numbers[:cpu] / 10
  end

  test "Kernel#sleep counts as sleep" do
    assert_waited :sleep, 0.05, numbers_of { sleep 0.05 }
  end

  test "waiting for a socket is io" do
    ours, theirs = Socket.pair(:UNIX, :STREAM)
    assert_waited :io, 0.05, after_waiting(0.05, begin_request { ours.read(1) }) { theirs.write("x") }
  end

  IO_KINDS = %i[db redis http file].freeze

  # A wait of that kind, which counts as io, and no other kind of note.
  def assert_waited_for(kind, least_s, numbers)
    assert_waited :io, least_s, numbers
    assert_operator numbers[kind], :>=, least_s * WAIT_RATIO * 1e9, numbers.to_s
    assert_operator numbers.values_at(*IO_KINDS).sum, :<=, numbers[:io]
    assert_operator numbers.values_at(*IO_KINDS - [kind]).sum, :<, numbers[kind] / 10, numbers.to_s
  end

  def kind_number(kind) = PumaTuner::Probe::Parts::CODES.fetch(kind.to_s)

  test "waiting for a file is io of its own kind, whoever asks for it" do
    Dir.mktmpdir do |folder|
      File.mkfifo(path = File.join(folder, "fifo"))
      {
        -> { File.open(path) { |fifo| fifo.read(1) } } => ->(fifo) { sleep(0.05) && fifo.write("x") }, # waits for the writer, then for what it writes
        -> { File.read(path) } => ->(fifo) { fifo.write("x") }, -> { Class.new(File).open(path, &:read) } => ->(fifo) { fifo.write("x") }
      }.each do |reading, writing|
        assert_waited_for :file, 0.05, after_waiting(0.05, begin_request(&reading)) { File.open(path, "w", &writing) }
      end
    end
  end

  test "a socket is io of no kind that is known" do
    ours, theirs = Socket.pair(:UNIX, :STREAM)
    numbers = after_waiting(0.02, begin_request { ours.read(1) }) { theirs.write("x") }
    assert_operator numbers.values_at(*IO_KINDS).sum, :<, numbers[:io] / 10
  end

  test "methods of a class that is named wait for its kind of io, and so do its subclasses'" do
    driver = Class.new(UNIXSocket)
    assert Clock.attribute(driver, kind_number(:db))
    ours, theirs = Class.new(driver).pair
    assert_waited_for :db, 0.05, after_waiting(0.05, begin_request { ours.read(1) }) { theirs.write("x") }
  end

  test "inside a library's scope a socket waits for that library, and a lock and a sleep for themselves" do
    ours, theirs = Socket.pair(:UNIX, :STREAM)
    scoped = begin_request do
      before = Clock.scope(kind_number(:http))
      ours.read(1)
      Queue.new.pop(timeout: 0.02)
      sleep 0.02
      Clock.scope(before)
    end
    numbers = after_waiting(0.03, scoped) { theirs.write("x") }
    assert_operator numbers[:http], :>=, 30_000_000 * WAIT_RATIO
    assert_operator numbers[:http], :<=, numbers[:io]
    assert_operator numbers[:lock], :>=, 20_000_000 * WAIT_RATIO
    assert_operator numbers[:sleep], :>=, 20_000_000 * WAIT_RATIO
  end

  test "inside a scope releases too short to be looked into are that library's, too" do
    steps = File.open(File::NULL, "w") do |null|
      Thread.new {
        Clock.request_begin
        Clock.request_take(false) # the thread's first window began with the thread, before the scope
        Clock.request_begin
        before = Clock.scope(kind_number(:redis))
        500.times { null.syswrite("x") } # takes some 0.3 µs; those that take longer are seen to be a file's
        take_with_steps.first.tap { Clock.scope(before) }
      }.value
    end
    assert_empty steps.map(&:first).uniq - %w[held gvl_wait redis file], steps.first(20).inspect
  end

  test "scopes lie within each other, each thread's its own" do
    http, redis = kind_number(:http), kind_number(:redis)
    assert_equal [0, http, redis, http], Thread.new { [Clock.scope(http), Clock.scope(redis), Clock.scope(http), Clock.scope(0)] }.value
    Clock.scope(http)
    assert_equal 0, Thread.new { Clock.scope(0) }.value
    left_behind = Thread.new do
      Clock.scope(http)
      Clock.checkout(true)
      Clock.request_begin
      [Clock.scope(0), Clock.checkout(false)].tap { Clock.discard }
    end
    assert_equal [0, false], left_behind.value, "as a fiber does that was abandoned in it, before the next request"
  ensure
    Clock.scope(0)
  end

  test "kinds of io sum to no more than io, and the parts to the wall time, also where the CPU time is the kernel's" do
    ours, theirs = Socket.pair(:UNIX, :STREAM)
    zeroes = String.new(capacity: 1 << 20)
    request = begin_request do
      before = Clock.scope(kind_number(:http))
      ours.read(1)
      Clock.scope(before)
      File.open("/dev/zero") { |file| 64.times { file.read(1 << 20, zeroes) } } # all of it CPU, without the GVL
    end
    numbers = after_waiting(0.02, request) { theirs.write("x") }
    assert_equal numbers[:wall], numbers.values_at(*PARTS).sum
    assert_operator numbers.values_at(*IO_KINDS).sum, :<=, numbers[:io]
    assert_operator numbers[:cpu] + numbers[:gc], :>=, numbers[:own_cpu] * WAIT_RATIO
    assert_operator numbers[:http], :>=, 20_000_000 * WAIT_RATIO
    # What the kernel copied was no wait, so that it is not taken from the wait for the other server.
    assert_operator numbers[:file], :<=, numbers[:inside] - numbers[:own_cpu] - 20_000_000 * WAIT_RATIO
  end

  test "a held mutex is lock, not io" do
    mutex = Mutex.new.lock
    assert_waited :lock, 0.05, after_waiting(0.05, begin_request { mutex.synchronize {} }) { mutex.unlock }
  end

  test "an empty queue is lock, with and without a time limit" do
    assert_waited :lock, 0.03, numbers_of { Queue.new.pop(timeout: 0.03) }
    queue = Queue.new
    assert_waited :lock, 0.03, after_waiting(0.03, begin_request { queue.pop }) { queue.push(1) }
  end

  test "a condition variable with a time limit, as connection pools wait, is lock" do
    numbers = numbers_of do
      mutex = Mutex.new
      mutex.synchronize { ConditionVariable.new.wait(mutex, 0.04) }
    end
    assert_waited :lock, 0.04, numbers
  end

  test "waiting for another thread to end is lock" do
    stop = Queue.new
    other = Thread.new { stop.pop }
    assert_waited :lock, 0.04, after_waiting(0.04, begin_request { other.join }) { stop.push(1) }
  end

  test "waits in a class that an app has made of one that locks, or in an object that it has extended, are lock" do
    [Class.new(Mutex).new, Class.new(Monitor).new, Mutex.new.extend(Comparable)].each do |lock|
      held, done = Queue.new, Queue.new
      holder = Thread.new { lock.synchronize { (held << 1) && done.pop } }
      held.pop
      assert_waited :lock, 0.03, after_waiting(0.03, begin_request { lock.synchronize {} }) { done << 1 }
      holder.join
    end
    queue = Class.new(Queue).new
    assert_waited :lock, 0.03, numbers_of { queue.pop(timeout: 0.03) }
    other = Class.new(Thread).new { queue.pop }
    assert_waited :lock, 0.03, after_waiting(0.03, begin_request { other.value }) { queue << 1 }
  end

  test "an object of such a class sleeps and waits for sockets as any other" do
    ours, theirs = Socket.pair(:UNIX, :STREAM)
    waits = Module.new do
      def rest = sleep(0.03)

      def look(socket) = select([socket])
    end
    [Class.new(Thread).new {}.join, Class.new(Queue).new].each do |object|
      object.extend(waits)
      assert_waited :sleep, 0.03, numbers_of { object.rest }
    end
    thread = Class.new(Thread).new {}.join.extend(waits)
    assert_waited :io, 0.03, after_waiting(0.03, begin_request { thread.look(ours) }) { theirs.write("x") }
  end

  test "threads that compute wait for each other's slices" do
    numbers = Array.new(3) { Thread.new { numbers_of { spin(0.25) } } }.map(&:value)
    numbers.each do |each|
      assert_operator each[:cpu] + each[:gc], :>=, each[:own_cpu] * WAIT_RATIO
      assert_operator each[:gvl_wait], :>, 150_000_000
      assert_operator each[:io] + each[:lock] + each[:sleep], :<, each[:gvl_wait] / 2
    end
    # Six in theory; where the machine takes cores away between a release and the
    # wait after it, some are not known as such.
    assert_operator numbers.sum { |each| each[:slices_count] }, :>=, 1
  end

  test "collecting garbage is gc, counted on the thread that does it" do
    ended = Queue.new
    collector = nil
    bystander = after_waiting(0, begin_request { ended.pop }) { (collector = numbers_of { 3.times { GC.start } }) && ended.push(1) }
    assert_operator collector[:gc], :>, 1_000_000
    assert_operator bystander[:gc], :<, collector[:gc] / 10
    assert_operator collector[:gc], :<=, collector[:cpu] + collector[:gc]
  end

  test "the trace tells the steps in their order, and sums to the wall time" do
    steps, numbers = steps_of do
      sleep 0.01
      spin(0.01)
      IO.select(nil, nil, nil, 0.01)
    end
    assert_equal numbers[:wall], steps.sum(&:last)
    kinds = steps.map(&:first)
    assert_operator kinds.index("sleep"), :<, kinds.rindex("io")
    assert_equal "held", kinds.last
  end

  test "a request with more steps than are kept loses none of its time" do
    steps, numbers = steps_of { 1_000.times { sleep 0.00001 } }
    assert_operator steps.size, :<=, 512
    assert_equal numbers[:wall], steps.sum(&:last)
  end

  test "a request within a request is not counted twice" do
    inner = nil
    numbers_of { inner = Clock.request_begin }
    assert_equal false, inner
  end

  test "the wait for the GVL on the way to a request belongs to it" do
    queue = Queue.new
    mutex = Mutex.new
    ready = ConditionVariable.new
    server = Thread.new {
      mutex.synchronize { ready.wait(mutex) } # as a pool thread waits for work
      Clock.request_begin
      queue << take
    }
    sleep 0.02 until server.status == "sleep"
    mutex.synchronize { ready.signal }
    spin(0.06) # the server is ready, and we keep the GVL
    numbers = queue.pop
    assert_operator numbers[:gvl_wait], :>, 30_000_000
    assert_operator numbers[:lock], :<, numbers[:gvl_wait]
  end

  test "a thread's totals go up to when it last took the GVL" do
    waker = Queue.new
    thread = Thread.new { [sleep(0.05), waker.pop] }
    sleep 0.02 until waker.num_waiting == 1
    totals = PumaTuner::Probe::Parts::TOTALS.zip(Clock.totals(thread)).to_h
    waker << 1
    thread.join
    assert_operator totals[:idle] + totals[:sleep], :>, 30_000_000
  end

  test "it goes on in a forked child, with the child's threads only" do
    reader, writer = IO.pipe
    pid = fork do
      Clock.start
      writer.write(Marshal.dump(numbers_of { sleep 0.02 }))
      exit!(0)
    end
    writer.close
    numbers = Marshal.load(reader.read) # rubocop:disable Security/MarshalLoad
    Process.wait(pid)
    assert_waited :sleep, 0.02, numbers
  end

  test "threads may end, be killed and start again without an end" do
    before = Clock.unobserved_threads_count
    2_000.times { |i| Thread.new { Thread.current.kill if i.odd? }.join }
    assert_equal before, Clock.unobserved_threads_count
  end

  test "it survives a collection at every allocation, and compaction" do
    numbers = numbers_of do
      GC.stress = true
      20.times { Object.new }
      Thread.new { Queue.new.pop(timeout: 0.001) }.join
      GC.stress = false
    end
    GC.compact if GC.respond_to?(:compact)
    assert_operator numbers[:gc], :>, 0
  ensure
    GC.stress = false
  end

  test "requests back to back on one thread have their own time each" do
    ends = [[own_ns] * 2] # before and after the one ends and the next begins
    numbers = Thread.new {
      [0.03, 0.01, 0.02].map do |seconds|
        Clock.request_begin
        sleep seconds
        before_ns = own_ns
        take.tap { ends << [before_ns, own_ns] }
      end
    }.value
    assert_operator numbers.first[:sleep], :>=, 30_000_000 * WAIT_RATIO
    numbers.drop(1).zip(ends.drop(1).each_cons(2)) do |each, ((before_begin_ns, after_begin_ns), (before_end_ns, after_end_ns))|
      assert_operator each[:wall] * CLOCKS_RATIO, :>=, before_end_ns - after_begin_ns
      assert_operator each[:wall], :<=, (after_end_ns - before_begin_ns) * CLOCKS_RATIO
    end
  end

  test "what a thread does between two requests belongs to the later one, unless it rested" do
    back_to_back, rested, since_rest_ns = Thread.new {
      Clock.request_begin
      take
      spin(0.02) # Puma looks for the next request on the connection, and finds one
      Clock.request_begin
      back_to_back = take
      spin(0.02)
      Queue.new.pop(timeout: 0.001) # contention for a lock is no rest
      mutex = Mutex.new
      rests_ns = own_ns
      mutex.synchronize { ConditionVariable.new.wait(mutex, 0.01) } # as a pool thread waits for work
      Clock.request_begin
      [back_to_back, take, own_ns - rests_ns]
    }.value
    assert_operator back_to_back[:cpu] + back_to_back[:gc], :>=, 20_000_000 * WAIT_RATIO
    assert_operator rested[:wall] + 10_000_000, :<=, since_rest_ns * CLOCKS_RATIO
  end

  test "waiting for a connection of a pool is told apart from other locks" do
    # Where other work came between the call and the wait, the wait is shorter by that: its end was set by the call.
    tries do
      pool_ns = nil
      numbers = numbers_of do
        began_ns = own_ns
        was_inside = Clock.checkout(true)
        Queue.new.pop(timeout: 0.02)
        Clock.checkout(was_inside)
        pool_ns = own_ns - began_ns
        Queue.new.pop(timeout: 0.01)
      end
      assert_waited :lock, 0.03, numbers
      assert_operator numbers[:pool], :>=, 20_000_000 * WAIT_RATIO
      assert_operator numbers[:pool], :<=, pool_ns * CLOCKS_RATIO
      assert_operator numbers[:lock] - numbers[:pool], :>=, 10_000_000 * WAIT_RATIO
    end
  end

  test "native code that computes without the GVL is cpu" do
    require "zlib"
    text = Random.new(1).bytes(3_000_000)
    cpu_ns = nil
    numbers = numbers_of do
      before_ns = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond)
      2.times { Zlib::Deflate.new.deflate(text, Zlib::FINISH) }
      cpu_ns = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond) - before_ns
    end
    # Without a hint that zlib computes, what it waited for a core is told as io: none of what it computed is.
    assert_operator numbers[:cpu], :>=, cpu_ns * 0.95
    assert_operator numbers[:io], :<=, numbers[:wall] - cpu_ns * 0.95
  end

  test "a collection by another thread is counted in the wait for the GVL" do
    ready = Queue.new
    waiter = Thread.new { numbers_of { ready << 1; sleep 0.02 } } # rubocop:disable Style/Semicolon
    ready.pop
    garbage = Array.new(300_000) { Object.new }
    GC.start while waiter.alive?
    numbers = waiter.value
    assert_operator garbage.size, :>, 0
    assert_operator numbers[:gc_waited], :>, 0
    assert_operator numbers[:gc_waited], :<=, numbers[:gvl_wait]
    # It may have to sweep a page of what the other left.
    assert_operator numbers[:gc], :<, numbers[:gc_waited]
  end

  test "a request's parts never miss its wall time by a percent" do
    numbers = Array.new(4) { Thread.new { Array.new(10) { numbers_of { [spin(0.005), sleep(0.002), Mutex.new.synchronize { 1 }] } } } }.flat_map(&:value)
    assert_equal [0], numbers.map { |each| each[:unaccounted] }.uniq
  end

  test "it tells what being watched costs: less than a release of the GVL with a call of the kernel in it" do
    File.open(File::NULL, "w") do |null|
      slowest_ns = Array.new(20) {
        began_ns = own_ns
        500.times { null.syswrite("x") }
        (own_ns - began_ns) / 500
      }.max
      assert_includes 0..slowest_ns, Clock.cost_per_cycle_ns
    end
  end
end
