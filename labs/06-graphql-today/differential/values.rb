# frozen_string_literal: true

module GraphqlToday
  module Differential
    # A value that is not there yet, as a promise is; registered with lazy_resolve.
    class Later
      def initialize(&block) = @block = block

      def value = @block.call
    end

    # What the schema's objects are: a number, which decides all that is read off it.
    Thing = Struct.new(:type_name, :number) do
      def number_text = "number #{number}"

      def numbered(number: 1, point: nil) = number.to_i + (point ? point[:x] : 0)
    end

    # Mistakes of an app: one that is rescued into an error of GraphQL, one that is rescued into a value.
    RescuedError = Class.new(StandardError)
    ReplacedError = Class.new(StandardError)

    # Something with each, that is no Array.
    class EachOnly
      def initialize(items) = @items = items

      def each(&block) = @items.each(&block)
    end

    # Gives what fields return. It depends on the object's number and the field's name only, never on the order of execution: so
    # that two engines which ask in the same or another order get the same.
    class Values
      # @param seed [Integer]
      # @param oddity [Float] 0..1, how often something unusual is returned
      # @param lazies [Boolean] may values be late?
      def initialize(seed, oddity:, lazies:)
        @seed = seed
        @oddity = oddity
        @lazies = lazies
        @things = Class.new(Thing)
      end

      # @return [Class] what this schema's objects are, with methods of their own
      attr_reader :things

      # @param shape [Array, Symbol, String] [:non_null, shape], [:list, shape], or the name of a type
      # @return [Object]
      # @raise [StandardError] now and then, as apps do
      def call(shape, object, field_name)
        random = Random.new([@seed, number_of(object), field_name.sum, field_name.size].reduce(17) { |sum, part| (sum * 31 + part) % 2**40 })
        raise_something(random) if odd?(random, 0.25)
        late(random) { value(shape, random) }
      end

      private

      def number_of(object) = object.respond_to?(:number) ? object.number : 0

      def odd?(random, share) = random.rand < @oddity * share

      def late(random)
        return yield unless @lazies && odd?(random, 1)
        case random.rand(6)
        when 0 then Later.new { Later.new { yield } }
        when 1 then Later.new { raise GraphQL::ExecutionError, "late" }
        when 2 then Later.new { raise RescuedError, "late and rescued" }
        else Later.new { yield }
        end
      end

      def raise_something(random)
        case random.rand(6)
        when 0 then raise GraphQL::ExecutionError.new("raised", extensions: {"code" => random.rand(9)})
        when 1 then raise RescuedError, "rescued"
        when 2 then raise ReplacedError, "replaced"
        when 3 then raise GraphQL::UnauthorizedError.new("not allowed")
        else raise GraphQL::UnauthorizedFieldError.new("not this field")
        end
      end

      def value(shape, random)
        return odd_value(shape, random) if odd?(random, 0.5)
        case shape
        in [:non_null, inner] then present(inner, random)
        in [:list, _] | Symbol | String then odd?(random, 0.7) ? nil : present(shape, random)
        end
      end

      def present(shape, random)
        case shape
        in [:non_null, inner] then present(inner, random)
        in [:list, inner] then list(Array.new(random.rand(4)) { item(inner, random) }, random)
        else single(shape, random)
        end
      end

      def item(shape, random)
        made = value(shape, random)
        late(random) { made }
      end

      def list(items, random)
        return items unless odd?(random, 0.6)
        [Set.new(items), items.each, EachOnly.new(items), items.lazy.map(&:itself).first(9)].sample(random:)
      end

      def single(name, random)
        case name
        when :Int then random.rand(1_000)
        when :Float then random.rand.round(3)
        when :String, :ID then "text #{random.rand(100)}"
        when :Boolean then random.rand < 0.5
        when :Colour then %w[RED GREEN BLUE].sample(random:)
        when "Hashed" then {"number" => random.rand(9), :text => "text", "hashed" => {text: "inner", numbers: [1, nil, 2]}}
        when :Pair then [random.rand(9), random.rand(9)]
        else @things.new(name, random.rand(1_000_000))
        end
      end

      # Nothing that the field's type allows, or something that the engine treats in its own way.
      def odd_value(shape, random)
        case random.rand(9)
        when 0, 1 then nil
        when 2 then GraphQL::ExecutionError.new("returned", options: {"fatal" => false})
        when 3 then [GraphQL::ExecutionError.new("first"), GraphQL::ExecutionError.new("second")]
        when 4 then GraphQL::Execution::Skip.new
        when 5 then GraphQL::Execution::Interpreter::RawValue.new({"raw" => random.rand(9)})
        when 6 then (shape.is_a?(Array) && shape.flatten.include?(:list)) ? [] : nil
        when 7 then ((shape.is_a?(Symbol) && shape != :Colour) || random.rand < 0.05) ? "no such value" : nil
        else present(shape, random)
        end
      end
    end
  end
end
