# frozen_string_literal: true

require_relative "app"

# With Puma's own default (workers share one loaded app) this runs once per server, before any worker is forked.
Demo::Waits.prepare

run Demo::App.new
