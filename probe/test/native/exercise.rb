# frozen_string_literal: true

# Goes through every function of the extension, on many threads: what Sanitizer runs it under sees each access of
# theirs. With STRESS=1 garbage is collected, and what is left is moved, wherever anything is allocated.

$LOAD_PATH.unshift(File.expand_path("../../lib", __dir__))
require "fileutils"
require "monitor"
require "tmpdir"
require "puma_tuner/probe"

Clock = PumaTuner::Probe::GvlClock
stress = ENV.key?("STRESS")
GC.stress = GC.auto_compact = stress
older = Thread.new { sleep } # known, and not seen yet, until its end
Thread.pass until older.stop?
abort(Clock.why_not) unless Clock.start
folder = Dir.mktmpdir
abort("no ledger") if Clock.open_ledger(File.join(folder, "one"), "{}")

# Lanes, from here on and, of another order, wherever `lanes` is called.
lanes = lambda do |seconds = 30|
  PumaTuner::Probe::LaneReader.order(File.join(folder, "one"), seconds * 1_000_000_000)
  Clock.sweep
end
lanes.call

100.times { |i| Clock.attribute(Class.new, i % 4 + 3) } # more classes than there is room for
scoped = lambda do
  before = Clock.scope(PumaTuner::Probe::Parts::CODES.fetch("http"))
  File.open(File::NULL, "w") { |null| null.syswrite("x") }
  IO.select(nil, nil, nil, 0.0001)
  Clock.scope(before)
end

looked_at, _other_end = IO.pipe
serve = lambda do |entry|
  Clock.request_begin
  sleep 0.0005
  scoped.call
  Mutex.new.synchronize { Array.new(500) { Object.new } }
  Queue.new.pop(timeout: 0.0005)
  Clock.request_end(entry, Clock.now_ns, 1_000)
  looked_at.wait_readable(0.0001)
end

entries = Array.new(6) { |i| Clock.entry(1, "GET /#{i}") }
Clock.looks_only = true
Array.new(4) { |i| Thread.new { 30.times { |turn| serve.call(entries[(i + turn) % 6]) } } }.each(&:join)
500.times { |i| Clock.entry(1, "GET /#{i}" * 20) } # more than there is room for, longer than there is room for
1_100.times { Thread.new {}.join } # more threads than there are slots, one after the other
idle = Array.new(1_100) { Thread.new { sleep } } # and all at once
lanes.call unless stress # with more threads than have one
Clock.totals(idle.last)
Clock.totals(idle.first)
[older, *idle].each(&:kill).each(&:join)

Clock.request_begin
600.times { sleep 0.00001 } # more steps than a trace keeps
Clock.request_take(true)
Clock.request_begin && Clock.discard
Clock.request_begin
600.times { sleep 0.00001 }
Clock.request_end(entries.first, nil, nil)
3_000.times { Clock.job_begin && Clock.request_end(entries.sample, nil, nil) } # more traces than are kept
# More requests at once than one that waits for them tells apart, most of which end
# before it does; each computes up to its end.
compute = ->(ns) { (end_ns = Clock.now_ns + ns) && (nil while Clock.now_ns < end_ns) }
waiting = Thread.new { Clock.request_begin && 200.times { sleep 0.0001 } && Clock.request_end(entries.first, nil, nil) }
Array.new(40) { |i|
  Thread.new { 10.times { Clock.request_begin && sleep(0.0001) && compute.call(200_000) || Clock.request_end(entries[i % 6], nil, nil) } }
}.push(waiting).each(&:join)
# Locks: more than have a place, more held at once than are known of a thread, waited for, slept on, killed, and gone.
abort("locks can't be watched") unless Clock.watch_locks
mutexes, monitors = Array.new(300) { Mutex.new }, Array.new(3) { Monitor.new }
nested = ->(locks) { locks.empty? ? sleep(0.0001) : locks.first.synchronize { nested.call(locks.drop(1)) } }
lock = lambda do |seed|
  Clock.request_begin
  20.times { |turn| nested.call([mutexes[(seed * 7 + turn) % 300], monitors[(seed + turn) % 3], Mutex.new]) }
  nested.call(Array.new(20) { Mutex.new })
  condition = monitors[0].new_cond
  monitors[0].synchronize { monitors[0].synchronize { condition.wait(0.0001) } }
  mutexes[seed].synchronize { mutexes[seed].sleep(0.0001) }
  Clock.request_end(entries[seed % 6], nil, nil)
end
Array.new(6) { |i| Thread.new { 3.times { lock.call(i) } } }.each(&:join)
mutexes.each { |mutex| mutex.synchronize { sleep 0.00001 } }
killed = Array.new(3) { Thread.new { mutexes[0].synchronize { sleep } } }
sleep 0.01
killed.each(&:kill).each(&:join)
mutexes = monitors = nil
GC.start
mutexes, monitors = Array.new(300) { Mutex.new }, Array.new(3) { Monitor.new }
Thread.new { lock.call(0) }.join
# Pools: more connections than are known of a thread, given back in another order, and none to be had.
pools = Array.new(20) { Object.new }
Clock.request_begin
pools.each { |pool| Clock.checkout(true).then { |before| Clock.pool_tried(pool) && sleep(0.00001) || Clock.pool_got(pool, 2) || Clock.checkout(before) } }
pools.shuffle(random: Random.new(1)).each { |pool| Clock.pool_returned(pool) }
Clock.pool_tried(pools.first) || Clock.pool_got(pools.first, nil)
Clock.request_end(entries.first, Clock.woken_ns, nil)
# Numbers from anywhere in a text.
text = Random.new(1).bytes(8 * 1_000 + 3)
Clock.add(text.byteslice(0, 8_000), text.byteslice(3, 8_000))
Clock.add(+"", "")
[0, 1, 2**63, 2**64 - 1].each { |ns| Clock.bucket_of(ns) }
Clock.cost_per_request_ns = Clock.cost_per_cycle_ns
abort("what is it about?") unless Clock.installed? && Clock.install && Clock.layout.any? && Clock.place_bytes(folder).positive?
# Allocating wherever anything allocates at all.
lanes.call
GC.stress = true
stressed = Array.new(3) { |i| Thread.new { 2.times { Clock.request_begin && sleep(0.0001) && Clock.request_end(entries[i], nil, nil) } } }
2.times { Clock.job_begin && Clock.request_end(entries.last, nil, nil) }
stressed.each(&:join)
Thread.new { nested.call([Mutex.new, monitors[0]]) }.join
GC.stress = stress
Clock.sweep
GC.start
GC.compact
lanes.call
File.open(File::NULL, "w") { |null| (stress ? 50 : 70_000).times { null.syswrite("x") } } # more records than there is room for
lanes.call
Process.wait(fork { serve.call(entries.first) }) # not started there: nothing is recorded
GC.stress = GC.auto_compact = false # it is Ruby that reads, an object for each record
reader = PumaTuner::Probe::LaneReader.new(File.join(folder, "one"))
abort("no lanes") unless reader.any? && reader.lanes.lanes.any?
GC.stress = GC.auto_compact = stress
Process.wait(fork { Clock.start && !Clock.open_ledger(File.join(folder, "two"), "{}") && serve.call(Clock.entry(1, "GET /")) })
abort("no ledger of the child's") unless PumaTuner::Probe::Ledger.read(File.join(folder, "two")).entries.key?([:request, "GET /"])
unobserved = Clock.unobserved_threads_count
FileUtils.rm_rf(folder)
puts "unobserved threads: #{unobserved.positive?}"
