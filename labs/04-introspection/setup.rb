# frozen_string_literal: true

# What each child of this lab begins with: the gems of its variant, the schema, and how a query is answered by that version.
require_relative "../support/gems"
LabGems.activate
require_relative "../support/old_graphql"
OldGraphql.prepare
require "graphql"
require "graphql/c_parser" if Gem.loaded_specs.key?("graphql-c_parser")

# The same schema for each version of graphql, from its text.
module Shop
  # Introspection only, so that nothing needs to be resolved. The gem's own query, which selects the same fields in all.
  QUERY = GraphQL::Introspection::INTROSPECTION_QUERY

  SCHEMA = GraphQL::Schema.from_definition(File.read(File.join(__dir__, "shop.graphql")))

  # As an app has one. In 1.3 it puts a middleware into the chain that was built anew for each field: without a handler,
  # most of the story is not there to be seen.
  SCHEMA.rescue_from(StandardError) { |error| error.message }

  SCHEMA.use(GraphQL::Execution::Next) if ENV["ENGINE"] == "next"

  EXECUTE = (ENV["ENGINE"] == "next") ? :execute_next : :execute

  # Read once, as the gem's own benchmark of the time had it.
  DOCUMENT = GraphQL.parse(QUERY)

  # @return [Hash] the whole answer
  def self.answer = SCHEMA.public_send(EXECUTE, document: DOCUMENT).to_h

  # @return [Hash] the same of the query's text
  def self.answer_text = SCHEMA.public_send(EXECUTE, QUERY).to_h
end
