# frozen_string_literal: true

module PumaTuner
  module Probe
    class Endpoint
      # Sinatra leaves the method and the pattern, "GET /wiki/*". For a route
      # that is a Regexp, the pattern is its source.
      module SinatraRoute
        def self.key(env) = env["sinatra.route"]

        def self.find(key, env) = Pattern.new(key.partition(" ").last, parentheses: ")").find(env)

        def self.guessed? = false

        def self.framework = :Sinatra
      end
    end
  end
end
