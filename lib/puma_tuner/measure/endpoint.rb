# frozen_string_literal: true

module PumaTuner
  module Measure
    # Names the endpoint that a request matched: the route where the framework tells it, else the path with its variable
    # parts taken out. Paths are looked at, never recorded.
    #
    # One instance belongs to one thread.
    class Endpoint
      # Beyond so many names, a request counts for OTHER: a path scheme we can't see through must not fill the memory.
      NAMES_MAX = 200
      OTHER = "(other)"

      # Rails 8.1 and newer: a route object; 7.1 and 7.2: its pattern. Sinatra: a pattern with the method in front.
      RAILS_ROUTE = "action_dispatch.route"
      RAILS_PATTERN = "action_dispatch.route_uri_pattern"
      SINATRA_ROUTE = "sinatra.route"

      # Numbers, UUIDs and other long hexadecimal words stand for a parameter.
      VARIABLE_SEGMENT = %r{(?<=/)(?:\d+|\h{8}-\h{4}-\h{4}-\h{4}-\h{12}|\h{12,})(?=[/.]|\z)}

      def initialize(grouping: nil)
        @names = {}
      end

      # @param env [Hash] the request's Rack environment, after the app has seen it
      # @return [String] e.g. "GET /articles/:id"
      def name(env)
        key = env[RAILS_ROUTE] || env[RAILS_PATTERN] || env[SINATRA_ROUTE] || env["PATH_INFO"] || env["REQUEST_PATH"] || "/"
        by_method = (@names[env["REQUEST_METHOD"]] ||= {})
        by_method[key] || remember(by_method, key, env)
      end

      private

      def remember(by_method, key, env)
        name = build(env)
        return known?(name) ? name : OTHER if by_method.size >= NAMES_MAX
        by_method[key.is_a?(String) ? key.dup.freeze : key] = name
      end

      def known?(name) = @names.any? { |_, names| names.value?(name) }

      def build(env)
        if (pattern = env[RAILS_ROUTE]&.path&.spec&.to_s || env[RAILS_PATTERN])
          "#{env["REQUEST_METHOD"]} #{env["SCRIPT_NAME"]}#{pattern.delete_suffix("(.:format)")}"
        elsif (route = env[SINATRA_ROUTE])
          route
        else
          "#{env["REQUEST_METHOD"]} #{env["PATH_INFO"].to_s.gsub(VARIABLE_SEGMENT, ":id")}"
        end
      end
    end
  end
end
