# frozen_string_literal: true

require "test_helper"
require "support/builders"

class AdviceWordsTest < TunerTest
  include Builders

  WORDS = Report::AdviceWords::WORDS
  SOURCES = Dir[File.expand_path("../../lib/puma_tuner/advise/**/*.rb", __dir__)].map { |path| File.read(path) }

  def words(kind, **facts) = Report::AdviceWords.words(PumaTuner::Statement.of(kind, **facts))

  test "there are words for all that rules say, and a rule for all words" do
    said = SOURCES.flat_map { |text| text.scan(/(?:\bsay|Statement\.of)\(:(\w+)/).flatten }.map(&:to_sym).uniq
    assert_operator said.size, :>, 40
    assert_equal WORDS.keys.sort, [*said, :told].sort
  end

  test "a statement is data, and comes back from a file as it was" do
    statement = PumaTuner::Statement.of(:predicted, topology: topology("2x3"), per_s: estimate(100.0), constraints: Advise::Constraints.new(max_p99_ns: 5), seeds_count: nil)
    assert_equal ["2x3", [100.0, 99.0, 101.0], 5], [statement.facts["topology"], statement.facts["per_s"], statement.facts.dig("constraints", "max_p99_ns")]
    assert_equal statement, PumaTuner::Statement.from_document(JSON.parse(JSON.generate(statement.to_document)))
  end

  test "what an older file says in words is told as it is" do
    assert_equal "raise the pool", Report::AdviceWords.words(PumaTuner::Statement.from_document("raise the pool"))
  end

  test "what a newer version says is told by its name" do
    assert_equal "more cores", words(:more_cores)
  end

  test "a limit is named, whoever set it" do
    limits = {max_memory_bytes: 512 << 20, memory_limited_by: "container", max_p99_ns: nil}.transform_keys(&:to_s)
    assert_equal "Stay with 1x5: nothing predicted meets the container's memory limit of 512 MiB", words(:stay_unmet, today: "1x5", constraints: limits)
  end
end
