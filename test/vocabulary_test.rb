# frozen_string_literal: true

require "test_helper"
require "support/vocabulary"

class VocabularyTest < TunerTest
  test "old words appear nowhere in code, documentation or test names" do
    assert_empty Vocabulary.found.first(20)
  end

  test "each old word is found, and the field's word is not mistaken for it" do
    ["2 s of thought", "on the front", "2 are beaten", "odd_requests", "unclosed_count", "Shows from:", "Prove::Laws", "were held back", "Model::Undisturbed",
      "unaided", "OffGvl", "burners", "the answers", "no answer", "What the proof rests on", "mend it", "waits for ever", "30 % of", "\#{a} %."].each { |line| assert Vocabulary.old_word(line), line }
    ["think time", "the Pareto front", "in front of it", "number.odd?", "holds back", "answers the question", "an undisturbed request", "for every one", "30% of", "a % b",
      "<%= a / 10 %>", 'renamed: {a: "unclosed_count"}'].each { |line| assert_nil Vocabulary.old_word(line), line }
  end
end
