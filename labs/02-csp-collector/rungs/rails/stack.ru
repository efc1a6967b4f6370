# frozen_string_literal: true

# The Rails rung with one thing changed at a time: its settings by RAILS_ENV, as `rails new` writes them for production and for
# development; without one middleware, or without all of them (CSP_WITHOUT).
require "rails"
require "active_model/railtie"
require "action_controller/railtie"
require "action_view/railtie"
require_relative "../rails_endpoint"

class Collector < Rails::Application
  config.root = __dir__
  config.load_defaults 8.1
  config.api_only = true
  config.secret_key_base = "nothing here is secret " * 4
  config.active_support.report_deprecations = false

  if Rails.env.development?
    config.eager_load = false
    config.enable_reloading = true
    config.consider_all_requests_local = true
    config.server_timing = true
    config.log_level = :debug
  else
    config.eager_load = true
    config.enable_reloading = false
    config.consider_all_requests_local = false
    config.log_level = :info
  end

  # Standard output belongs to the lines.
  config.log_tags = [:request_id]
  config.logger = ActiveSupport::TaggedLogging.logger(ENV.fetch("CSP_LOG"))

  # Last, when each railtie has put its own into the stack.
  STACK = %w[ActionDispatch::HostAuthorization Rack::Sendfile ActionDispatch::Static ActionDispatch::Executor ActionDispatch::ServerTiming Rack::Runtime
    ActionDispatch::RequestId ActionDispatch::RemoteIp Rails::Rack::Logger ActionDispatch::ShowExceptions ActionDispatch::DebugExceptions
    ActionDispatch::ActionableExceptions ActionDispatch::Reloader ActionDispatch::Callbacks Rack::Head Rack::ConditionalGet Rack::ETag].freeze
  without = ENV.fetch("CSP_WITHOUT", "")
  ((without == "all") ? STACK : without.split).each { |name| config.middleware.delete(name.constantize) }
end

class ReportsController < ActionController::API
  include RailsEndpoint
end

Rails.application.initialize!
Rails.application.routes.draw { post "/reports", to: "reports#create" }
run Rails.application
