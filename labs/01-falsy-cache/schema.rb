# frozen_string_literal: true

# Articles, each with related ones, in memory: the shape of the talk's query, with data of our own. The same for every
# version of graphql that this lab runs.
module Articles
  COUNT = 20
  RELATED_COUNT = 50

  Article = Struct.new(:id, :title, :url, :published_on, :related_articles, :parent)

  def self.make(id, parent: nil)
    Article.new("a#{id}", "Article #{id}", "/articles/#{id}", "2020-07-#{format("%02d", id % 28 + 1)}", [], parent)
  end

  ALL = Array.new(COUNT) do |index|
    make(index).tap do |article|
      article.related_articles = Array.new(RELATED_COUNT) { |number| make(COUNT + index * RELATED_COUNT + number, parent: article) }
    end
  end.freeze

  # All that an article tells is always there; only the newest articles have no parent.
  class ArticleType < GraphQL::Schema::Object
    graphql_name "Article"
    field :id, ID, null: false
    field :title, String, null: false
    field :url, String, null: false
    field :published_on, String, null: false
    field :related_articles, [ArticleType], null: false
    field :parent, ArticleType, null: true
  end

  class QueryType < GraphQL::Schema::Object
    graphql_name "Query"
    field :articles, [ArticleType], null: true
  end

  # What the query starts from.
  ROOT = Struct.new(:articles).new(ALL)

  class Schema < GraphQL::Schema
    query QueryType
    use GraphQL::Execution::Next if defined?(GraphQL::Execution::Next)
  end

  FIELDS = "id title url publishedOn"

  # As in the talk; and the longer one of its example, in which each related article asks for its parent, too.
  QUERIES = {
    "flat" => "{ articles { #{FIELDS} relatedArticles { #{FIELDS} } } }",
    "parent" => "{ articles { #{FIELDS} relatedArticles { #{FIELDS} parent { #{FIELDS} } } } }"
  }.freeze

  ENGINE = (ENV["ENGINE"] == "next") ? :execute_next : :execute

  # @return [Hash] the whole answer
  def self.answer(query) = Schema.public_send(ENGINE, query, root_value: ROOT).to_h
end
