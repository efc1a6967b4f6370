# frozen_string_literal: true

# What the GVL clock costs per release and re-acquisition of the GVL: one-byte reads from a pipe, in fresh processes, with
# the clock and without it, interleaved. "without, again" is the A/A pair: what it differs by is noise.
#
#   bin/exec rake bench

require "puma_tuner"

ROUNDS = 15
CYCLES = 200_000

CHILD = <<~RUBY
  require "puma_tuner"
  PumaTuner::Measure::GvlClock.start if ARGV.first == "with"
  reader, writer = IO.pipe
  writer.sync = true
  cpu = -> { Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond) }
  10_000.times { writer.write_nonblock("x"); reader.readpartial(1) }
  began = cpu.call
  #{CYCLES}.times { writer.write_nonblock("x"); reader.readpartial(1) }
  puts (cpu.call - began).fdiv(#{CYCLES})
RUBY

# @return [Float] CPU nanoseconds per cycle, in a fresh process
def cycle_ns(variant)
  IO.popen([RbConfig.ruby, "-I", File.expand_path("../lib", __dir__), "-e", CHILD, variant], &:read).to_f
end

samples = Hash.new { |hash, variant| hash[variant] = [] }
ROUNDS.times { |round| ["without", "without, again", "with"].rotate(round).each { |variant| samples[variant] << cycle_ns(variant) } }

facts = PumaTuner::Host::MachineFacts.read
puts "#{RUBY_DESCRIPTION}; #{facts.cores_count} cores, #{facts.cpu_model}; load #{facts.load_average}"
puts "CPU ns per cycle of one-byte pipe reads, #{ROUNDS} processes each"
row = "%-16s %8s %8s %8s"
puts format(row, "", "fastest", "median", "slowest")
samples.each do |variant, values|
  puts format(row, variant, *[values.min, PumaTuner::Stats::Quantile.of(values.sort, 0.5), values.max].map { |ns| ns.round(1) })
end
puts format("the clock: %+.1f ns by the fastest, %+.1f ns by the medians", samples["with"].min - samples["without"].min,
  PumaTuner::Stats::Quantile.of(samples["with"].sort, 0.5) - PumaTuner::Stats::Quantile.of(samples["without"].sort, 0.5))
