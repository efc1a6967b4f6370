# frozen_string_literal: true

module PumaTuner
  module Probe
    class Endpoint
      # A route as its author wrote it: "/articles/:id". Finds out where the route's app
      # is mounted, which Rack::URLMap (`map` in a config.ru) takes out of env again
      # before we look: it is what the path has in front of what the route matches.
      class Pattern
        TOKEN = /\\.|:\w+|\{[^}]*\}|\*\w*|./m
        # It is written so that a "?" may follow without Ruby's warning of a repeated repetition.
        SEGMENT = "(?:[^/][^/]*)"
        ANYTHING = "(?:.*|)"
        ENDING = "(?:\\.[^/.]+)?/?\\z"

        # It stands in where the path is no text, or our reading of the pattern is not the framework's.
        ANY = //

        # @param text [String] with backslashes: a Regexp's source
        # @param parentheses [String] what the end of a group means: ")?" that it may be left out
        def initialize(text, parentheses: ")?")
          @text = text.gsub("\\/", "/")
          @source = text.include?("\\") ? text : text.chomp("/").gsub(TOKEN) { |token| source_of(token, parentheses) }
        end

        # @return [Array(String, Regexp)] the route with its mount in front, and the paths for which that holds
        def find(env)
          mount = env["PATH_INFO"].to_s[/\A(?<mount>(?:\/[^\/]+)*?)(?:#{@source})#{ENDING}/m, :mount]
          return [Path.mount(env) + @text, ANY] if mount.nil?
          [join(Path.mount(env) + Path.name(mount)), /\A#{Regexp.escape(mount)}(?:#{@source})#{ENDING}/m]
        rescue ArgumentError, RegexpError, EncodingError
          [Path.mount(env) + @text, ANY]
        end

        # @return [Boolean] whether the path ends with what the route matches
        def end_of?(path) = /(?:#{@source})\z/.match?(path)

        private

        def join(mount) = mount.empty? ? @text : mount + @text.delete_suffix("/")

        def source_of(token, parentheses)
          case token[0]
          when ":" then (token.size > 1) ? SEGMENT : ":"
          when "{" then token.match?(/\A\{[+*]/) ? ANYTHING : SEGMENT
          when "*" then ANYTHING
          when "(" then "(?:"
          when ")" then parentheses
          when "?", "|" then token
          else Regexp.escape(token)
          end
        end
      end
    end
  end
end
