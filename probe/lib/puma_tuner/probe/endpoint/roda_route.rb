# frozen_string_literal: true

module PumaTuner
  module Probe
    class Endpoint
      # Roda has no routes and leaves nothing: its blocks take the path apart as they run. This plugin, which is up to
      # the app's owner, writes down what they took:
      #
      #   require "puma_tuner"
      #   plugin PumaTuner::Probe::Endpoint::RodaPlugin
      #
      # Without it a Roda app's requests are named by their paths.
      module RodaRoute
        ROUTE = "puma_tuner.roda_route"

        def self.key(env) = env[ROUTE]

        def self.find(key, _env) = key

        def self.guessed? = false

        def self.framework = :Roda
      end

      # See RodaRoute. Parts that a matcher captured become ":id"; what is not taken by the last block that ran, "*".
      module RodaPlugin
        REST = "/*"

        # Roda includes them in its request.
        module RequestMethods
          # An app below another, by r.run, goes on where that one was.
          def initialize(scope, env)
            super
            @puma_tuner_route = env[RodaRoute::ROUTE]&.delete_suffix(REST) || Path.mount(env)
            @puma_tuner_rest = @remaining_path
          end

          private

          # A block that ran ends the request; one that returns has passed or not matched.
          def if_match(args)
            route = @puma_tuner_route
            rest = @puma_tuner_rest
            super do |*captures|
              puma_tuner_take(captures - args.grep(Array).flatten)
              yield(*captures)
            end
          ensure
            @puma_tuner_route = route
            @puma_tuner_rest = rest
          end

          def puma_tuner_take(captures)
            taken = @puma_tuner_rest.delete_suffix(@remaining_path)
            @puma_tuner_rest = @remaining_path
            @puma_tuner_route += RodaPlugin.name(taken, captures)
            rest = (@remaining_path.empty? || @remaining_path == "/") ? "" : REST
            route = @puma_tuner_route + rest
            @env[RodaRoute::ROUTE] = route.empty? ? "/" : route
          end
        end

        # The words in between are the author's own, and stay; unless a capture is not found, as when a matcher made
        # another object of it, so that it can't be told which part of the path it was.
        def self.name(taken, captures)
          segments = taken.split("/").reject(&:empty?)
          return Path.segments(taken.b) unless captures.reverse_each.all? { |capture| replace(segments, capture) }
          segments.map { |segment| "/#{segment}" }.join
        end

        # Replaces a whole segment, else a part of one. It searches from the right, as captures come in path order.
        def self.replace(segments, capture)
          text = /\A0*#{capture}\z/ if capture.is_a?(Integer)
          text = capture if capture.is_a?(String) && !capture.empty?
          return unless text
          index = segments.rindex { |segment| text === segment } || segments.rindex { |segment| segment[text] }
          index && segments[index] = segments[index].rpartition(text).then { |before, _, after| "#{before}:id#{after}" }
        rescue ArgumentError, EncodingError # a path that is no text
          nil
        end
      end
    end
  end
end
