# frozen_string_literal: true

require_relative "features"

module GraphqlToday
  module Differential
    # Fields with something around their resolving: resolver classes, extensions, extras, authorization, visibility, sources.
    module HookedFieldKinds
      # A field whose own class has a hook.
      class AuthorizedField < GraphQL::Schema::Field
        def authorized?(object, _arguments, context)
          Features.note(context, "field authorized?", path)
          number = object.respond_to?(:number) ? object.number : 0
          return Later.new { number.even? } if context[:late_hooks] && number % 7 == 3
          raise GraphQL::UnauthorizedFieldError.new("never this one") if number % 11 == 5
          number % 5 != 0
        end
      end

      class HiddenField < GraphQL::Schema::Field
        def visible?(context) = context[:sees_all] && super
      end

      private

      def add_resolver(owner)
        values, shape, name = @values, @shape, @name
        given_type, nullable = @type, !(@shape.is_a?(Array) && @shape.first == :non_null)
        resolver = Class.new(GraphQL::Schema::Resolver) do
          type given_type, null: nullable
          argument :number, Integer, required: false, default_value: 3
          argument :point, Features::Point, required: false
          argument :colour, Features::Colour, required: false
          argument :numbers, [Integer], required: false
          define_method(:ready?) { |number: 0, **| Features.note(context, "ready?", number).nil? || number != 8 }
          define_method(:authorized?) { |number: 0, **| (number.to_i == 4) ? [false, nil] : true }
          define_method(:resolve) { |**arguments| values.call(shape, Thing.new(nil, object.respond_to?(:number) ? object.number + arguments.size : 0), name) }
        end
        owner.field(@name, resolver:, camelize: false)
        true
      end

      def add_extension(owner)
        field(owner, extensions: [Features::Doubling])
        instance(owner)
        false
      end

      def add_extras(owner)
        field(owner, extras: %i[path lookahead ast_node parent graphql_name execution_errors])
        instance(owner) do |this, given|
          Features.note(this.context, "extras", given[:path].join("."), given[:lookahead].selections.map(&:name).join(","), given[:ast_node].name, given[:parent].class, given[:graphql_name])
          given[:execution_errors].add(GraphQL::ExecutionError.new("added")) if this.object.respond_to?(:number) && this.object.number % 9 == 1
          given.clear
        end
        false
      end

      def add_authorized(owner)
        owner.field_class(AuthorizedField)
        add_instance(owner)
      ensure
        owner.field_class(GraphQL::Schema::Field)
      end

      def add_hidden(owner)
        owner.field_class(HiddenField)
        add_instance(owner)
      ensure
        owner.field_class(GraphQL::Schema::Field)
      end

      def add_ready(owner)
        field(owner, extensions: [Features::Doubling, Features::Doubling], extras: [:path])
        instance(owner) { |_, given| given.clear }
        false
      end

      # Only lists of objects become connections; the others are what they were.
      def add_connection(owner)
        field(owner, scope: true, max_page_size: 2)
        instance(owner)
        false
      end

      def add_source(owner)
        values, shape, name = @values, @shape, @name
        field(owner)
        owner.define_method(name) { dataloader.with(Features::Source, values, shape, name).load(object) }
        false
      end

      def add_complexity(owner)
        field(owner, complexity: 3, deprecation_reason: "old", description: "costly")
        instance(owner)
        false
      end
    end
  end
end
