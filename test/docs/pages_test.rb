# frozen_string_literal: true

require "test_helper"
require "json"
require "yaml"
require "support/doc_page"

# What can be seen of a page without running what it shows: `rake docs_test` does that.
class DocPagesTest < TunerTest
  ANCHORS = Hash.new { |anchors, path| anchors[path] = DocPage.new(path).anchors }

  DocPage.all.each do |page|
    next if page.links.empty?
    test "#{page.name} links to what is there" do
      page.links.each do |target, anchor|
        path = target.empty? ? page.path : File.expand_path(target, File.dirname(page.path))
        assert_path_exists path, "a link of #{page.name}"
        assert_includes ANCHORS[path], anchor, "an anchor in #{target}" unless anchor.empty? || !path.end_with?(".md")
      end
    end
  end

  test "every page of docs is reached from its index" do
    index = DocPage.new(File.join(DocPage::PROJECT, "docs/README.md"))
    linked = index.links.map { |target, _| File.expand_path(target, File.dirname(index.path)) }
    assert_empty Dir["#{DocPage::PROJECT}/docs/**/*.md"] - linked - [index.path]
  end

  test "what the page of reliability quotes as a last result, the linked page says" do
    path = File.join(DocPage::PROJECT, "docs/reliability.md")
    quoted = File.read(path).scan(/"([^"]+)" \(\[page\]\(([\w\/.]+)/)
    assert_operator quoted.size, :>=, 3
    quoted.each { |words, target| assert_includes File.read(File.expand_path(target, File.dirname(path))), words }
  end

  test "what the guide to production says that the probe costs, the measured page says" do
    paths = %w[docs/guides/production.md docs/measured/overhead.md]
    guide, measured = paths.map { |path| DocPage.new(File.join(DocPage::PROJECT, path)).text }
    figures = guide[/^## What it costs$.*?(?=^## )/m].scan(/\d+\.\d(?= (?:µs|ns|and \d))/)
    assert_operator figures.size, :>=, 6
    figures.each { |figure| assert_includes measured, " +#{figure} |" }
  end

  test "README fits three screens, and pictures load at once" do
    assert_operator File.readlines(File.join(DocPage::PROJECT, "README.md")).size, :<=, 100
    pictures = Dir["#{DocPage::PROJECT}/docs/images/*"]
    refute_empty pictures
    pictures.each { |path| assert_operator File.size(path), :<=, 200 * 1024, path }
  end

  LANGUAGES = %w[console ruby erb yaml ini json text dockerfile].freeze

  DocPage.walked.each do |page|
    test "each block of #{page.name} says what it is, and can be read by whoever reads it" do
      page.blocks.each do |block|
        assert_includes LANGUAGES, block.language, "line #{block.line}"
        check(block)
      end
      refute_match(/^\n {4}\S/, page.prose.gsub(/^ *([-*]|\d+\.) .*(\n+ +.*)*/, ""), "code that no fence tells from text is not tried")
    end
  end

  def check(block)
    case block.language
    when "ruby" then RubyVM::InstructionSequence.compile(block.text)
    when "yaml" then refute_empty YAML.load_stream(block.text)
    when "json" then JSON.parse(block.text)
    when "console" then refute_empty block.commands
    end
  rescue SyntaxError, Psych::SyntaxError, JSON::ParserError => error
    flunk "line #{block.line}: #{error.message}"
  end

  # @return [Array<Array(String, String)>] place, and what follows `puma_tuner`
  def self.told
    DocPage.all.flat_map do |page|
      typed = page.blocks.select { |block| block.language == "console" }.flat_map { |block| block.commands.map { |command, _| [block.line, command] } }
      named = page.inline_code.grep(/\Apuma_tuner [a-z]+ .*-/).map { |code| [nil, code] }
      (typed + named).filter_map { |line, text| [[page.name, line].compact.join(":"), text.gsub("\\\n", " ")[/(?:\A|\s)puma_tuner (.*)/m, 1]] }.select(&:last)
    end
  end

  test "every command that a page shows is understood" do
    assert_operator self.class.told.size, :>, 60
    self.class.told.each do |place, text|
      words = Shellwords.split(text.sub(/ +#.*/, "").sub(/ [>|&;].*/, "")).reject { |word| word == "…" }
      command, rest = PumaTuner::CLI::Commands.find(words)
      assert_kind_of Hash, command.parse(rest), place unless rest.include?("--help")
    rescue PumaTuner::UsageError => mistake
      flunk "#{place}: puma_tuner #{text}: #{mistake.message}" unless mistake.message.match?(/ is missing| needs a value/)
    end
  end

  # Of so many settings, fewer rounds can't show that any of them is better.
  test "each trade-off that is run as a page shows it can end with a recommendation" do
    blocks = DocPage.walked.flat_map(&:blocks).reject { |block| block.options.key?("checked") }
    shown = blocks.flat_map { |block| block.commands.map(&:first) }.grep(/\Apuma_tuner tradeoff /)
    refute_empty shown
    shown.each do |text|
      command, rest = PumaTuner::CLI::Commands.find(Shellwords.split(text.gsub("\\\n", " ")).drop(1))
      options = command.parse(rest)
      variants = PumaTuner::Tradeoff::Menu.variants(options[:subjects].split(","), memory_mib: options[:yjit_memory],
        call_thresholds: options[:thresholds], cross: options[:cross])
      least_count = PumaTuner::Prove::Looks.fixed(1).least_rounds_count(variants.size - 1)
      assert_operator options[:rounds] || least_count, :>=, least_count, text
    end
  end
end
