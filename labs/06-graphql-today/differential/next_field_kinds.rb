# frozen_string_literal: true

require_relative "field_kinds"

module GraphqlToday
  module Differential
    # The ways in which Execution::Next resolves fields: methods of the objects, or class methods of the type, for each object, for all
    # of them, or for none in particular.
    class NextFieldKinds < FieldKinds
      NEXT_KINDS = %i[direct direct direct each static batch legacy sent object_method itself arguments extension authorized hidden dataload].freeze

      # Doubles by columns.
      class Doubling < GraphQL::Schema::FieldExtension
        def resolve(objects:, arguments:, context:, **)
          Features.note(context, "before", field.path, objects.size)
          yield(objects, arguments, objects.size)
        end

        def after_resolve(values:, memo:, context:, **)
          Features.note(context, "after", field.path, memo)
          values.map { |value| value.is_a?(Integer) ? value * 2 : value }
        end
      end

      class AuthorizedField < GraphQL::Schema::Field
        def authorized?(object, _arguments, context)
          Features.note(context, "field authorized?", path)
          object.number % 5 != 0
        end
      end

      def kinds = NEXT_KINDS

      def interface_kinds = %i[direct sent object_method]

      def hash_options(key) = {hash_key: key}

      def each_options = {resolve_each: true}

      def add(owner, kind, name, type, shape)
        kind = :direct if kind == :instance || (kind == :dataload && !@flavour.dataloader)
        super
      end

      private

      # @yieldreturn [Object] of a class method of the type
      def class_method(owner, option, &block)
        field(owner, option => true)
        owner.define_singleton_method(@name, &block)
        false
      end

      def add_itself(owner) = add_direct(owner)

      def add_each(owner)
        values, shape, name = @values, @shape, @name
        class_method(owner, :resolve_each) { |object, _context| values.call(shape, object, name) }
      end

      def add_static(owner)
        values, shape, name = @values, @shape, @name
        class_method(owner, :resolve_static) { |_context| values.call(shape, nil, name) }
      end

      # What one object raises would be everybody's: given as its value.
      def add_batch(owner)
        values, shape, name = @values, @shape, @name
        class_method(owner, :resolve_batch) do |objects, _context|
          objects.map do |object|
            values.call(shape, object, name)
          rescue GraphQL::ExecutionError => error
            error
          rescue
            nil
          end
        end
      end

      def add_legacy(owner)
        field(owner, resolve_legacy_instance_method: true)
        instance(owner)
        false
      end

      def add_arguments(owner)
        field(owner) { |field| FieldKinds.arguments(field) }
        values, shape, name = @values, @shape, @name
        values.things.define_method(name) { |**given| values.call(shape, Thing.new(nil, given.keys.inspect.sum + number), name) }
        true
      end

      def add_extension(owner)
        field(owner, extensions: [Doubling])
        values, shape, name = @values, @shape, @name
        values.things.define_method(name) { values.call(shape, self, name) }
        false
      end

      def add_authorized(owner)
        owner.field_class(NextFieldKinds::AuthorizedField)
        add_direct(owner)
      ensure
        owner.field_class(GraphQL::Schema::Field)
      end

      def add_hidden(owner)
        owner.field_class(HiddenField)
        add_direct(owner)
      ensure
        owner.field_class(GraphQL::Schema::Field)
      end

      def add_dataload(owner)
        field(owner, dataload: {with: Features::Source, by: [@values, @shape, @name]})
        false
      end
    end
  end
end
