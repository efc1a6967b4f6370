# frozen_string_literal: true

require "test_helper"
require "oracles/simulation"

class EventQueueTest < TunerTest
  EventQueue = SimulationTwin::EventQueue

  def add(queue, time_ns, name) = queue.add(time_ns, :tick, name, nil)

  def drain(queue)
    popped = []
    popped << [queue.due_ns, queue.take.receiver] until queue.due_ns == EventQueue::NEVER_NS
    popped
  end

  test "the soonest event comes first" do
    queue = EventQueue.new
    [30, 10, 20].each { |time_ns| add(queue, time_ns, time_ns.to_s) }
    assert_equal [[10, "10"], [20, "20"], [30, "30"]], drain(queue)
  end

  test "events at the same time come in the order in which they were scheduled" do
    queue = EventQueue.new
    %w[a b c].each { |name| add(queue, 5, name) }
    add(queue, 4, "before")
    %w[d e].each { |name| add(queue, 5, name) }
    assert_equal %w[before a b c d e], drain(queue).map(&:last)
  end

  test "whatever is scheduled in between, the order is that of a stable sort" do
    random = Random.new(3)
    queue = EventQueue.new
    expected = []
    popped = []
    2_000.times do |serial|
      entry = [(popped.last || [0]).first + random.rand(20), serial]
      add(queue, *entry)
      expected << entry
      popped << [queue.due_ns, queue.take.receiver] if random.rand < 0.4
    end
    assert_equal expected.sort, popped + drain(queue)
  end

  test "an empty queue has nothing due" do
    queue = EventQueue.new
    assert_equal EventQueue::NEVER_NS, queue.due_ns
  end
end
