# frozen_string_literal: true

require "shellwords"

# A page of the documentation: its headings, its links, and its fenced blocks.
DocPage = Data.define(:path) do
  class << self
    # @return [Array<DocPage>] of all that is written for people
    def all = pages("{README,CHANGELOG,CONTRIBUTING,SECURITY,VOCABULARY}.md", "docs/**/*.md", "{probe,benchmark}/**/README.md", "labs/**/README.md")

    # @return [Array<DocPage>] of those whose snippets `rake docs_test` runs
    def walked = pages("docs/getting_started.md", "README.md", "docs/guides/*.md")

    private

    def pages(*patterns) = patterns.flat_map { |pattern| Dir[pattern, base: DocPage::PROJECT].sort }.map { |name| new(File.join(DocPage::PROJECT, name)) }
  end

  def name = path.delete_prefix("#{DocPage::PROJECT}/")

  def text = File.read(path, encoding: Encoding::UTF_8)

  # @return [Array<Block>] in their order
  def blocks
    text.enum_for(:scan, DocPage::FENCE).map do
      match = Regexp.last_match
      words = match[:info].split
      options = words.drop(1).to_h { |word| word.split("=", 2).values_at(0, 1) }
      DocPage::Block.new(language: words.first, options:, text: match[:text], line: match.pre_match.count("\n") + 1)
    end
  end

  # @return [Array<String>] as GitHub makes them
  def anchors
    seen = Hash.new(-1)
    headings = prose.scan(/^#+ +(.+?) *$/).flatten.map { |heading| heading.gsub(/\[([^\]]*)\]\([^)]*\)/, '\1').downcase.gsub(/[^\p{Word}\- ]/, "").tr(" ", "-") }
    headings.map { |slug| (count = seen[slug] += 1).zero? ? slug : "#{slug}-#{count}" }
  end

  # @return [Array<Array(String, String)>] path and anchor of each link within the project; either may be empty
  def links
    prose.scan(/\]\(([^)\s#]*)(?:#([^)\s]*))?\)/).reject { |target, _| target.match?(/\A[a-z]+:/) }.map { |target, anchor| [target, anchor.to_s] }
  end

  # @return [Array<String>] what stands between backticks in sentences
  def inline_code = prose.scan(/`([^`\n]+)`/).flatten

  # @return [String] without blocks
  def prose = text.gsub(DocPage::FENCE, "")
end

DocPage::PROJECT = File.expand_path("../..", __dir__)
DocPage::FENCE = /^```(?<info>[^\n`]*)\n(?<text>.*?)^```$/m

# What stands between two fences.
#
# language: the first word after the fence, nil without one
# options: the other words. file=PATH: the block is that file; add=PATH: it goes to that file's end; checkout: it is for
#   those who stand in a checkout; checked: it is not run, and only checked
# line: of the fence in the page
DocPage::Block = Data.define(:language, :options, :text, :line) do
  # What a person types after each `$`, and what is printed then: `…` stands for anything, `^C` for Ctrl-C.
  #
  # @return [Array<Array(String, Array<String>)>]
  def commands
    text.lines(chomp: true).slice_before { |line| line.start_with?("$ ") }.filter_map do |first, *rest|
      next unless first.start_with?("$ ")
      typed = [first.delete_prefix("$ ")]
      typed << rest.shift while typed.last.end_with?("\\") && rest.any?
      [typed.join("\n"), rest]
    end
  end
end
