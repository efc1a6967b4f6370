# frozen_string_literal: true

require "test_helper"
require "prism"

# Facts travel as values, and are put into words where people read them. So code never looks for words in a text of our own: whoever
# rewords a sentence must not change what is done.
class FactsTest < TunerTest
  ROOT = File.expand_path("..", __dir__)
  SOURCES = Dir["#{ROOT}/{lib,probe/lib,labs/harness}/**/*.rb"]

  # Texts that others write: what is looked for in them, by file.
  OUTSIDE = {
    "host/server_process.rb" => ["Address already in use", "No space left"], # by Puma, or by the kernel
    "load/data_file.rb" => [" in line \\d+\\.?\\z"], # by CSV
    "fleet/prometheus.rb" => ["too many samples|timed out"], # by Prometheus
    "probe/observation.rb" => ["puma "], # by Puma, its threads' names
    "html/lane_chart.rb" => ["puma ", "srv "], # the same
    "profile/readers/perf.rb" => ["^# perf version : (\\S+)"],
    "profile/perf.rb" => ["paranoid|ermission|not permitted"],
    "probe/puma.rb" => ["cluster worker (\\d+): (\\d+)"] # by Puma, its title
  }.freeze

  # Finds texts of two words or more that something is compared with, or looked for in.
  class Comparisons < Prism::Visitor
    METHODS = %i[include? start_with? end_with? match? match =~ !~ == != === [] slice grep grep_v sub gsub index key? fetch delete_prefix delete_suffix scan].freeze
    # Their second argument is what comes instead.
    ONE = %i[fetch sub gsub].freeze
    WORDS = /[a-z]{2,},?(?:\\s[+*]?| )[a-z]{2,}|\A[a-z]{3,} \z/i

    attr_reader :found

    def initialize
      @found = []
      super
    end

    def visit_call_node(node)
      arguments = node.arguments&.arguments.to_a
      look([node.receiver, *(ONE.include?(node.name) ? arguments.first(1) : arguments)]) if METHODS.include?(node.name)
      super
    end

    def visit_when_node(node)
      look(node.conditions)
      super
    end

    def visit_in_node(node)
      look([node.pattern])
      super
    end

    private

    def look(nodes)
      @found.concat(nodes.grep(Prism::StringNode).map(&:unescaped).grep(WORDS), nodes.grep(Prism::RegularExpressionNode).map(&:content).grep(WORDS))
    end
  end

  # Where values still carry texts of several words, by the value's field. What a person calls something is none: a
  # metric's label, a frame's name, what was profiled.
  NAMES = %w[label name target].freeze
  STILL_TOLD = {
    "profile/hints/" => %w[title evidence cure proof] # one hint to a file, and its words on top of it
  }.freeze

  # Finds texts of two words or more that are put into a value as it is made.
  class TextsInValues < Prism::Visitor
    MAKING = %i[new with of].freeze
    ERRORS = /Error|Failed|Invalid|Unanswered/

    # @return [Array<Array(String, String)>] field and text
    attr_reader :found

    def initialize
      @found = []
      super
    end

    def visit_call_node(node)
      fields(node).each do |field|
        text = text_in(field.value)
        @found << [field.key.unescaped, text] if text.match?(Comparisons::WORDS) && field.key.is_a?(Prism::SymbolNode)
      end
      super
    end

    private

    def fields(node)
      return [] if !MAKING.include?(node.name) || node.receiver&.slice.to_s.match?(ERRORS)
      node.arguments&.arguments.to_a.grep(Prism::KeywordHashNode).flat_map(&:elements).grep(Prism::AssocNode)
    end

    # With what depends on something: `(text if this)`, `this ? text : other`.
    def text_in(node)
      case node
      when Prism::StringNode then node.unescaped
      when Prism::InterpolatedStringNode, Prism::ParenthesesNode, Prism::StatementsNode, Prism::IfNode, Prism::ElseNode, Prism::OrNode
        node.compact_child_nodes.map { |child| text_in(child) }.join
      else ""
      end
    end
  end

  # @param code [String]
  # @return [Array<String>]
  def looked_for(code) = Comparisons.new.tap { |visitor| Prism.parse(code).value.accept(visitor) }.found

  test "no code looks for words in a text of our own" do
    assert_operator SOURCES.size, :>, 400
    found = SOURCES.to_h { |path| [path, looked_for(File.read(path))] }
    ours = found.to_h { |path, texts| [path.delete_prefix("#{ROOT}/"), texts - OUTSIDE.find { |name, _| path.end_with?("/#{name}") }.to_a.last.to_a] }
    assert_empty ours.reject { |_, texts| texts.empty? }
  end

  test "what is looked for in others' texts is looked for still" do
    OUTSIDE.each do |name, texts|
      path = SOURCES.find { |source| source.end_with?("/#{name}") }
      assert path, name
      assert_empty texts - looked_for(File.read(path)), name
    end
  end

  # @param code [String]
  # @return [Array<String>] fields of values that get a text of several words
  def told(code) = TextsInValues.new.tap { |visitor| Prism.parse(code).value.accept(visitor) }.found.map(&:first)

  test "values carry facts, and no sentences" do
    stages = SOURCES.grep_v(%r{/(report|cli|labs)/})
    found = stages.to_h { |path| [path.delete_prefix("#{ROOT}/"), told(File.read(path)).uniq - NAMES] }
    still = ->(path) { STILL_TOLD.find { |place, _| path.include?("/#{place}") }.to_a.last.to_a }
    assert_empty found.to_h { |path, fields| [path, fields - still.call(path)] }.reject { |_, fields| fields.empty? }
    STILL_TOLD.each { |place, fields| assert_empty fields - found.select { |path, _| path.include?("/#{place}") }.values.flatten, place }
  end

  test "a sentence in a value is found wherever it is put" do
    ['A.new(reason: "it is late")', 'a.with(reason: ("it is late" if b))', "A.of(:a, detail: \"\#{b} is late\")", 'A.new(reason: a || "it is late")', 'A.new(reason: a ? "it is" : b)']
      .each { |code| refute_empty told(code), code }
    ["A.new(reason: :late)", 'A.new(kind: "late")', 'ServerFailed.new("it", advice: "do this now")', 'raise(A, "it is late")'].each { |code| assert_empty told(code), code }
  end

  test "words are found wherever they are looked for" do
    ['a.include?("traces, blame x")', 'a == "not shown"', "a.match?(/not steady/)", "case a when \"not worse\" then 1 end", 'a.key?("gc settings")', 'a.start_with?("puma ")',
      "a[/none of its/]", "a.grep_v(/\\Anot steady/)", 'a =~ /no\\s+time/'].each { |code| refute_empty looked_for(code), code }
    ['a.include?("worker")', "a == :not_shown", 'puts("not shown")', "a.match?(/\\A\\d+\\z/)"].each { |code| assert_empty looked_for(code), code }
  end
end
