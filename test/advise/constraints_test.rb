# frozen_string_literal: true

require "test_helper"
require "json"
require "support/builders"

class ConstraintsTest < TunerTest
  include Builders

  def facts(memory_limit_bytes) = machine_facts(4, nil, memory_limit_bytes)

  test "the container's limit holds where no other was asked for" do
    assert_equal Advise::Constraints.new(max_memory_bytes: 512 << 20, memory_limited_by: "container", db_connections_count: 5), Advise::Constraints.new(db_connections_count: 5).inside(facts(512 << 20))
    [asked = Advise::Constraints.new(max_memory_bytes: 1), none = Advise::Constraints.new].zip([facts(512 << 20), facts(nil).with(memory_bytes: nil)]).each do |constraints, facts|
      assert_equal constraints, constraints.inside(facts)
    end
    assert_equal ["option", nil], [asked.memory_limited_by, none.memory_limited_by]
  end

  test "else what the machine's memory leaves for an app does, as the lower of the two, and none of a machine elsewhere" do
    inside = ->(gib, limit = nil, **options) {
      found = Advise::Constraints.new.inside(facts(limit).with(memory_bytes: gib << 30), **options)
      [found.memory_limited_by, found.max_memory_bytes&.fdiv(1 << 30)&.round(2)]
    }
    assert_equal [["machine", 0.75], ["machine", 6.2], ["machine", 13.4], ["machine", 118.68], ["machine", 244.12]], [1, 8, 16, 128, 256].map(&inside)
    assert_equal [["container", 5.0], ["machine", 6.2]], [inside[8, 5 << 30], inside[8, 8 << 30]]
    assert_equal [[nil, nil], ["container", 5.0]], [inside[8, elsewhere: true], inside[8, 5 << 30, elsewhere: true]]
  end

  test "of a container's memory a margin is not for use, and what was asked for is taken at its word" do
    container = Advise::Constraints.new.inside(facts(115 << 20))
    assert_equal [115 << 20, 100 << 20], [container.max_memory_bytes, container.usable_bytes]
    assert_equal [true, false], [100 << 20, (100 << 20) + 1].map { |memory_bytes| container.affords?(forecast("1x5", 100, memory_bytes:)) }
    assert_equal [115 << 20, nil], [Advise::Constraints.new(max_memory_bytes: 115 << 20), Advise::Constraints.new].map(&:usable_bytes)
  end

  test "they are told by who set them" do
    limited = Advise::Constraints.new(goals: [Goal.read("99% < 200ms")]).inside(facts(512 << 20))
    assert_equal "the container's memory limit of 512 MiB and 99% < 200 ms", limited.to_s
    assert_equal "the machine's memory, 6349 MiB without what the rest of it needs", Advise::Constraints.new.inside(facts(nil)).to_s
    assert_equal "memory of at most 512 MiB", Advise::Constraints.new(max_memory_bytes: 512 << 20).to_s
  end

  test "each of several machines gets its share of the database's connections" do
    constraints = Advise::Constraints.new(db_connections_count: 20)
    assert_equal [20, 6], [1, 3].map { |count| constraints.of_each(count).db_connections_count }
    assert constraints.of_each(3).met_by?(forecast("2x3", 100))
    refute constraints.of_each(4).met_by?(forecast("2x3", 100))
    assert_equal "memory of at most 1 MiB, at most 20 database connections and 90% < 300 ms",
      constraints.with(max_memory_bytes: 1 << 20, goals: [Goal.read("90% < 300ms")]).to_s
  end

  test "an older file's limit to the p99 is a goal" do
    old = {"max_memory_bytes" => nil, "memory_limited_by" => nil, "max_p99_ns" => 200 * MS}
    assert_equal Advise::Constraints.new(goals: [Goal.read("99% < 200ms")]), Advise::Constraints.from_document(old)
  end

  test "advice of a file keeps them, and a file of before there were any has none" do
    list = Advise::AdviceList.new(advice: [], constraints: Advise::Constraints.new.inside(facts(512 << 20)))
    assert_equal list, Document.parse(Document.dump(list), "advice.json", [:advice_list])
    old = JSON.parse(Document.dump(list)).tap { |document| document.delete("constraints") }
    assert_nil Document.parse(JSON.generate(old), "advice.json", [:advice_list]).constraints
  end
end
