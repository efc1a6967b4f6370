# frozen_string_literal: true

require "test_helper"
require "support/profiles"

class ProfileDiffTest < TunerTest
  include Profiles

  MS = 1_000_000

  def outcomes(before, after) = Profile::Diff.new(before, after).call.methods.to_h { |one| [one.name, one.outcome] }

  test "a method with a quarter of its samples is cheaper, and three more of three hundred show nothing" do
    diff = Profiles.two_profiles
    assert_equal({"Store#find" => :cheaper, "View#render" => :not_shown}, diff.methods.to_h { |one| [one.name, one.outcome] })
    find = diff.methods.first
    assert_in_delta 4 * MS, find.before
    assert_in_delta 0.25, find.ratio.value, 0.001
    assert_operator find.ratio.low, :<, 0.25
    assert_operator find.ratio.high, :<, 0.35
    assert_equal :cheaper, diff.total.outcome
  end

  test "amounts are of one request: twice the requests at twice the amount is no change" do
    one = costs(samples({"A#a" => 500 * MS}))
    assert_equal({"A#a" => :not_shown}, outcomes(one, costs(samples({"A#a" => 1_000 * MS}), work_count: 200)))
  end

  test "a method that comes or goes is told so, when there was enough of it" do
    before = costs(samples({"A#a" => 500 * MS, "Old#old" => 90 * MS, "Rare#rare" => 1 * MS}))
    after = costs(samples({"A#a" => 500 * MS, "New#new" => 90 * MS}))
    assert_equal({"Old#old" => :gone, "New#new" => :new, "A#a" => :not_shown, "Rare#rare" => :not_shown}, outcomes(before, after))
  end

  test "equal profiles of forty methods show nothing, however the samples fall" do
    random = Random.new(3)
    shown = Array.new(40) do
      profiles = Array.new(2) { costs(samples(Array.new(40) { |i| ["M#{i}#m", (0...100).count { random.rand < 0.5 } * MS] }.to_h)) }
      outcomes(*profiles).values.count { |outcome| outcome != :not_shown }
    end
    # One in twenty comparisons of all may call a difference; binomial counts scatter less than Poisson's, so fewer do.
    assert_operator shown.count(&:positive?), :<=, 5
  end

  test "counts of calls are exact" do
    before = traced({"Map#get" => 44_528, "Mutex#synchronize" => 44_528, "Same#same" => 10})
    after = traced({"Map#get" => 44_528, "Same#same" => 10, "New#new" => 3})
    calls = Profile::Diff.new(before, after).call.calls.to_h { |one| [one.name, [one.outcome, one.difference]] }
    assert_equal({"Mutex#synchronize" => [:gone, -44_528.0], "New#new" => [:new, 3.0], "Map#get" => [:same, 0.0], "Same#same" => [:same, 0.0]}, calls)
  end

  test "allocations are held against each other by class and file" do
    site = Profile::Allocation.new(class_name: "String", path: "/gems/a-1.0.0/lib/a.rb", line: 3, objects_count: 500, bytes: 20_000, retained_objects_count: 0, retained_bytes: 0)
    before = costs(samples(list: [], allocations: [site, site.with(line: 9)]))
    after = costs(samples(list: [], allocations: [site.with(path: "/gems/a-2.0.0/lib/a.rb", line: 4)]))
    row = Profile::Diff.new(before, after).call.allocations.first
    assert_equal ["String a.rb", 10.0, 5.0, :cheaper], [row.name, row.before, row.after, row.outcome]
  end

  def site(name, objects_count, line: 3) = Profile::Allocation.new(class_name: "String", path: "/app/#{name}.rb", line:, objects_count:, bytes: 0, retained_objects_count: 0, retained_bytes: 0)

  # What memory_profiler tells.
  def objects(*sites, **) = costs(samples(list: [], interval_ns: nil, allocations: sites), profiler: "memory_profiler", mode: "objects", unit: "objects", samples_count: nil, **)

  test "the total of profiles that have no stacks is their objects" do
    diff = Profile::Diff.new(objects(site("a", 500), site("b", 300)), objects(site("a", 100), site("b", 300))).call
    assert_equal [8.0, 4.0, :cheaper], [diff.total.before, diff.total.after, diff.total.outcome]
    assert_in_delta 0.5, diff.total.ratio.value
    assert_match(/everything +8 → 4, .*cheaper/, PumaTuner::Report.render(diff, format: :text))
    older = objects(site("a", 500)).with(total_amount: 0)
    assert_equal 5.0, Profile::Diff.new(older, older).call.total.before
  end

  test "allocations of nobody knows how many requests are shares, and no outcome is called" do
    diff = Profile::Diff.new(objects(site("a", 500), site("b", 500), work_count: nil), objects(site("a", 100), site("b", 300), work_count: nil)).call
    assert_equal [["String a.rb", 0.5, 0.25, :not_shown], ["String b.rb", 0.5, 0.75, :not_shown]], diff.allocations.map { |row| [row.name, row.before, row.after, row.outcome] }.sort
    assert_match(/String a\.rb +50\.0% +25\.0% +-25\.0%/, PumaTuner::Report.render(diff, format: :text))
    calls = Profile::Diff.new(traced({"A#a" => 30, "B#b" => 10}, work_count: nil), traced({"A#a" => 30, "B#b" => 30}, work_count: nil)).call.calls
    assert_equal [["A#a", 0.75, 0.5, :not_shown], ["B#b", 0.25, 0.5, :not_shown]], calls.map { |row| [row.name, row.before, row.after, row.outcome] }
  end

  test "what a full list has no room for is neither gone nor new" do
    outcomes = lambda do |count|
      before, after = [0, 1].map { |first| objects(*(first...(first + count)).map { |number| site("f#{number}", 10) }) }
      Profile::Diff.new(before, after).call.allocations.to_h { |row| [row.name, row.outcome] }.values_at("String f0.rb", "String f#{count}.rb")
    end
    assert_equal %i[gone new], outcomes.call(Profile::Aggregate::SITES_MAX - 1)
    assert_equal %i[not_shown not_shown], outcomes.call(Profile::Aggregate::SITES_MAX)
  end

  test "a method that a full list has no room for took less than the last of it, and is called gone only where there was room" do
    base = traced({"A#a" => 1})
    method = base.methods.first.with(calls_count: 10)
    full = ->(*names) { base.with(methods: names.first(Profile::Aggregate::METHODS_MAX).map { |name| method.with(name:, self_amount: (name == "Big#b") ? 1_000 : 10) }) }
    numbered = ->(range) { range.map { |number| "M#{number}#m" } }
    diff = Profile::Diff.new(full.call("Big#b", *numbered.call(0..2_000)), full.call(*numbered.call(1..2_001))).call
    found = diff.methods.to_h { |row| [row.name, row.outcome] }
    assert_equal %i[cheaper not_shown not_shown], found.values_at("Big#b", "M0#m", "M2000#m")
    assert_equal [:not_shown], diff.calls.map(&:outcome).uniq - [:same]
    assert_equal :gone, Profile::Diff.new(full.call("Big#b", "A#a"), full.call("A#a")).call.methods.first.outcome
  end

  test "where nobody counted requests, shares are compared, and it says so" do
    before, after = [300, 600].map { |ms| costs(samples({"A#a" => ms * MS, "B#b" => ms * MS}), work_count: nil) }
    diff = Profile::Diff.new(before, after).call
    assert_nil diff.per
    assert_equal [:per_request], diff.unknown.map(&:field)
    assert_in_delta 0.5, diff.methods.first.before
  end

  test "profiles of different things are refused" do
    mistake = assert_raises(PumaTuner::UsageError) { Profile::Diff.new(costs(samples({"A#a" => MS})), traced({"A#a" => 1})) }
    assert_match(/same profiler and mode/, mistake.message)
    assert_raises(PumaTuner::UsageError) { Profile::Diff.new(costs(samples({"A#a" => MS}), mode: "cpu"), costs(samples({"A#a" => MS}), mode: "wall")) }
  end

  test "a method that took nothing in both profiles is unchanged" do
    assert_equal :same, Profile::Diff.new(traced({"A#a" => 0}), traced({"A#a" => 0})).call.total.outcome
  end

  test "a diff can be written and read" do
    assert_equal Profiles.two_profiles, PumaTuner::Document.parse(PumaTuner::Document.dump(Profiles.two_profiles), "diff", [:profile_diff])
  end
end
