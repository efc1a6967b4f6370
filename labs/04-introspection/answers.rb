# frozen_string_literal: true

require "json"

module PumaTuner
  module Labs
    # Answers to the introspection query: how large they are, and what two of them say differently of the schema's own types.
    module IntrospectionAnswers
      # Types that GraphQL itself defines; these grew from version to version.
      BUILT_IN = /\A__|\A(Boolean|Float|ID|Int|String)\z/

      # Stands for a list's element that has no name.
      PLACE = "[]"

      module_function

      # @param answer [Hash] parsed JSON
      # @return [Integer] fields in it, at all depths
      def fields_count(answer)
        case answer
        when Hash then answer.size + answer.values.sum { |value| fields_count(value) }
        when Array then answer.sum { |value| fields_count(value) }
        else 0
        end
      end

      # @param answer [Hash]
      # @return [Integer] of the response, without `data` itself
      def response_fields_count(answer) = fields_count(answer.fetch("data"))

      # @param answer [Hash, Array, Object]
      # @return [Integer] fields that hold an object, at all depths
      def objects_count(answer)
        case answer
        when Hash then answer.values.sum { |value| (value.is_a?(Hash) ? 1 : 0) + objects_count(value) }
        when Array then answer.sum { |value| objects_count(value) }
        else 0
        end
      end

      # @param answer [Hash]
      # @return [Integer]
      def own_fields_count(answer) = fields_count(own_types(answer))

      # @return [Hash{String => Hash}] by name
      def own_types(answer)
        answer.fetch("data").fetch("__schema").fetch("types").reject { |type| BUILT_IN.match?(type.fetch("name")) }.to_h { |type| [type.fetch("name"), type] }
      end

      # @return [Hash{String => Integer}] how often which difference was seen, such as {"interfaces of INTERFACE: null, not []" => 2}
      def differences(answer, newest)
        one, other = own_types(answer), own_types(newest)
        names = (one.keys - other.keys).map { |name| "type #{name} only here" } + (other.keys - one.keys).map { |name| "type #{name} missing" }
        shared = (one.keys & other.keys).flat_map { |name| compare(one[name], other[name], []).map { |path, old, new| words(one[name], path, old, new) } }
        (names + shared).tally
      end

      # Lists whose elements have names are compared by these, as their order means nothing.
      def compare(one, other, path)
        if one.is_a?(Hash) && other.is_a?(Hash)
          (one.keys | other.keys).flat_map { |key| compare(one[key], other[key], [*path, key]) }
        elsif named?(one) && named?(other)
          compare(*[one, other].map { |list| list.to_h { |element| [element["name"], element] } }, [*path, PLACE])
        else
          (one == other) ? [] : [[path, one, other]]
        end
      end

      def named?(value) = value.is_a?(Array) && value.all? { |element| element.is_a?(Hash) && element.key?("name") }

      # Names of fields and arguments stand after PLACE; what is told is the kind of place.
      def words(type, path, old, new)
        kinds = path.each_with_index.reject { |_, index| index.positive? && path[index - 1] == PLACE }.map(&:first) - [PLACE]
        return "#{kinds.join(".")} of #{type["kind"]}: #{old.to_json}, not #{new.to_json}" if [old, new].none? { |value| value.is_a?(String) }
        "#{kinds.join(".")}: such as #{old.to_json}, not #{new.to_json}"
      end
    end
  end
end
