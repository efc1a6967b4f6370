# frozen_string_literal: true

require "test_helper"
require "support/profiled_script"
require "support/profiles"

# Work repeated with equal inputs, in real profiles: one of a page that prices the same articles again and again, and those of
# pages that do not.
class RepeatedWorkTest < TunerTest
  include ProfiledScript
  include Profiles

  SHOP = <<~RUBY
    class Shop
      Article = Struct.new(:id)
      ARTICLES = Array.new(10) { |id| Article.new(id) }.freeze

      def page = 500.times { |place| price(ARTICLES[place % 10]) }

      def other_articles = 500.times { |place| price(Article.new(place)) }

      def changing = 500.times { |place| stock(ARTICLES[place % 10]) }

      def kept = 500.times { |place| kept_price(ARTICLES[place % 10]) }

      def told = 500.times { |place| tell(ARTICLES[place % 10]) }

      def blocks = 500.times { |place| around(ARTICLES[place % 10]) { |article| price(Article.new(article.id)) } }

      def texts = 500.times { |place| NAME.replace("article \#{place}") and named(NAME) }

      NAME = +""

      def named(text) = work(text[/[0-9]+/].to_i)

      def price(article) = work(article.id) + 1

      def kept_price(article)
        @prices ||= {}.compare_by_identity
        @prices[article] ||= price(article)
      end

      def stock(article)
        @sold = @sold.to_i + 1
        work(article.id) + @sold
      end

      def tell(article)
        @told = work(article.id)
        nil
      end

      def around(article)
        yield article
        work(article.id)
      end

      def work(seed) = (Array.new(50) { |number| number * seed + rand }.map(&:to_i).sum * 0 + seed)
    end
  RUBY

  def setup = need("ruby-prof")

  # @return [Profile::Hint, nil] of one page, as a request
  def repeated(page, mode: "inputs")
    profiled("ruby-prof", "SHOP.#{page}", before: "#{SHOP}\nSHOP = Shop.new\nSHOP.#{page}", mode:) do |ran|
      return Profile::Hints.of(costs(ran.samples, samples_count: nil, work_count: 1)).find { |hint| hint.rule == "repeated_work" }
    end
  end

  test "the same articles priced again are found, to the call" do
    found = repeated("page")
    assert_match(/Shop#price does its work again for equal inputs, 490 times in one request/, found.title)
    assert_match(/490 of 500 calls of Shop#price got what an earlier one had got, and gave the same/, found.evidence)
  end

  test "other articles each time, results that change, what is kept, what only does something, blocks and changed texts are no repetition" do
    {"other_articles" => "price", "changing" => "stock", "kept" => "kept_price", "told" => "tell", "blocks" => "around", "texts" => "named"}.each do |page, method|
      refute_includes repeated(page)&.evidence.to_s, "Shop##{method} ", page
    end
  end

  test "who does not look at inputs is silent" do
    assert_nil repeated("page", mode: "wall")
  end
end
