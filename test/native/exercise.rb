# frozen_string_literal: true

# Goes through every function of the extension, on many threads. Run by memory_test.rb under Valgrind.

$LOAD_PATH.unshift(File.expand_path("../../lib", __dir__))
require "puma_tuner"

Clock = PumaTuner::Measure::GvlClock
abort(Clock.why_not) unless Clock.start

serve = lambda do |numbers, with_trace|
  Clock.request_begin
  sleep 0.0005
  Mutex.new.synchronize { Array.new(500) { Object.new } }
  Queue.new.pop(timeout: 0.0005)
  Clock.request_end(numbers, with_trace)
end

Array.new(4) { |i| Thread.new { 30.times { serve.call([], i.even?) } } }.each(&:join)
1_100.times { Thread.new {}.join } # more threads than there are slots, one after the other
idle = Array.new(1_100) { Thread.new { sleep } } # and all at once
Clock.totals(idle.last)
Clock.totals(idle.first)
idle.each(&:kill).each(&:join)

Clock.request_begin
600.times { sleep 0.00001 } # more steps than a trace keeps
Clock.request_end([], true)
GC.start
GC.compact
Clock.cost_per_event_ns(100)
Process.wait(fork { Clock.start && serve.call([], true) })
puts "unobserved threads: #{Clock.unobserved_threads_count.positive?}"
