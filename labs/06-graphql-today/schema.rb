# frozen_string_literal: true

require "graphql"

module GraphqlToday
  # Articles as in the story: 20 of them, each with 50 related ones, all in memory.
  Article = Struct.new(:id, :title, :body, :url, :related_articles, :parent_article)

  ARTICLE_COUNT = 20
  RELATED_COUNT = 50

  def self.articles
    @articles ||= Array.new(ARTICLE_COUNT) do |number|
      article = Article.new(number.to_s, "Title #{number}", "Body of article #{number}", "/articles/#{number}", nil, nil)
      article.related_articles = Array.new(RELATED_COUNT) do |other|
        id = "#{number}-#{other}"
        Article.new(id, "Title #{id}", "Body of article #{id}", "/articles/#{id}", [], article)
      end
      article
    end
  end

  class ArticleType < GraphQL::Schema::Object
    graphql_name "Article"
    field :id, ID, null: false
    field :title, String, null: false
    field :body, String, null: false
    field :url, String, null: false
    field :related_articles, [ArticleType], null: false
    field :parent_article, ArticleType
  end

  class ArticlesQuery < GraphQL::Schema::Object
    graphql_name "Query"
    field :articles, [ArticleType], null: false, resolve_static: true

    # What the classic engine calls, and what Next calls.
    def articles = GraphqlToday.articles
    def self.articles(_context) = GraphqlToday.articles
  end

  class ArticlesSchema < GraphQL::Schema
    query ArticlesQuery
    rescue_from(KeyError) { |error| raise GraphQL::ExecutionError, error.message }
  end

  class ArticlesNextSchema < GraphQL::Schema
    query ArticlesQuery
    use GraphQL::Execution::Next
    rescue_from(KeyError) { |error| raise GraphQL::ExecutionError, error.message }
  end

  # As most new apps have it: fields are jobs of a loader's fibers.
  class DataloaderSchema < ArticlesSchema
    use GraphQL::Dataloader
  end

  class DataloaderNextSchema < ArticlesNextSchema
    use GraphQL::Dataloader
  end

  # Listens to all that the cures would leave out.
  module Listening
    def execute_field(**) = super

    def authorized(**) = super
  end

  # For a query that none of the cures for the classic engine helps: is it worse off?
  class UnhelpedSchema < ArticlesSchema
    trace_with Listening
  end

  SHOP = File.read(File.join(__dir__, "shop.graphql"))

  # @param next_engine [Boolean]
  # @return [Class<GraphQL::Schema>] the shop, which is only asked about itself
  def self.shop_schema(next_engine:)
    GraphQL::Schema.from_definition(SHOP).tap do |schema|
      schema.use(GraphQL::Execution::Next) if next_engine
      schema.rescue_from(KeyError) { |error| raise GraphQL::ExecutionError, error.message }
    end
  end
end
