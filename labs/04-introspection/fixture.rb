# frozen_string_literal: true

# The story's own benchmark: the introspection query on the schema that graphql's own tests use. Nothing of it is in this
# repository: that schema comes with the gem of graphql 1.3.0 (spec/support), and with each commit of its repository.
#
# In a checkout (git=) it is that commit's graphql and schema, else the gem's that the variant names.
require_relative "../support/gems"
LabGems.activate
require_relative "../support/old_graphql"

module Fixture
  # @return [String] of the schema's files
  def self.load_graphql
    return checkout if File.file?("lib/graphql/version.rb")
    OldGraphql.prepare
    require "graphql"
    File.join(Gem.loaded_specs.fetch("graphql").full_gem_path, "spec/support")
  end

  def self.checkout
    commit = IO.popen(%w[git rev-parse HEAD], &:read).strip
    OldGraphql.prepare_checkout(Dir.pwd, commit)
    require "graphql"
    File.expand_path("spec/support")
  end

  # Data first: the schema names it, and some commits do not load it themselves.
  def self.load_schema(folder)
    require "ostruct"
    names = File.file?("#{folder}/dairy_app.rb") ? %w[dairy_data dairy_app] : %w[dummy/data dummy/schema]
    names.each { |name| require "#{folder}/#{name}" }
    defined?(::Dummy::Schema) ? ::Dummy::Schema : ::DummySchema
  end

  SCHEMA = load_schema(load_graphql)
  DOCUMENT = GraphQL.parse(GraphQL::Introspection::INTROSPECTION_QUERY)

  # @return [Hash] the whole answer
  def self.answer = SCHEMA.execute(document: DOCUMENT).to_h

  # @return [Integer] fields of an answer: each is a key of an object
  def self.fields_count(value)
    case value
    when Hash then value.sum { |_, own| 1 + fields_count(own) }
    when Array then value.sum { |own| fields_count(own) }
    else 0
    end
  end
end
