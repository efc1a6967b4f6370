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
