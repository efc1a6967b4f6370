# frozen_string_literal: true

# Articles with related ones, read from YAML when the service boots, as the story's were: a slug, a title, a position
# and one of 50 categories. The same for every version of graphql that this lab runs.
require "json"
require "yaml"

module Shelf
  COUNT = 20
  RELATED_COUNT = 50
  CATEGORIES = Array.new(50) { |number| format("CATEGORY_%02d", number + 1) }.freeze

  Article = Struct.new(:slug, :title, :position, :category, :related_articles, :parent)

  # @return [Hash] as its YAML tells it
  def self.facts(number) = {"slug" => "article-#{number}", "title" => "Article #{number}", "position" => number, "category" => CATEGORIES[number % CATEGORIES.size]}

  YAML_TEXT = YAML.dump(Array.new(COUNT) { |index|
    facts(index).merge("related" => Array.new(RELATED_COUNT) { |number| facts(COUNT + index * RELATED_COUNT + number) })
  })

  # @return [Article]
  def self.read(facts, parent: nil)
    Article.new(*facts.values_at("slug", "title", "position", "category"), [], parent).tap do |article|
      article.related_articles = facts.fetch("related", []).map { |one| read(one, parent: article) }
    end
  end

  ALL = YAML.safe_load(YAML_TEXT).map { |facts| read(facts) }.freeze

  class Category < GraphQL::Schema::Enum
    graphql_name "Category"
    CATEGORIES.each { |name| value(name) }
  end

  class ArticleType < GraphQL::Schema::Object
    graphql_name "Article"
    field :slug, String, null: false
    field :title, String, null: false
    field :position, Integer, null: false
    field :category, Category, null: false
    field :related_articles, [ArticleType], null: false
    field :parent, ArticleType, null: true
  end

  class QueryType < GraphQL::Schema::Object
    graphql_name "Query"
    field :articles, [ArticleType], null: true
  end

  class Schema < GraphQL::Schema
    query QueryType
    use GraphQL::Execution::Next if defined?(GraphQL::Execution::Next)
  end

  ROOT = Struct.new(:articles).new(ALL)

  # By the names of their operations: the story's, and the longer one, in which each related article asks for its parent.
  QUERIES = %w[Related Parents].to_h { |name| [name, JSON.parse(File.read(File.join(__dir__, "#{name.downcase}.json"))).fetch("query")] }.freeze

  ENGINE = (ENV["ENGINE"] == "next") ? :execute_next : :execute

  # @return [Hash] the whole answer
  def self.answer(query) = Schema.public_send(ENGINE, query, root_value: ROOT).to_h
end
