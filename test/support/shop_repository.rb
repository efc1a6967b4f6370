# frozen_string_literal: true

require "fileutils"
require "open3"

# A repository as an app's authors have it: a shop with a Gemfile, its history on `main`, and pull requests as branches.
class ShopRepository
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

      class Shop
        ARTICLES = Array.new(#{ROWS}) { |number| "Article <\#{number}>" }
        ROW = ERB.new("<li><b><%= ERB::Util.html_escape(article) %></b></li>")

        def call(env)
          env["PATH_INFO"] == "/articles" ? [200, {"content-type" => "text/html"}, [page]] : [404, {"content-type" => "text/plain"}, ["nothing here"]]
        end

        def page = ARTICLES.map { |article| ROW.result(binding) }.join
      end
    RUBY
    "README.md" => "# Shop\n\nA list of articles.\n"
  }.freeze

  # @return [String] the folder of the app
  attr_reader :folder

  # @param folder [String] where the repository is made
  def initialize(folder)
    @folder = folder
    FileUtils.mkdir_p(folder)
    git("init", "--quiet", "--initial-branch=main")
    SOURCES.each { |path, text| write(path, text) }
    commit("The shop")
  end

  # Makes a commit on `main`, or a branch with one.
  #
  # @param path [String] of a file
  # @param text [String] in it
  # @param other [String] what takes its place
  # @param branch [String] its name
  # @return [CiRecipe::PullRequest] of that branch
  def change(path, text, other, branch: nil)
    git("checkout", "--quiet", "-b", branch, "main") if branch
    before = File.read(File.join(@folder, path))
    raise ArgumentError, "#{path} has no #{text.inspect}" unless before.include?(text)
    write(path, before.sub(text) { other })
    commit("A change")
    git("checkout", "--quiet", "main")
    CiRecipe::PullRequest.new(kind: branch, base: "main", head: branch)
  end

  # @return [CiRecipe::PullRequest] whose list is made so many times more
  def more_work(times) = change("shop.rb", "  def page = ", "  def page = #{"ARTICLES.map { |article| ROW.result(binding) } && " * times}", branch: "more")

  private

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
