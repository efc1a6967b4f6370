# frozen_string_literal: true

# What `rails new --api --minimal` makes, without Active Record, in one file: its three railties, its settings for production.
require "rails"
require "active_model/railtie"
require "action_controller/railtie"
require "action_view/railtie"
require_relative "../rails_endpoint"

class Collector < Rails::Application
  config.root = __dir__
  config.load_defaults 8.1
  config.api_only = true
  config.eager_load = true
  config.enable_reloading = false
  config.consider_all_requests_local = false
  config.secret_key_base = "nothing here is secret " * 4
  config.active_support.report_deprecations = false
  # Standard output belongs to the lines.
  config.log_level = :info
  config.log_tags = [:request_id]
  config.logger = ActiveSupport::TaggedLogging.logger(ENV.fetch("CSP_LOG"))
end

class ReportsController < ActionController::API
  include RailsEndpoint
end

Rails.application.initialize!
Rails.application.routes.draw { post "/reports", to: "reports#create" }
run Rails.application
