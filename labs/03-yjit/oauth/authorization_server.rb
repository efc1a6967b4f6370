# frozen_string_literal: true

# A small OAuth server, as story 3's authorization server is one: Doorkeeper on Rails, and little of its own.
ENV["RAILS_ENV"] = ENV["RACK_ENV"] = "production"
ENV["BUNDLE_GEMFILE"] = File.expand_path("Gemfile", __dir__)

require "bundler/setup"
require "bootsnap"
Bootsnap.setup(cache_dir: File.expand_path("tmp/cache", __dir__))
require "rails"
require "active_record/railtie"
require "action_controller/railtie"
require "action_view/railtie"
require "doorkeeper"
require "fileutils"
require "tmpdir"

# Where the database is. A server gets a copy of its own: tokens that one trial issues are not there in the next.
module Store
  MADE = File.expand_path("authorization.sqlite3", __dir__)

  def self.copy
    folder = Dir.mktmpdir("oauth", ENV["PUMA_TUNER_DIRECTORY"]) # a run's folder goes when the run ends
    maker = Process.pid
    at_exit { FileUtils.rm_rf(folder) if Process.pid == maker }
    File.join(folder, "authorization.sqlite3").tap { |path| FileUtils.cp(MADE, path) }
  end
end

class AuthorizationServer < Rails::Application
  config.root = __dir__
  config.load_defaults 8.1
  # RUBY_YJIT_ENABLE decides, and not Rails.
  config.yjit = false
  config.eager_load = true
  config.secret_key_base = "nothing here is secret " * 4
  config.hosts.clear
  config.log_level = :warn
  config.logger = ActiveSupport::TaggedLogging.new(ActiveSupport::Logger.new($stderr))
  # The load's consent forms are not read before they are sent.
  config.action_controller.allow_forgery_protection = false
end

class User < ActiveRecord::Base
end

Doorkeeper.configure do
  orm :active_record
  # The gateway in front has seen to who it is.
  resource_owner_authenticator { User.find_by(id: request.headers["X-User"]) || head(:unauthorized) }
  admin_authenticator { User.find_by(id: request.headers["X-User"], admin: true) || head(:unauthorized) }
  default_scopes :read
  optional_scopes :write, :profile
  grant_flows %w[authorization_code client_credentials refresh_token]
  use_refresh_token
  force_ssl_in_redirect_uri false
  allow_token_introspection true
  access_token_expires_in 2.hours
end

ENV["DATABASE_URL"] = "sqlite3:#{ENV["OAUTH_DATABASE"] || Store.copy}?timeout=5000&max_connections=100"
Rails.application.initialize!
ENV.delete("DATABASE_URL") # another in each process: no setting

# After the initialization, which gives controllers the routes' names.
class ApiController < ActionController::API
end

class ProfilesController < ApiController
  before_action -> { doorkeeper_authorize!(:read) }

  def show = render(json: profile(User.find(doorkeeper_token.resource_owner_id)))

  def index
    users = User.order(:id).limit(params.fetch(:limit, 20).to_i.clamp(1, 50))
    render(json: {users: users.map { |user| profile(user) }, more: User.count > users.size})
  end

  private

  def profile(user)
    {id: user.id, name: user.name, email: user.email, admin: user.admin?, since: user.created_at.iso8601,
     applications: Doorkeeper::Application.authorized_for(user).map { |application| application.slice(:uid, :name) }}
  end
end

class MetadataController < ApiController
  def show
    render(json: {
      issuer: root_url, authorization_endpoint: oauth_authorization_url, token_endpoint: oauth_token_url,
      introspection_endpoint: oauth_introspect_url, revocation_endpoint: oauth_revoke_url, scopes_supported: Doorkeeper.config.scopes.to_a,
      response_types_supported: Doorkeeper.config.authorization_response_types, grant_types_supported: Doorkeeper.config.grant_flows,
      code_challenge_methods_supported: Doorkeeper.config.pkce_code_challenge_methods_supported
    })
  end
end

Rails.application.routes.draw do
  use_doorkeeper
  root to: redirect("/oauth/applications")
  get "up" => "rails/health#show", :as => :rails_health_check
  get "me" => "profiles#show"
  get "users" => "profiles#index"
  get ".well-known/oauth-authorization-server" => "metadata#show"
end
