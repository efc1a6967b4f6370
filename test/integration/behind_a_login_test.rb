# frozen_string_literal: true

require "test_helper"
require "support/command_line"
require "support/devise_app"

# Load for an app whose pages are behind Devise's login, as somebody writes it who has read docs/load.md.
class BehindALoginTest < TunerTest
  include CommandLine

  time_limit 240

  FORM = "header:Content-Type=application/x-www-form-urlencoded"

  REQUESTS = <<~TEXT
    setup GET  /users/sign_in pick:token=input:authenticity_token
    setup POST /users/sign_in #{FORM} body:'user[email]={{email}}&user[password]={{password}}&authenticity_token={{token}}' expect:303
    setup GET  /articles has:Article pick:token=meta:csrf-token
    4 GET  /articles has:Article
    4 GET  /articles/3 has:Article
    1 GET  /articles/new pick:fresh=input:authenticity_token has:authenticity_token
    1 POST /articles #{FORM} body:'article[title]=Written by {{email}}&authenticity_token={{token}}' expect:302
    1 POST /articles header:X-CSRF-Token={{token}} header:Content-Type=application/json body:'{"article": {"title": "Written by {{email}}"}}' expect:302
  TEXT

  def app = DeviseApp.instance

  def setup
    app.shown
    app.write("requests.txt", REQUESTS.sub(" pick:fresh=input:authenticity_token", ""))
    app.write("users.csv", "email,password\n#{DeviseApp::USERS.map { |name| "#{name}@example.org,#{DeviseApp::PASSWORD}\n" }.join}")
  end

  WORDS = %w[--requests requests.txt --data users.csv --connections 3].freeze

  def tuner(command, *words) = puma_tuner(command, *WORDS, *words, "--", "bundle", "exec", "puma", folder: app.folder, environment: app.environment)

  # @return [Hash{Array => Integer}] [method, path without an id, status] => how often, of what the app has shown
  def tally = app.shown.map { |http_method, path, status, _| [http_method, path.sub(/\d+/, ":id"), status] }.tally

  SIGN_IN = [%w[GET /users/sign_in 200], %w[POST /users/sign_in 303]].freeze

  test "each connection signs in once for a recording, which tells of the pages behind the login alone" do
    result = tuner("measure", "--load", "--duration", "1", "--warmup", "0.6", "--settings", "none", "--output", "observation.json")
    assert_equal 0, result.code, result.err
    shown = app.shown
    assert_equal [3, 3], SIGN_IN.map { |http_method, path, status| shown.count { |one| one.first(3) == [http_method, path, status] } }
    assert_equal DeviseApp::USERS.map { |name| "#{name}@example.org" }.sort, shown.select { |one| one.first(2) == %w[POST /users/sign_in] }.map(&:last).sort
    behind = shown.reject { |one| one[1].include?("sign_in") }
    assert_empty behind.reject { |_, _, status, user| %w[200 302].include?(status) && user.end_with?("@example.org") }
    observation = PumaTuner::Document.read(File.join(app.folder, "observation.json"), :observation)
    assert_equal ["GET /articles", "GET /articles/:id", "GET /articles/new", "POST /articles"], observation.endpoints.map(&:name).sort
    # The pages of the set-up and of the warm-up are among what the app has shown.
    assert_operator behind.size, :>, observation.requests_count
    assert_equal %w[302], shown.select { |one| one.first(2) == %w[POST /articles] }.map { |one| one[2] }.uniq
  end

  test "a proof signs in for each trial's server" do
    result = tuner("prove", "--variant", "today:threads=1", "--variant", "more:threads=2", "--rounds", "1", "--noise-rounds", "0", "--duration", "0.6", "--warmup-window", "0.3",
      "--warmup-limit", "2", "--probe-duration", "0.4", "--bodies-may-differ", "--busy-machine", "--output", "verdict.json")
    assert_includes [0, 3], result.code, result.err
    counts = tally
    # A look at each variant, and a trial.
    assert_equal [3 * 4] * 2, counts.values_at(*SIGN_IN), result.err
    assert_empty counts.keys.reject { |_, path, status| %w[200 302].include?(status) || path.include?("sign_in") }
    refute_empty PumaTuner::Document.read(File.join(app.folder, "verdict.json"), :verdict).trials
  end

  test "a wrong password is told before anything is measured" do
    app.write("users.csv", "email,password\nada@example.org,guess\n")
    result = tuner("measure", "--load", "--duration", "1", "--settings", "none")
    assert_failed(%r{the set-up lines failed, so nothing was measured: line 2 of them \(POST /users/sign_in\) got status 422, as a wrong CSRF token or password is}, result)
    refute_includes result.err, "guess"
  end
end
