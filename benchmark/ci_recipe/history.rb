# frozen_string_literal: true

require "fileutils"
require "open3"

module CiRecipe
  # A repository as an app's authors have it: a shop, its history, and pull requests on it. Some leave the work of a request as it is, in ways in which
  # commits do; one plants a regression of known size.
  class History
    # What a request has to do: so many lines of a list.
    ROWS = 240

    SOURCES = {
      "Gemfile" => <<~RUBY,
        source Gem.sources.to_a.first

        gem "puma", "8.0.2"
        gem "rack", "3.2.8"
      RUBY
      "config.ru" => <<~RUBY,
        require_relative "shop"
        run Shop.new
      RUBY
      "config/puma.rb" => "threads 2, 2\n",
      "shop.rb" => <<~RUBY,
        require "erb"
        require "json"

        class Shop
          Article = Struct.new(:title, :price_cents, :tags)
          ARTICLES = Array.new(#{ROWS}) { |number| Article.new("Article <\#{number}>", 199 + number * 7, %w[red blue large small].rotate(number).first(2)) }
          ROW = ERB.new("<li><b><%= ERB::Util.html_escape(article.title) %></b> <%= price(article) %> <i><%= article.tags.sort.join(', ') %></i></li>")

          def call(env)
            env["PATH_INFO"] == "/articles" ? [200, {"content-type" => "text/html"}, [page]] : [404, {"content-type" => "text/plain"}, ["nothing here"]]
          end

          private

          def page
            items = ARTICLES.map { |article| row(article) }
            "<ul>\#{items.join}</ul><script type='application/json'>\#{facts}</script>"
          end

          def row(article) = ROW.result(binding)

          def price(article) = format("%d.%02d", *article.price_cents.divmod(100))

          def facts = JSON.generate(ARTICLES.map { |article| {title: article.title, price: article.price_cents, tags: article.tags} })
        end
      RUBY
      "README.md" => "# Shop\n\nA list of articles.\n"
    }.freeze

    # What pull requests change, without changing what a request does: kind => [file, text, what takes its place].
    HARMLESS = {
      "a README" => ["README.md", "A list of articles.\n", "A list of articles. Start it with `bundle exec puma`.\n"],
      "a comment" => ["shop.rb", "  def row(article)", "  # One line of the list.\n  def row(article)"],
      "a page that is not asked for" => ["shop.rb", "  private\n", "  def about = [200, {\"content-type\" => \"text/plain\"}, [\"A shop.\"]]\n\n  private\n"],
      "another gem in the Gemfile" => ["Gemfile", "gem \"rack\"", "gem \"base64\", require: false\ngem \"rack\""]
    }.freeze

    # Pull requests that do more than before.
    TWICE = "the list twice"
    REGRESSION = "a regression"

    # @param folder [String] where the repository is made
    def initialize(folder)
      @folder = folder
      FileUtils.mkdir_p(folder)
      git("init", "--quiet", "--initial-branch=main")
      SOURCES.each { |path, text| write(path, text) && commit("#{path.capitalize}: first version") }
      HARMLESS.each { |kind, (path, text, other)| branch(kind) { change(path, text, other) } }
      plant(TWICE, ROWS)
    end

    # @return [String] the folder of the app
    attr_reader :folder

    # @param kind [String] one of HARMLESS, or one that was planted: the pull request is what is checked out then
    def checkout(kind) = git("checkout", "--quiet", kind.tr(" ", "-"))

    # Makes a pull request whose list makes its first rows once more: each takes as long as any other.
    #
    # @param kind [String] its name
    # @param rows_count [Integer]
    def plant(kind, rows_count)
      line = "items = ARTICLES.map { |article| row(article) }"
      branch(kind) { change("shop.rb", line, "#{line}\n    ARTICLES.first(#{rows_count}).each { |article| row(article) }") }
    end

    private

    def branch(kind)
      git("checkout", "--quiet", "-b", kind.tr(" ", "-"), "main")
      yield
      commit(kind.capitalize)
      git("checkout", "--quiet", "main")
    end

    def change(path, text, other)
      before = File.read(File.join(@folder, path))
      raise ArgumentError, "#{path} has no #{text.inspect}" unless before.include?(text)
      write(path, before.sub(text) { other })
    end

    def write(path, text)
      FileUtils.mkdir_p(File.dirname(File.join(@folder, path)))
      File.write(File.join(@folder, path), text)
    end

    def commit(message)
      git("add", ".")
      git("-c", "user.name=An author", "-c", "user.email=author@example.org", "commit", "--quiet", "--message", message)
    end

    def git(*words)
      output, status = Open3.capture2e("git", "-C", @folder, *words)
      raise "git #{words.join(" ")}: #{output}" unless status.success?
    end
  end
end
