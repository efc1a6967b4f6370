# frozen_string_literal: true

require "test_helper"
require "open3"
require "support/watched_script"

# What each framework really leaves in env after a request, and the names that come of it. Each runs in a process of its own.
class FrameworksTest < TunerTest
  FRAMEWORKS = "#{ServedApp::PROJECT}/gemfiles/frameworks.gemfile"

  # All requests go through one Endpoint, as in a server.
  VISITS = <<~RUBY
    require "puma_tuner/probe"
    require "rack"
    endpoint = PumaTuner::Probe::Endpoint.new
    ARGV.each do |request|
      method, path = request.split(" ")
      env = Rack::MockRequest.env_for(path, method: method)
      Rack::Lint.new(APP).call(env).last.close
      puts endpoint.name(env)
    end
  RUBY

  # @param names [Hash{String => String}] request to endpoint's route; the method is the request's
  def assert_names(script, names, gemfile: FRAMEWORKS)
    out, errors, status = Open3.capture3(WatchedScript.environment(gemfile), RbConfig.ruby, "-rbundler/setup", "-rrack",
      "-e", script + VISITS, *names.keys, unsetenv_others: true)
    assert_predicate status, :success?, "#{errors}\n#{out}"
    expected = names.map { |request, route| "#{request} is #{request[/\A\S+/]} #{route}" }
    assert_equal expected.join("\n"), names.keys.zip(out.lines(chomp: true)).map { |pair| pair.join(" is ") }.join("\n")
  end

  test "Sinatra's endpoints are its routes" do
    assert_names <<~RUBY, {
      require "sinatra/base"

      class Wiki < Sinatra::Base
        set :host_authorization, permitted_hosts: []
        use Rack::MethodOverride
        get("/") { "home" }
        get("/pages/:name") { "page" }
        post("/pages/:name") { "changed" }
        get("/files/*") { "file" }
        get(%r{/raw/(\\w+)}) { "raw" }
        get("/a/:id.?:format?") { "a" }
        get("/later/:id") { pass }
      end

      APP = Rack::Builder.new {
        map("/wiki") { run Wiki }
        map("/wiki2") { run Wiki }
        run Wiki
      }.to_app
    RUBY
      "GET /" => "/", "GET /pages/Home" => "/pages/:name", "GET /pages/News?draft=1" => "/pages/:name",
      "POST /pages/Home" => "/pages/:name", "HEAD /pages/Home" => "/pages/:name", "GET /files/a/b.txt" => "/files/*",
      "GET /raw/one" => "/raw/(\\w+)", "GET /a/7.json" => "/a/:id.?:format?", "GET /later/7" => "/later/:id",
      "GET /wiki" => "/wiki", "GET /wiki/pages/Home?x=1" => "/wiki/pages/:name", "GET /wiki2/pages/Home" => "/wiki2/pages/:name",
      "GET /wiki2/raw/one" => "/wiki2/raw/(\\w+)", "GET /wiki/missing/12" => "/wiki/missing/:id"
    }
  end

  test "Grape's endpoints are its routes" do
    assert_names <<~RUBY, {
      require "grape"

      class Comments < Grape::API
        namespace(:comments) { route_param(:comment) { get(:votes) { [] } } }
      end

      class API < Grape::API
        prefix :api
        version "v1", "v2", using: :path
        format :json
        get("articles/:slug") { {} }
        post("articles") { {} }
        get("secret/:slug") { error!("no", 401) }
        mount Comments
      end

      APP = Rack::Builder.new {
        map("/public") { run API }
        run API
      }.to_app
    RUBY
      "GET /api/v1/articles/dune" => "/api/:version/articles/:slug",
      "GET /api/v2/articles/emma.json?q=1" => "/api/:version/articles/:slug",
      "POST /api/v1/articles" => "/api/:version/articles", "DELETE /api/v1/articles/dune" => "/api/:version/articles/:slug",
      "GET /api/v1/secret/x" => "/api/:version/secret/:slug",
      "GET /api/v1/comments/first/votes" => "/api/:version/comments/:comment/votes",
      "GET /public/api/v1/articles/dune" => "/public/api/:version/articles/:slug",
      "GET /api/v1/nothing/12" => "/api/v1/nothing/:id"
    }
  end

  test "the endpoints of Hanami's router are the paths with its parameters" do
    assert_names <<~RUBY, {
      require "hanami/router"
      require "sinatra/base"

      class Wiki < Sinatra::Base
        set :host_authorization, permitted_hosts: []
        get("/pages/:name") { "page" }
      end

      FINE = ->(_env) { [200, {}, ["fine"]] }
      SHOP = Hanami::Router.new do
        root to: FINE
        get "/products/:slug", to: FINE
      end

      APP = Hanami::Router.new do
        root to: FINE
        get "/books", to: FINE
        post "/books", to: FINE
        get "/books/:title", to: FINE
        scope("admin") { get "/users/:name/books/:title", to: FINE }
        get "/files/*path", to: FINE
        mount SHOP, at: "/shops/:shop"
        mount Wiki, at: "/wikis/:wiki"
      end
    RUBY
      "GET /" => "/", "GET /books?q=books" => "/books", "POST /books" => "/books", "GET /books/dune" => "/books/:title",
      "GET /books/emma?title=books" => "/books/:title", "GET /admin/users/bob/books/bob" => "/admin/users/:name/books/:title",
      "GET /admin/users/al%20ice/books/dune" => "/admin/users/:name/books/:title", "GET /files/a/b.txt" => "/files/:path",
      "GET /shops/acme" => "/shops/:shop", "GET /shops/acme/products/shoe" => "/shops/:shop/products/:slug",
      "GET /shops/other/products/boot" => "/shops/:shop/products/:slug",
      "GET /wikis/ours/pages/Home" => "/wikis/:wiki/pages/:name",
      "GET /missing/12" => "/missing/:id"
    }
  end

  RODA = <<~RUBY
    require "roda"

    class Shop < Roda
      PLUGIN
      route do |r|
        r.get("products", String) { |slug| slug }
      end
    end

    class Site < Roda
      PLUGIN
      plugin :pass
      plugin :hash_branches
      hash_branch("blog") { |r| r.get(Integer, "by", String) { |year, author| "\#{year} \#{author}" } }

      route do |r|
        r.hash_branches
        r.root { "home" }
        r.on "articles", String do |slug|
          r.pass if slug == "old"
          r.is { r.get { "article" } }
          r.on("comments") { r.get(Integer) { |id| id.to_s } }
          r.get(/page-(\\d+)/) { |page| page }
        end
        r.get("articles", "old") { "an old one" }
        r.get(%w[about imprint]) { |page| page }
        r.on("shops", String) { r.run Shop }
      end
    end

    APP = Rack::Builder.new {
      map("/site") { run Site.app }
      run Site.app
    }.to_app
  RUBY

  test "Roda's endpoints are what its blocks took of the path, with the plugin" do
    assert_names RODA.gsub("PLUGIN", 'require "puma_tuner/probe"; plugin PumaTuner::Probe::Endpoint::RodaPlugin'), {
      "GET /" => "/", "GET /articles/dune" => "/articles/:id", "GET /articles/articles?q=1" => "/articles/:id",
      "GET /articles/dune/comments/007" => "/articles/:id/comments/:id", "GET /articles/dune/page-7" => "/articles/:id/page-:id",
      "GET /articles/dune/what/ever" => "/articles/:id/*", "GET /articles/old" => "/articles/old", "GET /about" => "/about",
      "GET /blog/2024/by/ann" => "/blog/:id/by/:id", "GET /shops/acme/products/shoe" => "/shops/:id/products/:id",
      "GET /shops/acme/none" => "/shops/:id/*", "GET /site/articles/emma" => "/site/articles/:id",
      "GET /missing/12" => "/missing/:id"
    }
  end

  test "Roda's endpoints are its paths, without the plugin" do
    assert_names RODA.gsub("PLUGIN", ""), {
      "GET /" => "/", "GET /articles/12" => "/articles/:id", "GET /articles/13?q=1" => "/articles/:id", "GET /about" => "/about",
      "GET /site/articles/12/comments/3" => "/site/articles/:id/comments/:id"
    }
  end

  test "Rails' endpoints are its routes, its engines' too" do
    assert_names <<~RUBY, {
      require "rails"
      require "action_controller/railtie"

      class PagesController < ActionController::API
        def show = render(plain: "page")
      end

      class Shop < Rails::Engine
        routes.append do
          root to: "pages#show"
          get "/products/:slug", to: "pages#show"
        end
      end

      class Site < Rails::Application
        config.eager_load = true
        config.logger = Logger.new(File::NULL)
        config.secret_key_base = "a" * 32
        config.hosts.clear
        config.consider_all_requests_local = false
        routes.append do
          root to: "pages#show"
          get "/pages/:name", to: "pages#show"
          get "(/:locale)/help", to: "pages#show"
          get "/files/*path", to: "pages#show"
          mount Shop => "/shops/:shop"
          mount ->(_env) { [200, {}, ["fine"]] } => "/tools"
        end
      end

      Site.initialize!
      APP = Site
    RUBY
      "GET /" => "/", "GET /pages/Home" => "/pages/:name", "GET /pages/News.html?x=1" => "/pages/:name",
      "GET /pages/Home.json" => "/pages/:name.json", "GET /pages/News.csv?x=1" => "/pages/:name.csv", "GET /shops/acme/products/shoe.json" => "/shops/:shop/products/:slug.json",
      "HEAD /pages/Home" => "/pages/:name", "GET /de/help" => "(/:locale)/help", "GET /files/a/b" => "/files/*path",
      "GET /shops/acme" => "/shops/:shop", "GET /shops/acme/products/shoe" => "/shops/:shop/products/:slug",
      "GET /shops/other/products/boot" => "/shops/:shop/products/:slug", "GET /tools/jobs/12" => "/tools/jobs/:id",
      "GET /missing/path/12" => "/missing/path/:id"
    }, gemfile: ServedApp::RAILS
  end
end
