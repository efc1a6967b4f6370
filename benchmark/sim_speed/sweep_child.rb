# frozen_string_literal: true

# One sweep in a process of its own, as its peak of memory can't be told otherwise. Prints JSON.
#
#   ruby -Ilib benchmark/sim_speed/sweep_child.rb REQUESTS

require "json"
require "puma_tuner"
require_relative "engines"

scenarios = SimSpeed::Models.sweep_scenarios
began_s = PumaTuner::Clock.now_s
forecasts_count = SimSpeed::Engine.sweep(scenarios, requests_count: Integer(ARGV.fetch(0)))
seconds = PumaTuner::Clock.now_s - began_s
peak_bytes = File.read("/proc/self/status")[/^VmHWM:\s*(\d+) kB/, 1].to_i * 1024
puts JSON.generate({seconds:, peak_bytes:, forecasts_count:})
