# frozen_string_literal: true

# As its README has it, but for its `puts` in each request, which would cost more than the tool.

require "gvltools"

class GvlInstrumentation
  def initialize(app)
    @app = app
  end

  def call(env)
    before = GVLTools::LocalTimer.monotonic_time
    response = @app.call(env)
    env["gvl_wait"] = GVLTools::LocalTimer.monotonic_time - before
    response
  end
end

GVLTools::LocalTimer.enable
GVLTools::GlobalTimer.enable
use GvlInstrumentation
require_relative "app"
run Overhead::APP
