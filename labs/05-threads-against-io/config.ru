# frozen_string_literal: true

require_relative "app"

# By Puma's default workers share one loaded app, so this runs once per server, before any is forked. Where each worker
# loads the app itself (`preload_app! false`), each has an upstream of its own.
Demo::Waits.prepare

run Demo::App.new
