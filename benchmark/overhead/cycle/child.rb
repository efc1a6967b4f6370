# frozen_string_literal: true

# One sample, in a process of its own: CPU nanoseconds of the whole process per release and re-acquisition of the GVL.
# By the process's clock, for a tool may have threads of its own.
#
#   ruby child.rb FORM VARIANT CYCLES

require "tmpdir"

THREADS_COUNT = 32

form, variant, cycles_count = ARGV[0], ARGV[1], Integer(ARGV[2])
$stdout.sync = true

OURS = lambda do
  require "puma_tuner"
  PumaTuner::Probe::GvlClock.start or abort "the clock did not start: #{PumaTuner::Probe::GvlClock.why_not}"
end

# Lanes are recorded for as long as there is room: some 62,000 cycles.
LANES_SLICE = 50_000
LEDGER = File.join(Dir.tmpdir, "puma_tuner-overhead-#{Process.pid}.ledger")
LANES = lambda do
  OURS.call
  PumaTuner::Probe::GvlClock.open_ledger(LEDGER, "{}").then { |reason| abort "no ledger: #{reason}" if reason }
  at_exit { File.unlink(LEDGER) }
end
record_lanes = lambda do
  PumaTuner::Probe::LaneReader.order(LEDGER, 60_000_000_000)
  PumaTuner::Probe::GvlClock.sweep
end

# Before any of the threads starts.
WATCH = {
  "ours" => OURS, "lanes" => LANES, "no_blame" => OURS, "no_steps" => OURS,
  "hooks" => -> { OverheadCycle.hook },
  "gvltools" => lambda do
    require "gvltools"
    GVLTools::LocalTimer.enable
    GVLTools::GlobalTimer.enable
  end,
  "gvl_timing" => lambda do
    require "gvl_timing"
    Thread.current[:timer] = GVLTiming::Timer.new.tap(&:start)
  end,
  "gvl_timing_each" => -> { require "gvl_timing" }
}.freeze

# In each of the threads.
watch_thread = ->(name) { Thread.current[:timer] = GVLTiming::Timer.new.tap(&:start) if name == "gvl_timing_each" }

pipe_cycles = lambda do |count|
  reader, writer = IO.pipe
  # Reading releases the GVL, write_nonblock doesn't.
  count.times { writer.write_nonblock("x") && reader.readpartial(1) }
end
c_cycles = ->(count) { OverheadCycle.run(count) }

cpu_ns = -> { Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond) }

# What it takes to begin a recording is no cycle's.
timed = lambda do |work|
  record_lanes.call if variant == "lanes"
  began_ns = cpu_ns.call
  work.call
  cpu_ns.call - began_ns
end

one_works = lambda do |work|
  watch_thread.call(variant)
  work.call(cycles_count / 10)
  slices = [LANES_SLICE] * (cycles_count / LANES_SLICE)
  [*slices, cycles_count % LANES_SLICE].sum { |count| timed.call(-> { work.call(count) }) }
end

others_sleep = lambda do |work|
  ready = Queue.new
  (THREADS_COUNT - 1).times { Thread.new { watch_thread.call(variant).then { ready << true } && sleep } }
  (THREADS_COUNT - 1).times { ready.pop }
  one_works.call(work)
end

all_work = lambda do |work|
  ready, gate = Queue.new, Queue.new
  threads = Array.new(THREADS_COUNT) do
    Thread.new do
      watch_thread.call(variant)
      work.call(100)
      ready << true
      gate.pop
      work.call(cycles_count / THREADS_COUNT)
    end
  end
  THREADS_COUNT.times { ready.pop }
  timed.call(-> { gate.close && threads.each(&:join) })
end

require "overhead_cycle"
WATCH[variant]&.call
work = form.start_with?("c_") ? c_cycles : pipe_cycles
arrangement = {"alone" => one_works, "blocked" => others_sleep, "busy" => all_work}.fetch(form[/[a-z]+\z/])
puts "overhead #{arrangement.call(work).fdiv(cycles_count)}"
