# frozen_string_literal: true

require_relative "field_kinds"
require_relative "flavour"
require_relative "next_field_kinds"
require_relative "schema_maker"

module GraphqlToday
  module Differential
    # A schema made from a seed: objects, interfaces, a union, an enum, a custom scalar, input objects, lists of lists, non-null at
    # all levels, fields resolved in all ways, and hooks of all kinds.
    class RandomSchema
      # What the query writer needs to know of a field.
      FieldFacts = Data.define(:name, :type_name, :composite, :arguments)

      OBJECTS = %w[T0 T1 T2 T3].freeze
      INTERFACES = %w[I0 I1].freeze
      LEAVES = [:Int, :Float, :String, :ID, :Boolean, :Colour, :Pair].freeze

      attr_reader :flavour, :schema

      # @param flavour [Flavour]
      def initialize(flavour)
        @flavour = flavour
        @random = Random.new(flavour.seed + 1)
        @values = Values.new(flavour.seed, oddity: flavour.oddity, lazies: flavour.lazies)
        @kinds = (flavour.next? ? NextFieldKinds : FieldKinds).new(flavour, @values)
        @facts = Hash.new { |facts, type_name| facts[type_name] = [] }
        @types = {}
        make_types
        @schema = make_schema
      end

      def mutation? = true

      # @return [Thing] to begin with
      def root(number) = @values.things.new("Query", number)

      def fields_of(type_name) = @facts.fetch(type_name)

      # @return [Array<String>] types that a fragment at a place of that type may be on
      def types_beside(type_name)
        case type_name
        when "Query", "Mutation", "Hashed" then [type_name]
        when "U0" then [*OBJECTS.first(3), *INTERFACES, "U0"]
        when *INTERFACES then [*members(type_name), type_name, "U0"]
        else [type_name, *INTERFACES.select { |name| members(name).include?(type_name) }, *("U0" if OBJECTS.index(type_name) < 3)]
        end
      end

      private

      def members(interface) = (interface == "I0") ? OBJECTS : OBJECTS.first(2)

      def make_types
        INTERFACES.each { |name| @types[name] = interface(name) }
        OBJECTS.each { |name| @types[name] = object(name, INTERFACES.select { |interface| members(interface).include?(name) }) }
        @types["Hashed"] = object("Hashed", [])
        members = @types.values_at(*OBJECTS.first(3))
        @types["U0"] = Class.new(GraphQL::Schema::Union) { graphql_name("U0") && possible_types(*members) }
        %w[Query Mutation].each { |name| @types[name] = object(name, []) }
        fill
      end

      def interface(name)
        Module.new do
          include GraphQL::Schema::Interface

          graphql_name name
        end
      end

      def object(name, interfaces)
        implemented = @types.values_at(*interfaces)
        Class.new(GraphQL::Schema::Object) do
          graphql_name name
          implements(*implemented) if implemented.any?
        end.tap { |type| add_hooks(type, name) }
      end

      # A type's own authorized?, scope_items and reauthorize_scoped_objects.
      def add_hooks(type, name)
        return unless @flavour.type_hooks && OBJECTS.include?(name)
        type.define_singleton_method(:authorized?) do |object, context|
          Features.note(context, "authorized?", name)
          number = object.respond_to?(:number) ? object.number.to_i : 0
          raise GraphQL::UnauthorizedError.new("not this one") if number % 23 == 7
          next Later.new { number % 13 != 1 } if context[:late_hooks] && number % 5 == 2
          number % 17 != 3
        end
        type.define_singleton_method(:scope_items) { |items, _context| items.is_a?(Array) ? items.first(2) : items } if name == "T1"
        type.reauthorize_scoped_objects(false) if name == "T1"
      end

      def fill
        @types.each do |name, type|
          next if name == "U0"
          next fill_hashed(type) if name == "Hashed"
          add_numbered(type, name)
          count = name.start_with?("I") ? 2 : 3 + @random.rand(6)
          count.times { |place| add_field(type, name, place) }
        end
        add_entrances
        inherit
        @facts["U0"] = []
      end

      # So that each type can be reached, and is visible.
      def add_entrances
        %w[U0 I0 I1 T0 T1 T2 T3 Hashed].each do |target|
          name = "all_#{target.downcase}"
          shape = [:list, [:non_null, target]]
          @kinds.add(@types["Query"], :instance, name, graphql_type(shape), shape)
          @facts["Query"] << FieldFacts.new(name, target, true, false)
        end
      end

      def fill_hashed(type)
        type.field :number, Integer, **@kinds.hash_options("number")
        type.field :text, String, **@kinds.hash_options(:text)
        type.field :numbers, [Integer, {null: true}], **@kinds.hash_options(:numbers)
        type.field :hashed, type, **@kinds.hash_options("hashed")
        add_numbered(type, "Hashed")
        @facts["Hashed"] += [fact("number"), fact("text"), fact("numbers"), FieldFacts.new("hashed", "Hashed", true, false)]
      end

      def fact(name) = FieldFacts.new(name, nil, false, false)

      def add_numbered(type, name)
        type.field(:numbered, Integer, **((name == "Hashed") ? @kinds.each_options : {})) do |field|
          field.argument :number, Integer, required: false
          field.argument :point, Features::Point, required: false
        end
        type.define_method(:numbered) { |number: 1, point: nil| number.to_i + (point ? point.x : 0) }
        type.define_singleton_method(:numbered) { |_object, _context, number: 1, point: nil| number.to_i + (point ? point[:x] : 0) }
      end

      def add_field(type, name, place)
        kind = (name.start_with?("I") ? @kinds.interface_kinds : @kinds.kinds).sample(random: @random)
        field_name = "f#{name.downcase}_#{kind}_#{place}"
        leaf = @random.rand < 0.55 || %i[sent hash_key object_method].include?(kind)
        target = leaf ? leaf_for(kind) : [*OBJECTS, *OBJECTS, *INTERFACES, "U0", "Hashed"].sample(random: @random)
        target = name if kind == :method && OBJECTS.include?(name)
        kind = :instance if kind == :method && !OBJECTS.include?(name)
        shape = %i[method itself sent hash_key object_method].include?(kind) ? target : wrapped(target)
        arguments = @kinds.add(type, kind, field_name, graphql_type(shape), shape)
        @facts[name] << FieldFacts.new(field_name, target.to_s, target.is_a?(String), arguments) unless kind == :hidden && @random.rand < 0.9
      end

      # What objects have of their own suits some types only.
      def leaf_for(kind)
        case kind
        when :sent then %i[String ID].sample(random: @random)
        when :hash_key, :object_method then %i[Int Int Float String ID].sample(random: @random)
        else LEAVES.sample(random: @random)
        end
      end

      def wrapped(target)
        case @random.rand(10)
        when 0, 1, 2 then target
        when 3, 4 then [:non_null, target]
        when 5 then [:list, target]
        when 6 then [:non_null, [:list, [:non_null, target]]]
        when 7 then [:list, [:non_null, target]]
        when 8 then [:list, [:list, target]]
        else [:non_null, [:list, [:non_null, [:list, [:non_null, target]]]]]
        end
      end

      # @return [Object] a type, its first non-null left to the field's own option
      def graphql_type(shape)
        case shape
        in [:non_null, inner] then graphql_type(inner)
        in [:list, [:non_null, inner]] then [graphql_type(inner)]
        in [:list, inner] then [graphql_type(inner), {null: true}]
        in Symbol then leaf(shape)
        in String then @types.fetch(shape)
        end
      end

      def leaf(name)
        {Int: Integer, Float: Float, String: String, ID: GraphQL::Types::ID, Boolean: GraphQL::Types::Boolean, Colour: Features::Colour, Pair: Features::Pair}.fetch(name)
      end

      def inherit
        INTERFACES.each { |interface| members(interface).each { |name| @facts[name] += @facts[interface] } }
      end

      def make_schema = SchemaMaker.new(@flavour, @types).call
    end
  end
end
