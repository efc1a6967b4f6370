# frozen_string_literal: true

module GraphqlToday
  module Differential
    # Writes a query that suits a schema: selections on all kinds of types, aliases, arguments as literals and variables,
    # fragments, the same field twice with selections to be merged, @skip and @include.
    class RandomQuery
      FIELDS_PER_SELECTION = 1..4
      MOST_FIELDS = 40

      attr_reader :variables

      # @param schema [RandomSchema]
      # @param random [Random]
      def initialize(schema, random)
        @schema = schema
        @random = random
        @variables = {"yes" => true, "no" => false, "number" => random.rand(10), "point" => {"x" => random.rand(10)}}
        @fragments = []
        @field_count = 0
        @alias_count = 0
      end

      # @return [String]
      def text
        operation = (@schema.mutation? && @random.rand < 0.2) ? "mutation" : "query"
        body = selection((operation == "mutation") ? "Mutation" : "Query", 0)
        directive = (@schema.flavour.runtime_directive && @random.rand < 0.1) ? " @shout(times: 1)" : ""
        "#{operation} Q($yes: Boolean = true, $no: Boolean = false, $number: Int, $point: Point)#{directive} #{body}\n#{@fragments.join("\n")}"
      end

      private

      def selection(type_name, depth)
        lines = Array.new(@random.rand(FIELDS_PER_SELECTION)) { part(type_name, depth) }
        # Variables have to be used, and a selection may not be empty.
        lines << "__typename" if lines.empty? || @random.rand < 0.2
        lines << "v#{@alias_count += 1}: __typename @include(if: $yes) @skip(if: $no)" if depth.zero? || @random.rand < 0.05
        lines << "v#{@alias_count += 1}: numbered(number: $number, point: $point)" if depth.zero?
        "{ #{lines.join(" ")} }"
      end

      def part(type_name, depth)
        return field(type_name, depth) if depth > 6 || @field_count > MOST_FIELDS
        return inline_fragment(type_name, depth) if type_name == "U0" && @random.rand < 0.8
        case @random.rand
        when 0.0..0.68 then field(type_name, depth)
        when 0.68..0.78 then twice(type_name, depth)
        when 0.78..0.9 then inline_fragment(type_name, depth)
        when 0.9..0.94 then "...#{directives(0.5)} #{selection(type_name, depth + 1)}"
        else "...#{named_fragment(type_name, depth)}#{directives(0.2)}"
        end
      end

      def inline_fragment(type_name, depth)
        type = @schema.types_beside(type_name).sample(random: @random)
        "... on #{type}#{directives(0.3)} #{selection(type, depth + 1)}"
      end

      def named_fragment(type_name, depth)
        type = @schema.types_beside(type_name).sample(random: @random)
        place = @fragments.size
        @fragments << nil # taken before its own selection, which may have fragments, too
        @fragments[place] = "fragment F#{place} on #{type} #{selection(type, depth + 1)}"
        "F#{place}"
      end

      def field(type_name, depth)
        candidates = @schema.fields_of(type_name)
        candidates = candidates.reject(&:composite) if depth > (@schema.flavour.deep ? 6 : 3) || @field_count > MOST_FIELDS
        chosen = candidates.sample(random: @random) or return "__typename"
        written(chosen, key(chosen), arguments(chosen), depth)
      end

      # The same response key at two places, whose selections the engine has to merge.
      def twice(type_name, depth)
        chosen = @schema.fields_of(type_name).select(&:composite).sample(random: @random) or return field(type_name, depth)
        return field(type_name, depth) if depth > 3
        key = "m#{@alias_count += 1}: "
        given = arguments(chosen)
        "#{written(chosen, key, given, depth)} #{written(chosen, key, given, depth)}"
      end

      def written(field, key, given, depth)
        @field_count += 1
        "#{key}#{field.name}#{given}#{directives(0.06)}#{" #{selection(field.type_name, depth + 1)}" if field.composite}"
      end

      # Every key once, but for those of twice: else most queries would not be valid.
      def key(field) = (@random.rand < 0.1 && !field.arguments) ? "" : "k#{@alias_count += 1}: "

      def arguments(field)
        return "" unless field.arguments
        given = []
        given << "number: #{["$number", @random.rand(10), "null"].sample(random: @random)}" if @random.rand < 0.6
        given << "point: #{["$point", "{x: #{@random.rand(9)}, y: 3}", "{x: 1, inner: {x: 2}}"].sample(random: @random)}" if @random.rand < 0.4
        given << "colour: #{%w[RED GREEN].sample(random: @random)}" if @random.rand < 0.3
        given << "numbers: [1, #{@random.rand(4)}]" if @random.rand < 0.3
        given.empty? ? "" : "(#{given.join(", ")})"
      end

      def directives(share)
        return "" if @random.rand >= share
        choices = ["@include(if: $yes)", "@skip(if: $no)", "@skip(if: $yes)", "@include(if: true)", "@include(if: $yes) @skip(if: $no)"]
        choices += ["@shout(times: 2)", "@shout(times: 0)", "@shout(times: 1) @include(if: $yes)"] if @schema.flavour.runtime_directive
        " #{choices.sample(random: @random)}"
      end
    end
  end
end
