# frozen_string_literal: true

# As its README has it for Rack, without the viewer.

require "rperf/rack"

Rperf.start(mode: :wall, defer: true)
use Rperf::RackMiddleware
run ->(_env) { [200, {"content-type" => "text/plain", "content-length" => "5"}, ["hello"]] }
