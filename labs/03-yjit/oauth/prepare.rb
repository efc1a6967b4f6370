# frozen_string_literal: true

# Runs once, beside authorization_server.rb: makes the database that each server gets a copy of. All chance is one seeded Random.

require "fileutils"
database = File.expand_path("authorization.sqlite3", __dir__)
FileUtils.rm_f(Dir["#{database}*"])
ENV["OAUTH_DATABASE"] = database
require_relative "authorization_server" # which chooses the version of json, too

USERS = 200
APPLICATIONS = 40
TOKENS = 2_000
REDIRECT = "https://client.example.com/callback"

ActiveRecord::Schema.define do
  create_table(:users) { |t| [t.string(:name), t.string(:email), t.boolean(:admin, default: false), t.timestamps] }
  create_table :oauth_applications do |t|
    %i[name uid secret].each { |name| t.string name, null: false }
    t.text :redirect_uri
    t.string :scopes, null: false, default: ""
    t.boolean :confidential, null: false, default: true
    t.timestamps
    t.index :uid, unique: true
  end
  create_table :oauth_access_grants do |t|
    t.references :resource_owner, null: false
    t.references :application, null: false
    t.string :token, null: false
    t.integer :expires_in, null: false
    t.text :redirect_uri, null: false
    t.string :scopes, null: false, default: ""
    t.datetime :created_at, null: false
    t.datetime :revoked_at
    t.index :token, unique: true
  end
  create_table :oauth_access_tokens do |t|
    t.references :resource_owner
    t.references :application
    t.string :token, null: false
    t.string :refresh_token
    t.integer :expires_in
    t.string :scopes
    t.datetime :created_at, null: false
    t.datetime :revoked_at
    # With it, a refresh token is good until what it was exchanged for is used.
    t.string :previous_refresh_token, null: false, default: ""
    t.index :token, unique: true
    t.index :refresh_token, unique: true
  end
end

random = Random.new(3)
now = Time.utc(2026, 1, 1)
hex = -> { random.bytes(24).unpack1("H*") }
User.insert_all!(Array.new(USERS) { |index| {name: "User #{index + 1}", email: "user#{index + 1}@example.com", admin: index.zero?, created_at: now, updated_at: now} })
Doorkeeper::Application.insert_all!(Array.new(APPLICATIONS) do |index|
  {name: "Client #{index + 1}", uid: (index.zero? ? "client" : hex.call), secret: (index.zero? ? "secret" : hex.call), redirect_uri: REDIRECT, scopes: "read write profile", created_at: now, updated_at: now}
end)
# Two that the load knows by name, and others among which these must be found. None of them ends: they are used in a year, too.
rows = Array.new(TOKENS) do |index|
  {resource_owner_id: 1 + index % USERS, application_id: 1 + random.rand(APPLICATIONS), token: hex.call, refresh_token: hex.call, expires_in: nil, scopes: "read write",
   created_at: now, previous_refresh_token: ""}
end
rows[0].merge!(application_id: 1, token: "access", refresh_token: "refresh")
rows[1].merge!(application_id: 1, token: "introspected")
Doorkeeper::AccessToken.insert_all!(rows)
# Of which the requests' values are.
File.write(File.expand_path("values.json", __dir__), JSON.generate("application" => (1..APPLICATIONS).to_a, "limit" => [5, 20, 50], "code" => Array.new(50) { hex.call }))
puts "#{User.count} users, #{Doorkeeper::Application.count} applications, #{Doorkeeper::AccessToken.count} tokens"
