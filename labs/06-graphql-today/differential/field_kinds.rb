# frozen_string_literal: true

require_relative "features"
require_relative "hooked_field_kinds"

module GraphqlToday
  module Differential
    # Adds one field to a type, resolved in one of the ways that an app may choose. The classic engine's ways.
    class FieldKinds
      include HookedFieldKinds

      KINDS = %i[instance instance instance sent hash_key method resolver_method resolver extension extras arguments prepared path scoped
        authorized hidden ready connection source complexity mutated_arguments object_method state direct direct direct].freeze

      # @return [String] the arguments, the same in each process
      def self.told(arguments)
        arguments.map { |key, value| [key, value.is_a?(GraphQL::Schema::InputObject) ? value.to_h : value] }.inspect
      end

      def self.arguments(field)
        field.argument :number, Integer, required: false, default_value: 5
        field.argument :point, Features::Point, required: false, default_value: {x: 1}
        field.argument :colour, Features::Colour, required: false
        field.argument :numbers, [Integer], required: false
      end

      def initialize(flavour, values)
        @flavour = flavour
        @values = values
      end

      def kinds = KINDS

      def interface_kinds = KINDS

      # @return [Hash] options of a field that is a hash's value: none, the classic engine finds it
      def hash_options(_key) = {}

      # @return [Hash] options of a field that a class method resolves for each object: none, an instance method does it here
      def each_options = {}

      # @param owner [Class] a type
      # @param kind [Symbol] of KINDS
      # @param name [String] in snake case
      # @param type [Object] what graphql takes as a field's type
      # @param shape [Array, Symbol, String] see Values
      # @return [Boolean] whether it takes arguments number, point, colour, numbers
      def add(owner, kind, name, type, shape)
        kind = :instance if kind == :source && !@flavour.dataloader
        @name = name
        @type = type
        @shape = shape
        send("add_#{kind}", owner)
      end

      private

      def field(owner, **options, &block)
        null = !(@shape.is_a?(Array) && @shape.first == :non_null)
        owner.field(@name, @type, null:, camelize: false, **options, &block)
      end

      # @yieldparam object [GraphQL::Schema::Object]
      def instance(owner, method_name = @name, &before)
        values, shape, name = @values, @shape, @name
        owner.define_method(method_name) do |**arguments|
          before&.call(self, arguments)
          arguments.empty? ? values.call(shape, object, name) : values.call(shape, Thing.new(nil, FieldKinds.told(arguments).sum), name)
        end
      end

      def add_instance(owner) = field(owner) && instance(owner) && false

      # A method of the objects themselves.
      def add_direct(owner)
        field(owner)
        values, shape, name = @values, @shape, @name
        values.things.define_method(name) { values.call(shape, self, name) }
        false
      end

      def add_sent(owner)
        field(owner, method: :number_text)
        false
      end

      def add_object_method(owner)
        field(owner, method: :number)
        false
      end

      def add_hash_key(owner)
        field(owner, hash_key: "number", fallback_value: 7)
        false
      end

      def add_method(owner)
        field(owner, method: :itself)
        false
      end

      def add_resolver_method(owner)
        field(owner, resolver_method: :"find_#{@name}")
        instance(owner, :"find_#{@name}")
        false
      end

      def add_arguments(owner)
        field(owner) { |field| FieldKinds.arguments(field) }
        instance(owner) { |this, given| Features.note(this.context, "arguments", FieldKinds.told(given)) }
        true
      end

      def add_prepared(owner)
        field(owner) do |field|
          field.argument :number, Integer, required: false, prepare: ->(number, _) { (number == 3) ? raise(GraphQL::ExecutionError, "not three") : number.to_i + 1 }
          field.argument :point, Features::Point, required: false, prepare: ->(point, context) { Features.note(context, "prepare") && point }
          field.argument :colour, Features::Colour, required: false, validates: {exclusion: {in: ["GREEN"]}}
          field.argument :numbers, [Integer], required: false
        end
        instance(owner)
        true
      end

      def add_path(owner)
        field(owner)
        instance(owner) { |this, _| Features.note(this.context, "at", this.context[:current_path].join(".")) }
        false
      end

      # What of the engine's state an app may ask for.
      def add_state(owner)
        field(owner)
        instance(owner) do |this, _|
          Features.note(this.context, "in", this.context[:current_field]&.path, this.context[:current_object].class, this.context[:current_arguments].inspect[0, 20], this.context[:now_scoped])
          this.context.namespace(:mine)[:count] = this.context.namespace(:mine)[:count].to_i + 1
        end
        false
      end

      def add_scoped(owner)
        field(owner)
        instance(owner) do |this, _|
          Features.note(this.context, "scoped", this.context[:now_scoped])
          this.context.scoped_set!(:now_scoped, this.context[:current_path].join("/"))
        end
        false
      end

      # Frozen or not, what it is given must be its own.
      def add_mutated_arguments(owner)
        field(owner) { |field| FieldKinds.arguments(field) }
        instance(owner) { |_, given| given[:extra] = 1 }
        true
      end
    end
  end
end
