# frozen_string_literal: true

require "uri"

module PumaTuner
  module AppRoutes
    # The GET routes of the app in the current folder.
    class RouteList
      # One GET route. controller: of Rails, nil elsewhere; cause: why it is not asked for, detail: of that
      Found = Struct.new(:template, :names, :controller, :cause, :detail) do
        # @param row [Array<String>] a value for each name
        # @return [String]
        def path(row)
          names.zip(row).reduce(template) do |text, (name, value)|
            text.sub("{{#{name}}}") { URI.encode_uri_component(value.to_s) }
          end
        end

        # @return [Regexp] that matches paths of it, a group for each name
        def pattern = /\A#{Regexp.escape(template).gsub(/\\\{\\\{[^}]*\\\}\\\}/, "([^/?#]+)")}\z/
      end

      # What Rails and its engines have for themselves, and what serves no page.
      OWN = %r{\A/(?:rails|cable|assets|packs|letter_opener|__\w+|up|favicon\.ico)(?:/|\z)}
      OWN_CONTROLLER = %r{\A(?:rails|active_storage|action_mailbox|turbo)/}

      # Asked for under load, it would end the session of whoever asks.
      SIGN_OUT = /(?:sign|log)[-_]?out/i

      # What people let Sinatra's paths end in: "/about/?", "/notes.?:format?".
      OPTIONAL_END = %r{(?:\.\?:format\?|/\?)+\z}

      # A framework whose routes can't be listed, and why.
      class Unlisted < StandardError; end

      attr_reader :app, :framework, :environment, :routes

      def self.of_app
        return of_rails if File.file?("config/environment.rb") && File.file?("config/application.rb")
        unless File.file?("config.ru")
          raise Unlisted, "there is neither config/environment.rb nor config.ru in #{Dir.pwd}"
        end
        require "rack"
        app, = Rack::Builder.parse_file("config.ru")
        (defined?(::Rails.application) && ::Rails.application) ? of_rails : new(app, *of_rack(app))
      end

      def self.of_rails
        require File.expand_path("config/environment.rb")
        app = ::Rails.application
        app.respond_to?(:reload_routes_unless_loaded) ? app.reload_routes_unless_loaded : app.reload_routes!
        # What goes wrong is seen here, and no page that tells of it is made.
        none = (::Rails.gem_version >= Gem::Version.new("7.1")) ? :none : false
        app.env_config["action_dispatch.show_exceptions"] = none
        new(app, "Rails #{::Rails.version}", ::Rails.env.to_s, rails_routes(app.routes, ""))
      end

      def self.rails_routes(set, prefix)
        set.routes.flat_map do |route|
          next [] if route.respond_to?(:internal) && route.internal
          inner = route.app.respond_to?(:rack_app) ? route.app.rack_app : route.app.app
          path = prefix + route.path.spec.to_s.gsub(/\([^()]*\)/, "").gsub(/\([^()]*\)/, "")
          if inner.respond_to?(:routes) && inner.routes.respond_to?(:routes)
            rails_routes(inner.routes, path.chomp("/"))
          elsif route.verb.match?(/\bGET\b/) || (route.verb.empty? && route.defaults[:controller])
            [found(path, controller: route.defaults[:controller])]
          elsif route.verb.empty? && !inner.is_a?(ActionDispatch::Routing::Redirect)
            [found(path, cause: "mounted", detail: inner.is_a?(Module) ? inner.name : inner.class.name)]
          else
            []
          end
        end.uniq(&:template)
      end

      # "/articles/:id", "/files/*path" -> a template.
      def self.found(path, controller: nil, cause: nil, detail: nil)
        names = []
        template = path.gsub(/[:*](\w+)/) { "{{#{$1.tap { |name| names << name }}}}" }
        template = "/" if template.empty?
        cause ||= "own" if template.match?(OWN) || controller.to_s.match?(OWN_CONTROLLER)
        cause ||= "signs_out" if template.match?(SIGN_OUT)
        cause ||= "pattern" if names.uniq.size < names.size || template.match?(/[()\\?^$|*]/)
        Found.new(template, names, controller, cause, detail)
      end

      # @return [Array(String, String, Array<Found>)]
      def self.of_rack(app)
        mounted = endpoints(app, "")
        routes = mounted.flat_map { |prefix, one| listed(one, prefix) }
        environment = ENV["RACK_ENV"] || ENV["APP_ENV"] || "development"
        return [frameworks(mounted.map(&:last)), environment, routes.uniq(&:template)] if routes.any?
        raise Unlisted, "no routes can be listed of #{mounted.map { |_, one| class_of(one).name }.uniq.join(", ")}: " \
          "Rails, Sinatra and Grape keep a list of theirs; Roda's are code that runs, and Hanami's router keeps none"
      end

      # Behind maps and middleware. @return [Array<Array(String, Object)>] where it is mounted, and what
      def self.endpoints(app, prefix)
        return mapped(app, prefix) if app.is_a?(Rack::URLMap)
        inner = app.instance_variable_get(:@app) unless app.is_a?(Module) || sinatra?(app) || grape?(app)
        (inner.respond_to?(:call) && !inner.equal?(app)) ? endpoints(inner, prefix) : [[prefix, app]]
      end

      def self.mapped(map, prefix)
        map.instance_variable_get(:@mapping).flat_map do |_, location, _, inner|
          endpoints(inner, prefix + location.to_s.chomp("/"))
        end
      end

      def self.class_of(app) = app.is_a?(Module) ? app : app.class

      def self.sinatra?(app)
        defined?(::Sinatra::Base) && (class_of(app) <= ::Sinatra::Base || app.is_a?(::Sinatra::Wrapper))
      end

      def self.grape?(app)
        defined?(::Grape::API) && app.respond_to?(:routes) &&
          class_of(app).ancestors.any? { |one| one.name.to_s.start_with?("Grape::API") }
      end

      def self.frameworks(apps)
        [("Sinatra #{::Sinatra::VERSION}" if apps.any? { |app| sinatra?(app) }),
          ("Grape #{::Grape::VERSION}" if apps.any? { |app| grape?(app) })].compact.join(", ")
      end

      def self.listed(app, prefix)
        return sinatra_routes(app, prefix) if sinatra?(app)
        return [] unless grape?(app)
        app.routes.select { |route| route.request_method == "GET" }.map do |route|
          found(prefix + route.path.sub("(.:format)", "").sub("(.json)", "").sub(":version", route.version.to_s))
        end
      end

      def self.sinatra_routes(app, prefix)
        klass = app.is_a?(::Sinatra::Wrapper) ? app.helpers.class : class_of(app)
        klass.ancestors.grep(Class).take_while { |one| one < ::Sinatra::Base }.flat_map do |one|
          one.routes.fetch("GET", []).map { |pattern, *| found(prefix + pattern.to_s.gsub(OPTIONAL_END, "")) }
        end
      end
      private_class_method :new, :of_rails, :rails_routes, :found, :of_rack, :endpoints, :mapped, :class_of, :sinatra?,
        :grape?, :frameworks, :listed, :sinatra_routes

      def initialize(app, framework, environment, routes)
        @app = app
        @framework = framework
        @environment = environment
        @routes = routes
      end
    end
  end
end
