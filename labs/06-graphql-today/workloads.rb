# frozen_string_literal: true

require_relative "../support/gems"
# By hand, without a lab's run around it, too.
LabGems.activate(LabGems.declared.empty? ? {"graphql" => "2.6.14"} : LabGems.declared)
require_relative "schema"
require_relative "queries"

module GraphqlToday
  # What is measured: one query, asked of one engine, over and over, given as text as a client gives it.
  module Workloads
    ENGINES = %w[classic next].freeze
    QUERIES = %w[introspection flat parent dataloader unhelped].freeze

    module_function

    # @param engine [String] of ENGINES
    # @param query [String] of QUERIES
    # @return [Proc] asks once and gives the answer, a Hash
    def fetch(engine:, query:)
      raise ArgumentError, "ENGINE=#{engine}: one of #{ENGINES.join(", ")}" unless ENGINES.include?(engine)
      raise ArgumentError, "QUERY=#{query}: one of #{QUERIES.join(", ")}" unless QUERIES.include?(query)
      schema = schema(engine == "next", query)
      text = text(query)
      (engine == "next") ? -> { schema.execute_next(text).to_h } : -> { schema.execute(text).to_h }
    end

    def schema(next_engine, query)
      return GraphqlToday.shop_schema(next_engine:) if query == "introspection"
      return (query == "dataloader") ? DataloaderNextSchema : ArticlesNextSchema if next_engine
      {"unhelped" => UnhelpedSchema, "dataloader" => DataloaderSchema}.fetch(query, ArticlesSchema)
    end

    def text(query) = {"introspection" => GraphQL::Introspection::INTROSPECTION_QUERY, "flat" => FLAT, "parent" => PARENT, "dataloader" => FLAT, "unhelped" => UNHELPED}.fetch(query)

    # @return [Integer] fields in an answer, at all depths
    def field_count(answer)
      case answer
      when Hash then answer.size + answer.each_value.sum { |value| field_count(value) }
      when Array then answer.sum { |value| field_count(value) }
      else 0
      end
    end
  end
end
