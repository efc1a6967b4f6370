# frozen_string_literal: true

module PumaTuner
  module Probe
    class Endpoint
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
    end
  end
end
