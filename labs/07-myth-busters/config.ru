# frozen_string_literal: true

require_relative "app"

if ENV["MYTH_SESSION"] == "on"
  require "rack/session"
  use Rack::Session::Cookie, secret: "only of a lab, and no secret " * 4
  # As a login does: one value that is read and written.
  use(Class.new do
    def initialize(app) = @app = app

    def call(env)
      session = env.fetch("rack.session")
      session["visits"] = session["visits"].to_i + 1
      @app.call(env)
    end
  end)
end

run MythBusters::App.new
