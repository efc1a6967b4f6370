# frozen_string_literal: true

require "test_helper"

class MixTest < TunerTest
  Load = PumaTuner::Load

  def mix(*weights) = Load::Mix.new(requests: weights.map { |weight| Load::Request.new(path: "/#{weight}", weight:) })

  test "a mix of paths requests each equally often" do
    made = Load::Mix.of_paths(["/a", "/b?c=d"])
    assert_equal [["GET", "/a", 1], ["GET", "/b?c=d", 1]], made.requests.map { |request| [request.http_method, request.path, request.weight] }
  end

  test "a mix refuses an empty list of paths, and what is not a path" do
    assert_match(/--path \//, assert_raises(PumaTuner::UsageError) { Load::Mix.of_paths([]) }.message)
    assert_match(/"a" is not a path/, assert_raises(PumaTuner::UsageError) { Load::Mix.of_paths(["/", "a"]) }.message)
    assert_raises(PumaTuner::UsageError) { Load::Mix.of_paths(["/\r\nX: y"]) }
  end

  test "orders requests in exact proportion" do
    order = mix(6, 3, 1).order(1)
    assert_equal [600, 300, 100], order.tally.values_at(0, 1, 2)
    order.each_slice(250) { |block| assert_equal [150, 75, 25], block.tally.values_at(0, 1, 2) }
  end

  # Of 20 in a row, each one in 20: by chance 26% hold two and more, 7.5% three and more (binomial); with blocks of 20, 17% and none.
  test "requests of one kind meet about as often as by chance" do
    found = 50.times.flat_map { |seed| mix(19, 1).order(seed).each_cons(20).map { |some| some.count(1) } }
    assert_in_delta 0.26, found.count { |count| count >= 2 }.fdiv(found.size), 0.03
    assert_in_delta 0.075, found.count { |count| count >= 3 }.fdiv(found.size), 0.02
  end

  test "orders the same way for the same seed only" do
    assert_equal mix(2, 1, 1).order(7), mix(2, 1, 1).order(7)
    refute_equal mix(2, 1, 1).order(7), mix(2, 1, 1).order(8)
  end

  test "what is to come ahead comes once, in its order, before the exact mix" do
    assert_equal [2, 0, *mix(6, 3, 1).order(1)], mix(6, 3, 1).with(ahead: [2, 0]).order(1)
  end

  test "makes no longer blocks than the proportions need" do
    assert_equal mix(2, 1).order(1), mix(1_000, 500).order(1)
    assert_equal [0], mix(30).order(1)
  end

  test "expects what one of its requests expects" do
    either = Load::Mix.new(requests: [Load::Request.new(path: "/", expected_statuses: [404]), Load::Request.new(path: "/", expected_statuses: [201])])
    assert_equal [201, 404], [200, 201, 302, 404, 500].select { |status| either.expects?(status) }
    usual = Load::Mix.of_paths(["/"])
    assert_equal [200, 201, 302], [200, 201, 302, 404, 500].select { |status| usual.expects?(status) }
  end

  test "fills in rows in an order that the seed gives, the same in each request" do
    data = Load::DataFile.new(path: "data.csv", columns: ["id"], rows: (1..20).map { |id| {"id" => id.to_s} })
    made = Load::Mix.new(requests: %w[/a/{{id}} /b/{{id}} /c].map { |path| Load::Request.new(path:) }, data:)
    a, b, c = made.requests.map { |request| made.filled(request, 3).map(&:path).to_a }
    assert_equal (1..20).map { |id| "/a/#{id}" }.sort, a.sort
    assert_equal a.map { |path| path.sub("a", "b") }, b
    assert_equal ["/c"], c
    refute_equal a, made.filled(made.requests.first, 4).map(&:path).to_a
  end

  test "is frozen through and through" do
    headers = {"A" => +"b"}
    assert Ractor.shareable?(Load::Request.new(path: +"/", headers:))
    refute headers.frozen?
    assert Ractor.shareable?(mix(1, 2))
  end
end
