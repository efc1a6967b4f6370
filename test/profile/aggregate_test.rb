# frozen_string_literal: true

require "test_helper"
require "support/profiles"

class ProfileAggregateTest < TunerTest
  include Profiles

  def aggregate(*samples, **) = Profile::Aggregate.new(samples, **)

  def method_of(aggregate, name) = aggregate.methods.find { |method| method.name == name }

  test "self is what stands at a stack's end, total what stands anywhere in it" do
    told = aggregate(samples({"A#a > B#b" => 30, "A#a" => 10, "C#c" => 5}))
    assert_equal [["B#b", 30, 30], ["A#a", 10, 40], ["C#c", 5, 5]], told.methods.map { |method| [method.name, method.self_amount, method.total_amount] }
    assert_equal 45, told.total_amount
  end

  test "a method that calls itself counts once in its total" do
    told = aggregate(samples({"A#a > A#a > A#a > B#b" => 8}))
    assert_equal [0, 8], method_of(told, "A#a").then { |method| [method.self_amount, method.total_amount] }
  end

  test "a template is one method in all processes, whatever numbers each has given to it" do
    names = ["#<Class:0x00007fc160714570>#_app_views_orders_show_html_erb__2526547_4680",
      "block in #<Class:0x00007fdd70aa4100>#_app_views_orders_show_html_erb___989_5024", "Set#_2__3"]
    list = names.map do |name|
      Profile::Stack.new(frames: [frame(name, "/app/views/orders/show.html.erb")], amount: 1, thread: 1, at_ns: nil)
    end
    template = "#<Class>#_app_views_orders_show_html_erb"
    assert_equal [template, "Set#_2__3", "block in #{template}"], aggregate(samples(list:)).methods.map(&:name).sort
  end

  test "the selves sum up to the whole" do
    random = Random.new(7)
    stacks = Array.new(200) { |i| [Array.new(1 + random.rand(6)) { "M#{random.rand(9)}#m" }.join(" > ") + " > L#{i}#l", random.rand(1..50)] }.to_h
    told = aggregate(samples(stacks))
    assert_equal stacks.values.sum, told.methods.sum(&:self_amount)
    assert_equal stacks.values.sum, told.total_amount
  end

  test "a tree's branches and its own amount sum up, at each of its places" do
    told = aggregate(samples({"A#a > B#b > C#c" => 600, "A#a > B#b" => 300, "A#a > D#d" => 100, "E#e" => 50}))
    told.tree.each_with_index do |(depth, _, self_amount, total_amount), place|
      below = told.tree.drop(place + 1).take_while { |other, *| other > depth }.select { |other, *| other == depth + 1 }
      assert_equal total_amount, self_amount + below.sum(&:last)
    end
    assert_equal [0, nil, 0, 1_050], told.tree.first
    assert_equal [[1, "A#a"], [2, "B#b"], [3, "C#c"], [2, "D#d"], [1, "E#e"]], told.tree.drop(1).map { |depth, index, *| [depth, told.methods[index].name] }
  end

  test "methods too small for a picture are summed up" do
    told = aggregate(samples({"A#a" => 100_000, "B#b" => 10, "C#c" => 20}))
    assert_equal [1, Profile::Aggregate::SMALL, 30, 30], told.tree.last
  end

  test "processes are added up, and a method is the same in all of them" do
    told = aggregate(samples({"A#a" => 10}), samples({"A#a" => 5, "B#b" => 1}))
    assert_equal [["A#a", 15], ["B#b", 1]], told.methods.map { |method| [method.name, method.self_amount] }
  end

  test "threads that wait for work are left out, and reported" do
    told = aggregate(samples({"Puma::ThreadPool#spawn > Thread::Queue#pop" => 900, "Puma::Request#handle_request > App#call" => 100}))
    assert_equal [100, 900], [told.total_amount, told.left_out_amount]
    assert_equal 1_000, aggregate(samples({"A#a > Thread::Queue#pop" => 900, "B#b" => 100}), whole: true).total_amount
  end

  test "calls are counted over processes, with who called" do
    call = Profile::Call.new(frame: frame("Map#get"), calls_count: 3, self_amount: 1, total_amount: 1, callers: {frame("A#a") => 2, frame("B#b") => 1})
    told = aggregate(samples(list: [], calls: [call]), samples(list: [], calls: [call]))
    assert_equal [6, {"A#a" => 4, "B#b" => 2}], told.methods.first.then { |method| [method.calls_count, method.callers] }
  end

  test "allocating lines are added up, and what one process does not know is unknown" do
    one = Profile::Allocation.new(class_name: "String", path: "/app/a.rb", line: 3, objects_count: 5, bytes: 200, retained_objects_count: 1, retained_bytes: 40)
    told = aggregate(samples(list: [], allocations: [one]), samples(list: [], allocations: [one.with(bytes: nil)]))
    assert_equal [[10, nil, 2]], told.allocations.map { |site| [site.objects_count, site.bytes, site.retained_objects_count] }
  end

  test "a stack of thousands of frames can be written and read" do
    costs = costs(samples({Array.new(3_000) { |i| "A#m#{i}" }.join(" > ") => 1_000_000}))
    assert_equal costs, PumaTuner::Document.parse(PumaTuner::Document.dump(costs), "deep", [:profile])
  end
end
