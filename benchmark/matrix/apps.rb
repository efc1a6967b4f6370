# frozen_string_literal: true

module Matrix
  # The same little app in each framework: a list, an article by its name, and work for both.
  #
  # gems: of its Gemfile, but Puma and Rack; rackup: its config.ru; article: what the article's endpoint is called
  App = Data.define(:gems, :rackup, :article)

  module Apps
    PATHS = %w[/ /articles/7 /articles/12].freeze

    # Some 200 µs of CPU, and a wait.
    WORK = <<~RUBY
      module Work
        def self.call(what)
          1_000.times { |number| number.to_s }
          sleep(0.002)
          what
        end
      end

    RUBY

    ANSWER = '[200, {"content-type" => "text/plain"}, [Work.call(%s)]]'

    RAILS = <<~RUBY
      require "logger"
      require "rails"
      require "action_controller/railtie"

      class ArticlesController < ActionController::Base
        def index = render(plain: Work.call("list"))

        def show = render(plain: Work.call(params[:slug]))
      end

      class Site < Rails::Application
        config.load_defaults Rails::VERSION::STRING.to_f
        config.eager_load = true
        config.logger = Logger.new(File::NULL)
        config.secret_key_base = "a" * 32
        config.hosts.clear
        routes.append do
          root to: "articles#index"
          get "/articles/:slug", to: "articles#show"
        end
      end

      Site.initialize!
      run Site
    RUBY

    # @param line [String] version of Rails
    def self.rails(line) = App.new(gems: {"railties" => "~> #{line}.0"}, rackup: RAILS, article: "/articles/:slug")
    private_class_method :rails

    ALL = {
      "Rack alone" => App.new(gems: {}, article: "/articles/:id", rackup: <<~RUBY),
        run ->(env) { #{format(ANSWER, 'env["PATH_INFO"]')} }
      RUBY
      "Rails 7.2" => rails("7.2"), "Rails 8.0" => rails("8.0"), "Rails 8.1" => rails("8.1"),
      "Sinatra" => App.new(gems: {"sinatra" => ">= 3"}, article: "/articles/:slug", rackup: <<~RUBY),
        require "sinatra/base"

        class Site < Sinatra::Base
          set :host_authorization, permitted_hosts: []
          get("/") { Work.call("list") }
          get("/articles/:slug") { Work.call(params["slug"]) }
        end

        run Site
      RUBY
      "Roda" => App.new(gems: {"roda" => ">= 3"}, article: "/articles/:id", rackup: <<~RUBY),
        require "roda"

        class Site < Roda
          route do |r|
            r.root { Work.call("list") }
            r.get("articles", String) { |slug| Work.call(slug) }
          end
        end

        run Site.freeze.app
      RUBY
      "Hanami's router" => App.new(gems: {"hanami-router" => ">= 2"}, article: "/articles/:slug", rackup: <<~RUBY),
        require "hanami/router"

        run Hanami::Router.new {
          root to: ->(_) { #{format(ANSWER, '"list"')} }
          get "/articles/:slug", to: ->(env) { #{format(ANSWER, 'env["router.params"][:slug].to_s')} }
        }
      RUBY
      "Grape" => App.new(gems: {"grape" => ">= 2"}, article: "/articles/:slug", rackup: <<~RUBY)
        require "grape"

        class Site < Grape::API
          format :txt
          get("/") { Work.call("list") }
          get("articles/:slug") { Work.call(params[:slug]) }
        end

        run Site
      RUBY
    }.freeze

    # The versions that are told: of the framework itself.
    NAMES = {"Rack alone" => nil, "Sinatra" => "sinatra", "Roda" => "roda", "Hanami's router" => "hanami-router", "Grape" => "grape"}.freeze

    # @param framework [String] a key of ALL
    # @return [String, nil] the gem whose version is told of it
    def self.gem_of(framework) = framework.start_with?("Rails") ? "railties" : NAMES.fetch(framework)
  end
end
