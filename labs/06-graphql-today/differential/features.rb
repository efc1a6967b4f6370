# frozen_string_literal: true

require "graphql"
require_relative "values"

module GraphqlToday
  module Differential
    # The pieces of an app that hook into the engine. All of them write down that they were called, as the order of calls has to
    # be the same, too.
    module Features
      # Into the query's log.
      def self.note(context, *what) = (context[:log] << what.join(" ") if context[:log])

      # Only a few of the hooks, so that the others remain the engine's own.
      module FieldTrace
        def execute_field(field:, query:, **)
          Features.note(query.context, "execute", field.path, query.context[:current_path]&.join("."))
          super
        end
      end

      module AllTrace
        HOOKS = GraphQL::Tracing::Trace.instance_methods(false).grep(/\A(begin|end)_(execute_field|authorized|resolve_type)/)

        HOOKS.each do |hook|
          define_method(hook) do |*given|
            context = given.find { |part| part.is_a?(GraphQL::Query::Context) } || given.find { |part| part.is_a?(GraphQL::Query) }&.context
            Features.note(context, hook, given.first.respond_to?(:path) ? given.first.path : given.first.to_s)
            super(*given)
          end
        end

        def authorized(query:, type:, object:)
          Features.note(query.context, "authorized", type.graphql_name)
          super
        end

        def execute_field_lazy(field:, query:, **)
          Features.note(query.context, "lazy", field.path)
          super
        end
      end

      # Changes nothing, and overrides nothing.
      module EmptyTrace
      end

      module LegacyTracer
        def self.trace(event, data)
          context = data[:context] || data[:query]&.context
          Features.note(context, event, data[:field]&.path) if context && event.match?(/field|authorized|resolve_type/)
          yield
        end
      end

      class Shout < GraphQL::Schema::Directive
        graphql_name "shout"
        locations FIELD, FRAGMENT_SPREAD, INLINE_FRAGMENT, QUERY, MUTATION
        argument :times, Int, required: false, default_value: 1

        def self.resolve(_object, arguments, context)
          Features.note(context, "shout", arguments[:times])
          (arguments[:times] == 0) ? nil : yield
        end

        def self.include?(_object, arguments, _context) = arguments[:times] != 7

        def self.resolve_each(_object, _arguments, context)
          Features.note(context, "shout each")
          yield
        end
      end

      class Doubling < GraphQL::Schema::FieldExtension
        def resolve(object:, arguments:, context:, **)
          Features.note(context, "before", field.path)
          yield(object, arguments, arguments.size)
        end

        def after_resolve(value:, memo:, context:, **)
          Features.note(context, "after", field.path, memo)
          value.is_a?(Integer) ? value * 2 : value
        end
      end

      class Source < GraphQL::Dataloader::Source
        def initialize(values, shape, name)
          @values = values
          @shape = shape
          @name = name
        end

        # A source's error is given in the place of its value.
        def fetch(things)
          things.map do |thing|
            @values.call(@shape, thing, @name)
          rescue => error
            error
          end
        end
      end

      class Counting < GraphQL::Analysis::Analyzer
        def initialize(query)
          super
          @count = 0
        end

        def on_enter_field(*) = @count += 1

        def result
          Features.note(query.context, "fields", @count)
          nil
        end
      end

      class Point < GraphQL::Schema::InputObject
        argument :x, Int
        argument :y, Int, required: false, default_value: 2
        argument :inner, Point, required: false
      end

      class Colour < GraphQL::Schema::Enum
        value "RED"
        value "GREEN"
        value "BLUE"
      end

      class Pair < GraphQL::Schema::Scalar
        def self.coerce_result(value, _context)
          raise GraphQL::ExecutionError, "no pair" if value == "no such value"
          raise RescuedError, "no pair to be had" if value == ["bad"]
          value
        end
      end
    end
  end
end
