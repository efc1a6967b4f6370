# frozen_string_literal: true

# GET /busy computes for a while, and tells for how many nanoseconds its thread waited for the GVL meanwhile; all else is an endpoint of its own.

require "puma_tuner/probe"

PumaTuner.group_endpoints { |env| env["PATH_INFO"] }
PumaTuner.export(ENV.fetch("SCRAPED_AT"))

clock = PumaTuner::Probe::GvlClock
waited_ns = -> { clock.totals(Thread.current).fetch(PumaTuner::Probe::Parts::TOTALS.index(:gvl_wait)) }

run lambda { |env|
  next [200, {"content-type" => "text/plain"}, ["fine"]] unless env["PATH_INFO"] == "/busy"
  before_ns = waited_ns.call
  ends_s = Process.clock_gettime(Process::CLOCK_MONOTONIC) + Float(ENV.fetch("BUSY_S"))
  1_000.times { |number| number * number } while Process.clock_gettime(Process::CLOCK_MONOTONIC) < ends_s
  [200, {"content-type" => "text/plain"}, [(waited_ns.call - before_ns).to_s]]
}
