# frozen_string_literal: true

require "puma_tuner"

module Reference
  # @param classes [Array<Class>]
  # @return [Array<Class>] they and the classes of the values inside of theirs, each once
  def self.reachable(classes)
    found, queue = [], classes.dup
    while (value_class = queue.shift)
      next if found.include?(value_class)
      found << value_class
      nested = value_class.const_defined?(:NESTED) ? value_class::NESTED.values : []
      queue.concat(nested.flat_map { |one| one.is_a?(Hash) ? one.fetch(String) : one })
    end
    found
  end

  # docs/reference/schemas: a JSON Schema for each kind of document, made of the values' own definitions, by which documents are read as well.
  class Schemas
    DIALECT = "https://json-schema.org/draft/2020-12/schema"

    Fields = PumaTuner::Document::Fields

    # @param kinds [Hash{String => Class}]
    def initialize(kinds)
      @kinds = kinds
    end

    # @return [Hash{String => String}] JSON by the file's name
    def to_h = @kinds.to_h { |kind, value_class| ["#{kind}.json", "#{JSON.pretty_generate(schema(kind, value_class))}\n"] }

    # @param kind [String]
    # @param value_class [Class]
    # @return [Hash]
    def schema(kind, value_class)
      {
        "$schema" => DIALECT, "title" => "puma_tuner: #{kind}", "description" => "Made of the code by `bin/exec rake docs:reference`. What the fields mean: docs/reference/documents.md",
        "type" => "object",
        "properties" => {"kind" => {"const" => kind}, "schema_version" => {"const" => PumaTuner::Document::SCHEMA_VERSION}, "tool_version" => Fields::TEXT},
        "required" => %w[kind schema_version tool_version],
        "$ref" => place(value_class), "$defs" => Reference.reachable([value_class]).sort_by { |one| title(one) }.to_h { |one| [title(one), value(one)] }
      }
    end

    private

    def title(value_class) = value_class.name.delete_prefix("PumaTuner::").gsub("::", ".")

    def place(value_class) = "#/$defs/#{title(value_class)}"

    # A class that writes itself in a way of its own is an object, of which nothing else is said.
    def value(value_class)
      return {"type" => "object"} unless document?(value_class)
      members = value_class.members
      {"type" => "object", "properties" => members.to_h { |member| [member.name, field(value_class, member)] }, "required" => (members - value_class::ADDED).map(&:name)}
    end

    def document?(value_class) = value_class.const_defined?(:NESTED)

    def field(value_class, member)
      added = value_class::ADDED.include?(member)
      case nested = value_class::NESTED[member]
      when nil then plain(value_class, member)
      when Array then or_null({"type" => "array", "items" => {"$ref" => place(nested.first)}}, added)
      when Hash then or_null({"type" => "object", "additionalProperties" => {"$ref" => place(nested.fetch(String))}}, true)
      else {"anyOf" => [{"$ref" => place(nested)}, {"type" => "null"}]}
      end
    end

    def plain(value_class, member)
      return {**or_null(Fields::TEXT, true), "description" => "a word"} if value_class::SYMBOLS.include?(member)
      type = Fields.type(value_class, member) or raise PumaTuner::InvariantError, "#{title(value_class)}: #{member} has no type in probe/lib/puma_tuner/document/fields.rb"
      unit = Documents::UNITS.select { |ending, _| member.end_with?(ending) }.max_by { |ending, _| ending.size }&.last
      {**or_null(type, Fields.nullable?(type)), **(unit ? {"description" => unit} : {})}
    end

    def or_null(schema, nullable) = (nullable && schema["type"]) ? {**schema, "type" => [*schema["type"], "null"]} : schema
  end
end
