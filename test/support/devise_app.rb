# frozen_string_literal: true

require "open3"
require "tmpdir"

# A Rails app behind a login, as the generators of Rails and of Devise make it: articles with pages and a form, for whoever has signed in.
# It counts the pages that it shows, by who sees them.
class DeviseApp
  BUNDLE = File.expand_path("../../gemfiles/devise.gemfile", __dir__)

  USERS = %w[ada grace lin].freeze
  PASSWORD = "correct horse"
  ARTICLES_COUNT = 5

  # Every request is noted in a file, which tells also of what came before and after the load.
  COUNTING = <<~RUBY
    class ApplicationController < ActionController::Base
      before_action :authenticate_user!
      after_action { File.write(Rails.root.join("shown.log"), "\#{request.request_method} \#{request.path} \#{response.status} \#{current_user&.email || "-"}\\n", mode: "a") }
    end
  RUBY

  ROUTES = <<~RUBY
    Rails.application.routes.draw do
      devise_for :users
      resources :articles
      get "tags/:tag", to: "help#show"
      get "broken", to: "help#broken"
      get "visits", to: "help#visit"
      get "missing", to: "help#missing"
      get "elsewhere", to: redirect("/help")
      get "help", to: "help#index"
      match "anyhow", to: "help#index", via: :all
      get "help/:topic", to: "help#show"
      get "public/articles/:id", to: "public/articles#show"
      get "logout", to: "help#index"
      get "up", to: "rails/health#show"
      root "articles#index"
    end
  RUBY

  GENERATORS = [%w[devise:install], %w[devise User], %w[scaffold article title:string --no-test-framework]].freeze

  FILLING = <<~RUBY
    ActiveRecord::Tasks::DatabaseTasks.migrate
    [User, Article].each(&:reset_column_information)
    #{USERS}.each { |name| User.create!(email: "\#{name}@example.org", password: #{PASSWORD.dump}) }
    #{ARTICLES_COUNT}.times { |number| Article.create!(title: "Article \#{number}") }
  RUBY

  # Pages for everybody.
  HELP = <<~RUBY
    class HelpController < ApplicationController
      skip_before_action :authenticate_user!

      def index = render(html: '<a href="/help/first%20steps">1</a> <a class="x" href="/help/costs?from=help#top">2</a>'.html_safe)

      def show = render(plain: params[:topic])

      def broken = raise("broken")

      def missing = head(:not_found)

      def visit
        Article.create!(title: "visited")
        head(:ok)
      end
    end
  RUBY

  PUBLIC_ARTICLES = <<~RUBY
    class Public::ArticlesController < ApplicationController
      skip_before_action :authenticate_user!

      def show = render(plain: Article.where("id > 2").find(params[:id]).title)
    end
  RUBY

  attr_reader :folder

  def self.instance
    @instance ||= new.tap { |app| Minitest.after_run { FileUtils.remove_entry(app.folder) } }
  end

  def initialize
    @folder = File.realpath(Dir.mktmpdir("puma_tuner-test"))
    rails_new
    {"app/controllers/application_controller.rb" => COUNTING, "app/controllers/help_controller.rb" => HELP,
     "app/controllers/public/articles_controller.rb" => PUBLIC_ARTICLES, "config/routes.rb" => ROUTES}.each { |path, text| write(path, text) }
    write("config/initializers/test.rb", "Devise.stretches = 1\nRails.application.config.hosts.clear\n")
    run("bin/rails", "runner", FILLING)
    FileUtils.cp_r(storage, "#{storage}.new")
  end

  # Has the database as it was made again, whatever was written to it meanwhile.
  # @return [void]
  def renew
    FileUtils.rm_rf(storage)
    FileUtils.cp_r("#{storage}.new", storage)
  end

  # @return [Hash{String => String}] of whoever runs `puma_tuner` on it: the command gives the app what is kept for it
  def environment
    {"PUMA_TUNER_CALLER_PATH" => "#{RbConfig::CONFIG["bindir"]}:#{ENV["PATH"]}", "PUMA_TUNER_CALLER_BUNDLE_GEMFILE" => BUNDLE, "PUMA_TUNER_CALLER_BUNDLE_PATH" => ENV["BUNDLE_PATH"],
     "PUMA_TUNER_CALLER_BUNDLE_APP_CONFIG" => ENV["BUNDLE_APP_CONFIG"], "RAILS_ENV" => "production", "SECRET_KEY_BASE" => "0" * 64, "RAILS_LOG_LEVEL" => "warn",
     "DATABASE_URL" => "sqlite3:#{@folder}/storage/it.sqlite3", "XDG_STATE_HOME" => File.join(@folder, "state")}.compact
  end

  # @return [Array<Array(String, String, String, String)>] method, path, status and user of all that it was asked since it was last asked for this
  def shown
    path = File.join(@folder, "shown.log")
    return [] unless File.exist?(path)
    File.readlines(path, chomp: true).map(&:split).tap { File.unlink(path) }
  end

  def write(path, text)
    path = File.join(@folder, path)
    FileUtils.mkdir_p(File.dirname(path))
    File.write(path, text)
  end

  # @return [String] what it printed
  def run(*words)
    environment = Bundler.unbundled_env.except("RUBYOPT", "RUBYLIB").merge(self.environment.except("RAILS_ENV"), "RAILS_ENV" => "production", "BUNDLE_GEMFILE" => BUNDLE,
      "BUNDLE_PATH" => ENV["BUNDLE_PATH"], "BUNDLE_APP_CONFIG" => ENV["BUNDLE_APP_CONFIG"]).compact
    output, status = Open3.capture2e(environment, "bundle", "exec", *words, chdir: @folder, unsetenv_others: true)
    raise "#{words.join(" ")} failed:\n#{output}" unless status.success?
    output
  end

  private

  def storage = File.join(@folder, "storage")

  def rails_new
    run("rails", "new", ".", "--minimal", "--skip-bundle", "--skip-git", "--skip-docker", "--skip-dev-gems", "--skip-asset-pipeline", "--name=shop")
    GENERATORS.each { |words| run("bin/rails", "generate", *words) }
  end
end
