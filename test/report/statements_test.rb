# frozen_string_literal: true

require "test_helper"
require "json"

class StatementsTest < TunerTest
  STAGES = Dir[File.expand_path("../../lib/puma_tuner/{load,measure,predict,prove}/**/*.rb", __dir__)].grep_v(/likely_cause/) # SelfCheckWords has its words
  WORDS = PumaTuner::Report::Statements::WORDS

  test "there are words for all that stages say, and no others" do
    said = STAGES.flat_map { |path| File.read(path).scan(/(?:Statement\.of|voids_of)\(:(\w+)/).flatten }.map(&:to_sym).uniq
    assert_operator said.size, :>, 20
    assert_equal WORDS.keys.sort, (said | %i[told workers_replaced process_gone]).sort
  end

  test "nothing stands in two tables" do
    tables = PumaTuner::Report::Statements.constants.map { |name| PumaTuner::Report::Statements.const_get(name) }.grep(Hash)
    assert_equal WORDS.size, (tables - [WORDS, PumaTuner::Report::Statements::CURES]).sum(&:size) + 1
  end

  test "what is nested in a statement is told in it" do
    void = PumaTuner::Prove::Void.new(kind: :generator, detail: PumaTuner::Statement.of(:generator_late, lag_ns: 3_000_000))
    stopped = PumaTuner::Statement.of(:voids_in_a_row, rounds_count: 3, variant: "today", void:)
    told = "3 rounds in a row were void, the last because, with today, the load generator sent 3.00 ms late (p99): the machine is too busy for this rate. " \
      "Send less: a lower --rate, or fewer --connections."
    assert_equal told, in_words(stopped)
    assert_equal told, in_words(PumaTuner::Statement.from_document(JSON.parse(JSON.generate(stopped.to_document))))
  end

  test "what older files say in words is told as it is, and what another version says by its kind" do
    assert_equal "the time is up", in_words(PumaTuner::Statement.from_document("the time is up"))
    assert_equal "out of luck", in_words(PumaTuner::Statement.of(:out_of_luck))
    assert_equal "planned rounds", in_words(PumaTuner::Statement.of(:planned_rounds, count: 9))
    assert_nil in_words(nil)
  end
end
