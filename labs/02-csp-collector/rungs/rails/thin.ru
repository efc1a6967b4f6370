# frozen_string_literal: true

# The Rails rung without the railties and middlewares that this endpoint can do without, as the story has it. What is left is
# the application's router and a controller.
require "rails"
require "action_controller/railtie"
require_relative "../rails_endpoint"

class Collector < Rails::Application
  # All that Rails 8.1 puts into the stack of such an application in production.
  MIDDLEWARES = [ActionDispatch::HostAuthorization, Rack::Sendfile, ActionDispatch::Static, ActionDispatch::Executor, Rack::Runtime, ActionDispatch::RequestId,
    ActionDispatch::RemoteIp, Rails::Rack::Logger, ActionDispatch::ShowExceptions, ActionDispatch::DebugExceptions, ActionDispatch::Callbacks, Rack::Head,
    Rack::ConditionalGet, Rack::ETag].freeze

  config.root = __dir__
  config.load_defaults 8.1
  config.api_only = true
  config.eager_load = true
  config.enable_reloading = false
  config.consider_all_requests_local = false
  config.secret_key_base = "nothing here is secret " * 4
  config.active_support.report_deprecations = false
  config.log_level = :info
  config.logger = ActiveSupport::TaggedLogging.logger(ENV.fetch("CSP_LOG"))
  MIDDLEWARES.each { |middleware| config.middleware.delete(middleware) }
end

class ReportsController < ActionController::API
  include RailsEndpoint
end

Rails.application.initialize!
Rails.application.routes.draw { post "/reports", to: "reports#create" }
run Rails.application
