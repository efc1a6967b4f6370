# frozen_string_literal: true

require "test_helper"
require "csv"
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

# `puma_tuner requests --routes` of the same app. It stands here as each file is run in a process of its own, and to make the app takes many
# seconds.
class RoutesOfARailsAppTest < TunerTest
  include CommandLine

  time_limit 240

  def setup = app.renew

  def app = DeviseApp.instance

  def of_routes(*words) = puma_tuner("requests", "--routes", *words, folder: app.folder, environment: app.environment)

  # @return [Array<String>] lines of the file that are sent
  def lines(path) = File.readlines(path, chomp: true).reject { |line| line.start_with?("#") }.map(&:strip)

  test "the GET routes of a Rails app become requests: with ids that are there, links that were seen, and what is left out is told" do
    before = app.run("bin/rails", "runner", "puts Article.count, User.pluck(:updated_at).max")
    result = of_routes("--output", "requests.txt", "--limit", "4", "--exclude", "/users/*")
    assert_equal 0, result.code, result.err
    path = File.join(app.folder, "requests.txt")
    assert_equal ["1 GET /anyhow", "1 GET /elsewhere expect:301", "1 GET /help", "1 GET /help/{{topic}}", "1 GET /public/articles/{{articles_id}}"], lines(path).sort
    data = CSV.read(File.join(app.folder, "requests.csv"), headers: true)
    # Three of the newest four are answered, the fourth is not.
    assert_equal [%w[5 4 3], ["costs", "first steps"]], [data["articles_id"].uniq, data["topic"].uniq.sort]
    [%r{left out: it failed \(500, RuntimeError\): /broken$}, %r{answered with status 404: /missing$}, %r{it writes to the database, which is not let through: /visits$},
      %r{no value for tag in the database, or in a link of a page: /tags/:tag$}, %r{it would sign out: /logout$}, %r{the framework's own, or a health check: /up$}, %r{excluded: .*/users/sign_in}]
      .each { |said| assert_match said, result.out }
    assert_match(%r{behind a sign-in \(/users/sign_in\): \d+ routes, which the file has as comments}, result.unwrapped)
    assert_equal before, app.run("bin/rails", "runner", "puts Article.count, User.pluck(:updated_at).max")
    mix = PumaTuner::Load::Mix.read(path, data_path: File.join(app.folder, "requests.csv"))
    assert_equal 5, mix.requests.size
  end

  test "with the # taken away, the lines sign in, and the routes behind are sent" do
    assert_equal 0, of_routes("--output", "mine.txt", "--exclude", "/users/*").code
    text = File.read(File.join(app.folder, "mine.txt"))
    behind = text.lines.grep(/^# (setup|1 GET \/articles$)/)
    assert_equal ["setup GET /users/sign_in pick:token=input:authenticity_token", "1 GET /articles"], [behind.first, behind.last].map { |line| line.delete_prefix("# ").chomp }
    app.write("mine.txt", behind.map { |line| line.delete_prefix("# ") }.join)
    app.write("mine.csv", "email,password\nada@example.org,#{DeviseApp::PASSWORD}\n")
    app.shown
    result = puma_tuner("measure", "--load", "--requests", "mine.txt", "--data", "mine.csv", "--connections", "2", "--duration", "0.6", "--warmup", "0.6", "--settings", "none", "--output", "mine.json",
      "--", "bundle", "exec", "puma", folder: app.folder, environment: app.environment)
    assert_equal 0, result.code, result.err
    assert_equal [%w[GET /articles 200 ada@example.org]], app.shown.reject { |one| one[1].include?("sign_in") }.uniq
  end
end
