# frozen_string_literal: true

# How long a unit of work takes here, undisturbed: prints nanoseconds of CPU, as JSON.
require_relative "tarai"

UNITS_COUNT = 400
SAMPLES_COUNT = 25

times_ns = Array.new(SAMPLES_COUNT) do
  began_ns = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond)
  MythBusters::Tarai.burn(UNITS_COUNT)
  Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond) - began_ns
end
# The middle and not the best: a server is as often disturbed as this is.
puts times_ns.sort[SAMPLES_COUNT / 2].fdiv(UNITS_COUNT)
