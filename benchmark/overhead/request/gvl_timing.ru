# frozen_string_literal: true

# gvl_metrics_middleware for all requests, as one that looks at each has to; or the same by hand where it is not installed.

begin
  require "gvl_metrics_middleware"
  GvlMetricsMiddleware.configure do |config|
    config.sampling_rate = 1.0
    config.rack { |total, running, io_wait, gvl_wait, _options| [total, running, io_wait, gvl_wait] }
  end
  use GvlMetricsMiddleware::Rack
rescue LoadError
  require "gvl_timing"

  class GvlTimingMiddleware
    def initialize(app)
      @app = app
    end

    def call(env)
      response = nil
      env["gvl_times"] = GVLTiming.measure { response = @app.call(env) }
      response
    end
  end

  use GvlTimingMiddleware
end
require_relative "app"
run Overhead::APP
