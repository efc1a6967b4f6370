# frozen_string_literal: true

# What each query calls, by ruby-prof; and by how much longer the map takes for a stored nil than for a stored true, which
# is what its lock costs when nobody else wants it: the middle of several loops.
require_relative "setup"
require_relative "../support/call_counts"
require "json"

LOCK = /\A(?:Thread::)?Mutex#(?:synchronize|lock)\z/
MAP = /(?<!NonConcurrentMapBackend)#compute_if_absent\z/
LOOPS_COUNT = 9
TIMES = 200_000

def loop_ns
  begun = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond)
  yield
  (Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond) - begun).fdiv(TIMES)
end

map = Concurrent::Map.new
map["nothing"] = nil
map["something"] = true
costs = Array.new(LOOPS_COUNT) { loop_ns { TIMES.times { map.compute_if_absent("nothing") { nil } } } - loop_ns { TIMES.times { map.compute_if_absent("something") { true } } } }

queries = Shelf::QUERIES.to_h do |name, query|
  3.times { Shelf.answer(query) } # what is computed once is there
  calls = CallCounts.of { Shelf.answer(query) }
  [name, {locks: calls.count(LOCK), asked: calls.count(MAP), path: calls.path_to(MAP)&.last(3)}]
end
puts JSON.generate(queries:, missed_ns: costs.sort[LOOPS_COUNT / 2])
