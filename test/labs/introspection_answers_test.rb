# frozen_string_literal: true

require "test_helper"
require_relative "../../labs/04-introspection/answers"

class IntrospectionAnswersTest < TunerTest
  Answers = PumaTuner::Labs::IntrospectionAnswers

  def answer(*types) = {"data" => {"__schema" => {"types" => types}}}

  def type(name, **fields) = {"name" => name, "kind" => "OBJECT", **fields.transform_keys(&:to_s)}

  test "fields are counted at all depths, and objects apart from plain values and lists" do
    found = answer(type("Shop", fields: [{"name" => "id", "type" => {"name" => "ID"}}]))
    assert_equal 8, Answers.response_fields_count(found)
    assert_equal 2, Answers.objects_count(found.fetch("data"))
  end

  test "types of GraphQL's own are left out" do
    assert_equal %w[Shop], Answers.own_types(answer(type("__Type"), type("ID"), type("Shop"))).keys
  end

  test "order means nothing, and what differs is told once with its number" do
    one = answer(type("A", interfaces: nil), type("B", interfaces: nil))
    other = answer(type("B", interfaces: []), type("A", interfaces: []))
    assert_empty Answers.differences(one, answer(*one["data"]["__schema"]["types"].reverse))
    assert_equal({"interfaces of OBJECT: null, not []" => 2}, Answers.differences(one, other))
  end

  test "a type that only one has is told" do
    assert_equal({"type A only here" => 1, "type B missing" => 1}, Answers.differences(answer(type("A")), answer(type("B"))))
  end
end
