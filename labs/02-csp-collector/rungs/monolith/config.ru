# frozen_string_literal: true

# A shop that nobody here wrote (labs/real_apps/solidus), as its set-up has left it, with one more route. Nothing of it is edited.
require File.join(ENV.fetch("CSP_SHOP"), "config/application")
require_relative "../rails_endpoint"

class Shop::Application
  # As Rails makes it for production, but that standard output belongs to the lines.
  initializer :csp_log, before: :initialize_logger, group: :all do |app|
    app.config.log_level = :info
    app.config.log_tags = [:request_id]
    app.config.logger = ActiveSupport::TaggedLogging.logger(ENV.fetch("CSP_LOG"))
  end

  # CSP_FAILS: what the rung of error pages answers with.
  routes.prepend { post "/reports", to: "policy_reports#create" } unless ENV["CSP_FAILS"] == "404"

  # Solidus' own parent of all pages: visitor's token, language by session. Every page then knows the store and the visitor's cart,
  # from the database. Reports come without a token against forgery, so that check alone is skipped.
  config.to_prepare do
    controller = Class.new(Spree::BaseController) do
      include Spree::Core::ControllerHelpers::Order
      include RailsEndpoint

      skip_forgery_protection
      before_action :current_store, :current_order
      before_action { raise "as if something had gone wrong" } if ENV["CSP_FAILS"] == "500"
    end
    Object.const_set(:PolicyReportsController, controller)
  end
end

Rails.application.initialize!
run Rails.application
Rails.application.load_server
