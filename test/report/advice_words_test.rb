# frozen_string_literal: true

require "test_helper"
require "json"
require "support/builders"

class AdviceWordsTest < TunerTest
  include Builders

  RULES = Report::AdviceWords::RULES
  FOLDER = File.expand_path("../../lib/puma_tuner/advise", __dir__)

  # @param path [String] below advise/
  # @return [Array<Symbol>] kinds of statements that the file makes
  def said(path) = File.read("#{FOLDER}/#{path}").scan(/(?:\bsay|Statement\.of)\(:(\w+)/).flatten.map(&:to_sym).uniq

  def words(kind, **facts) = Report::AdviceWords.words(PumaTuner::Statement.of(kind, **facts))

  test "there are words for all that a rule says, and no others, in the table of its name" do
    said = Dir.children("#{FOLDER}/rules").to_h { |file| [File.basename(file, ".rb"), said("rules/#{file}")] }
    said["topology"] |= said("evidence.rb")
    assert_operator said["topology"].size, :>, 15
    assert_equal said.transform_values(&:sort).sort, RULES.transform_values { |words| words.keys.sort }.sort
  end

  test "two rules say nothing of the same kind" do
    assert_equal RULES.values.sum(&:size) + 1, Report::AdviceWords::WORDS.size
  end

  test "a statement is data, and comes back from a file as it was" do
    statement = PumaTuner::Statement.of(:predicted, topology: topology("2x3"), per_s: estimate(100.0), constraints: Advise::Constraints.new(max_memory_bytes: 5), seeds_count: nil)
    assert_equal ["2x3", [100.0, 99.0, 101.0], 5], [statement.facts["topology"], statement.facts["per_s"], statement.facts.dig("constraints", "max_memory_bytes")]
    assert_equal statement, PumaTuner::Statement.from_document(JSON.parse(JSON.generate(statement.to_document)))
  end

  test "sentences from older files are shown as they are" do
    assert_equal "raise the pool", Report::AdviceWords.words(PumaTuner::Statement.from_document("raise the pool"))
  end

  test "statements of newer versions are shown by name" do
    assert_equal "more cores", words(:more_cores)
  end

  test "a gain that is sure is never told as none" do
    least = ->(ratio) { words(:better_for_all_that, advised: "2x7", today: "1x5", ratio:)[/ it has (.*?)\. /, 1] }
    assert_equal ["no fewer requests/s than 1x5", "+1% requests/s over 1x5"], [1.004, 1.006].map(&least)
  end

  test "a limit is named, whoever set it" do
    limits = {max_memory_bytes: 512 << 20, memory_limited_by: "container"}.transform_keys(&:to_s)
    assert_equal "Stay with 1x5: nothing predicted meets the container's memory limit of 512 MiB", words(:stay_unmet, today: "1x5", constraints: limits)
  end
end
