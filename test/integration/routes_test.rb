# frozen_string_literal: true

require "test_helper"
require "support/command_line"
require "support/served_app"

# `puma_tuner requests --routes`: an app's requests that nobody has written. Those of a Rails app are in behind_a_login_test.rb.
class RoutesTest < TunerTest
  include CommandLine

  time_limit 240

  FRAMEWORKS = File.join(ServedApp::PROJECT, "gemfiles/frameworks.gemfile")
  RACK_2 = File.join(ServedApp::PROJECT, "gemfiles/rack_2_2.gemfile")

  # @return [Array<String>] lines of the file that are sent
  def lines(path) = File.readlines(path, chomp: true).reject { |line| line.start_with?("#") }.map(&:strip)

  # @return [CommandLine::Result] of a Rack app, and its folder
  def of_rackup(rackup, gemfile: FRAMEWORKS)
    Dir.mktmpdir("puma_tuner-test") do |folder|
      File.write(File.join(folder, "config.ru"), rackup)
      result = puma_tuner("requests", "--routes", "--output", "requests.txt", folder:, environment: {**app_environment, "PUMA_TUNER_CALLER_BUNDLE_GEMFILE" => gemfile})
      yield result, File.join(folder, "requests.txt")
    end
  end

  def app_environment
    {"PUMA_TUNER_CALLER_PATH" => "#{RbConfig::CONFIG["bindir"]}:#{ENV["PATH"]}", "PUMA_TUNER_CALLER_BUNDLE_PATH" => ENV["BUNDLE_PATH"], "PUMA_TUNER_CALLER_BUNDLE_APP_CONFIG" => ENV["BUNDLE_APP_CONFIG"]}.compact
  end

  test "routes of Sinatra and of Grape are listed where they are mounted" do
    rackup = <<~RUBY
      require "sinatra/base"
      require "grape"
      class Pages < Sinatra::Base
        set :host_authorization, permitted_hosts: []
        get("/") { '<a href="/site/notes/7">seven</a> <a href="/site/about">about</a> <a href="/site/imprint">imprint</a>' }
        get("/about/?") { "" }
        get("/notes/:id") { params[:id] }
        get("/other/:thing") { "x" }
        get("/:page") { params[:page] }
        post("/notes") { "" }
      end
      class Api < Grape::API
        version "v1", using: :path
        format :json
        get(:status) { {fine: true} }
        post(:status) { {} }
      end
      map("/site") { run Pages }
      map("/api") { run Api }
    RUBY
    of_rackup(rackup) do |result, path|
      assert_equal 0, result.code, result.err
      assert_equal ["1 GET /api/v1/status", "1 GET /site/", "1 GET /site/about", "1 GET /site/imprint", "1 GET /site/notes/7"], lines(path).sort
      assert_match(/Sinatra 4\.\d.*Grape 3\./, result.out)
      assert_match(%r{no value for thing.*: /site/other/:thing}, result.out)
    end
  end

  test "a form that asks for a password is sent where a browser would send it" do
    rackup = <<~RUBY
      require "sinatra/base"
      class Pages < Sinatra::Base
        set :host_authorization, permitted_hosts: []
        get("/mine") { redirect "/site/login" }
        get("/login") { '<form action="" method="post"><input name="user"><input type="password" name="password"></form>' }
      end
      map("/site") { run Pages }
    RUBY
    of_rackup(rackup) do |result, path|
      assert_equal 0, result.code, result.err
      assert_includes File.readlines(path, chomp: true), "# setup POST /site/login header:Content-Type=application/x-www-form-urlencoded body:'user={{user}}&password={{password}}'"
    end
  end

  test "routes of an app on Rack 2 are asked for, too" do
    of_rackup("require 'sinatra/base'\nrun Class.new(Sinatra::Base) { get('/') { Rack.release } }\n", gemfile: RACK_2) do |result, path|
      assert_equal 0, result.code, result.err
      assert_equal ["1 GET /"], lines(path)
    end
  end

  test "a relative BUNDLE_GEMFILE is read from the app's folder, wherever the command is called" do
    Dir.mktmpdir("puma_tuner-test") do |folder|
      File.write(File.join(folder, "config.ru"), "require 'sinatra/base'\nrun Class.new(Sinatra::Base) { get('/') { '' } }\n")
      File.write(File.join(folder, "app.gemfile"), "eval_gemfile #{RACK_2.dump}\n")
      result = puma_tuner("requests", "--routes", "--directory", folder, "--output", File.join(folder, "requests.txt"),
        environment: {**app_environment, "PUMA_TUNER_CALLER_BUNDLE_GEMFILE" => "app.gemfile"})
      assert_equal 0, result.code, result.err
      assert_match(/Sinatra 3\.2/, result.out)
    end
  end

  test "what can't be listed is said, and so is what can't be loaded" do
    of_rackup("require 'roda'\nclass Tree < Roda\n  route { |r| r.root { 'hello' } }\nend\nrun Tree.freeze.app\n") do |result, _|
      assert_mistake(/no routes can be listed of .*: Rails, Sinatra and Grape keep a list of theirs; Roda's are code that runs, and Hanami's router keeps none\. From a server's log, --from/, result)
    end
    of_rackup("raise 'no database'") { |result, _| assert_failed(/could not be loaded and asked for its routes\. Fix what its output says.*no database/m, result) }
  end
end
