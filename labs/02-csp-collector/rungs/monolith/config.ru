# frozen_string_literal: true

# A shop that nobody here wrote (labs/real_apps/solidus), as its set-up has left it, with one more route. Nothing of it is edited.
require File.join(ENV.fetch("CSP_SHOP"), "config/application")
require_relative "../rails_endpoint"

Rails.application.routes.prepend { post "/reports", to: "policy_reports#create" }

# Parent of the controllers of its pages: visitor's token, store, prices. Reports come without a token against forgery, so that
# check alone is skipped.
Rails.application.config.to_prepare do
  controller = Class.new(StorefrontController) do
    include RailsEndpoint

    skip_forgery_protection
  end
  Object.const_set(:PolicyReportsController, controller)
end

Rails.application.initialize!
run Rails.application
Rails.application.load_server
