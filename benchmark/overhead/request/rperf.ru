# frozen_string_literal: true

# As its README has it for Rack, without the viewer.

require "rperf/rack"

Rperf.start(mode: :wall, defer: true)
use Rperf::RackMiddleware
require_relative "app"
run Overhead::APP
