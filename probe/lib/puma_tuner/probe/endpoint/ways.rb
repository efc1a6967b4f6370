# frozen_string_literal: true

module PumaTuner
  module Probe
    class Endpoint
      # The ways to find a route, see WAYS. Roda's has a file of its own, as it comes with a plugin.

      # Rails 8.1 and newer leave a route object, 7.1 to 8.0 its pattern; both that of the last router that matched, so
      # an engine's own route. SCRIPT_NAME then says where the engine is mounted.
      module RailsRoute
        ROUTE = "action_dispatch.route"
        PATTERN = "action_dispatch.route_uri_pattern"
        FORMAT = "(.:format)"

        def self.key(env) = env[ROUTE] || env[PATTERN]

        def self.find(key, env)
          return if mount?(key, env)
          pattern = key.is_a?(String) ? key : key.path.spec.to_s
          route = "#{Path.mount(env)}#{pattern.delete_suffix(FORMAT)}"
          route = route.delete_suffix("/") unless route == "/"
          pattern.end_with?(FORMAT) ? [route, *Format.of(env)] : route
        end

        def self.guessed? = false

        def self.framework = :ActionDispatch

        # A route that only leads to a mounted app names nothing: the app may do so. Its pattern has no format, and is
        # in SCRIPT_NAME. That of an app that is mounted at "/" is the root's own: the root has its name by its path.
        def self.mount?(key, env)
          return !key.path.anchored unless key.is_a?(String)
          return true if key == "/" && env["SCRIPT_NAME"].to_s.empty?
          !key.end_with?(FORMAT) && key != "/" && Pattern.new(key).end_of?(env["SCRIPT_NAME"].to_s)
        end
      end

      # A route that answers in several formats has an endpoint for each that the path asks for by its end: a page and
      # the CSV of the same thing are other work. Which one an Accept header asks for is not looked at: browsers ask for
      # anything, and who has such an API can group its endpoints by that header.
      #
      # Known words only, as a client can write any. HTML is no other format: it
      # is what a path without one asks for, too.
      module Format
        WORDS = %w[json csv xml pdf xlsx xls txt md rss atom ics js zip].freeze

        # The paths that one name is for. Most have no point at all: that is told in a quarter of the time.
        PATHS = WORDS.to_h { |word| [word, /\.#{word}\z/] }.freeze
        PLAIN_PATHS = /\A[^.]*+\z/
        OTHER_PATHS = /\z(?<!#{WORDS.map { |word| "\\.#{word}" }.join("|")})/

        # @param env [Hash] of a request whose route takes a format
        # @return [Array(Regexp, String)] all paths that ask for the same one, and that; nil: none
        def self.of(env)
          path = env["PATH_INFO"].to_s
          return [PLAIN_PATHS, nil] unless path.include?(".")
          word = WORDS.find { |known| path.end_with?(".#{known}") }
          [PATHS.fetch(word, OTHER_PATHS), word]
        end
      end

      # Sinatra leaves the method and the pattern, "GET /wiki/*". For a route
      # that is a Regexp, the pattern is its source.
      module SinatraRoute
        def self.key(env) = env["sinatra.route"]

        def self.find(key, env) = Pattern.new(key.partition(" ").last, parentheses: ")").find(env)

        def self.guessed? = false

        def self.framework = :Sinatra
      end

      # Grape leaves a route object, whose pattern holds the API's prefix and version.
      module GrapeRoute
        def self.key(env) = (routing = env["grape.routing_args"]) && routing[:route_info]

        def self.find(key, env) = Pattern.new(key.pattern.origin).find(env)

        def self.guessed? = false

        def self.framework = :Grape
      end

      # No framework, or one that leaves no route: the path without its variable parts. Hanami's is one of them.
      module PlainPath
        def self.key(env) = env["PATH_INFO"] || env["REQUEST_PATH"] || "/"

        def self.find(key, env)
          name = Path.name("#{env["SCRIPT_NAME"]}#{key}", Parameters.of(env))
          name.empty? ? "/" : name
        end

        def self.guessed? = true

        def self.framework = nil
      end
    end
  end
end
