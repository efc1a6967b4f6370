# frozen_string_literal: true

module PumaTuner
  module Probe
    class Endpoint
      # Grape leaves a route object, whose pattern holds the API's prefix and version.
      module GrapeRoute
        def self.key(env) = (routing = env["grape.routing_args"]) && routing[:route_info]

        def self.find(key, env) = Pattern.new(key.pattern.origin).find(env)

        def self.guessed? = false

        def self.framework = :Grape
      end
    end
  end
end
