# frozen_string_literal: true

require "test_helper"

class DeclarationCheckTest < TunerTest
  include PumaTuner::Prove

  SAME = {[:ruby, nil] => "ruby 3.4.5", [:yjit, nil] => "off", [:gem, "json"] => "2.7.2", [:puma, "max_threads"] => "5", [:env, "A"] => "1"}.freeze

  # @param factors [Hash] of the second variant
  # @param changed [Hash] what ran otherwise in it
  def difference(factors, changed, baseline: {}, allowed: [])
    one = Variant.new(name: "one", factors: baseline)
    other = Variant.new(name: "other", factors:)
    DeclarationCheck.new(one, {one => SAME, other => SAME.merge(changed).compact}, allowed:)
  end

  def refused(...) = assert_raises(PumaTuner::UsageError) { difference(...).ensure_declared }.message

  test "a declared factor may differ" do
    assert_nil difference({"yjit" => "on"}, {[:yjit, nil] => "on"}).ensure_declared
    assert_nil difference({"gem.json" => "2.8.1"}, {[:gem, "json"] => "2.8.1", [:extension, "json/ext/parser.so"] => "json-2.8.1"}).ensure_declared
    assert_nil difference({"topology" => "1x3"}, {[:puma, "max_threads"] => "3"}).ensure_declared
    assert_nil difference({"env.A" => "2"}, {[:env, "A"] => "2"}).ensure_declared
    assert_nil difference({"affinity" => "on"}, {[:cores, nil] => "0 or 1"}).ensure_declared
  end

  test "another Puma has other options, which are no difference of their own" do
    assert_nil difference({"gem.puma" => "6.6.1"}, {[:gem, "puma"] => "6.6.1", [:puma, "max_threads"] => nil, [:puma, "version"] => "6.6.1"}).ensure_declared
    assert_match(/puma max_threads/, refused({"gem.json" => "2.8.1"}, {[:gem, "json"] => "2.8.1", [:puma, "max_threads"] => nil}))
  end

  test "YJIT on in one and off in the other, undeclared, is refused" do
    message = refused({"gem.json" => "2.8.1"}, {[:gem, "json"] => "2.8.1", [:yjit, nil] => "on"})
    assert_match(/differ in something undeclared.*yjit: off with one, on with other/m, message)
    assert_match(/--allow "yjit"/, message)
  end

  test "a change of app, commit or configuration does not cover YJIT either" do
    %w[git app config].each { |key| assert_match(/something undeclared/, refused({key => "x"}, {[:yjit, nil] => "on", [:file, "app"] => "2", [:commit, nil] => "2", [:file, "config"] => "2"})) }
  end

  test "every kind of fact is one that some factor may change, and none is unknown" do
    covered = Factors::KINDS.values.flat_map { |_, facts| facts.to_a }.map(&:first)
    assert_empty covered - Factors::FACTS
    assert_empty Factors::FACTS - covered
  end

  test "a variable changes itself, and what is known to follow from it" do
    {"env.RUBYOPT" => [[:ruby, "flags"], [:yjit, nil]], "env.RAILS_ENV" => [[:puma, "max_threads"], [:env, "RACK_ENV"]], "env.A" => []}.each do |factor, also|
      covered = [[:env, factor.delete_prefix("env.")], *also]
      assert_equal covered, [*covered, [:gem, "json"], [:ruby, nil], [:env, "B"]].select { |key| Factors.among?(Factors.covers(factor), key) }
    end
  end

  test "a fact that only one variant has is a difference" do
    assert_match(/gem rack/, refused({"yjit" => "on"}, {[:yjit, nil] => "on", [:gem, "rack"] => "3.2.8"}))
  end

  test "a declared difference without effect is refused" do
    assert_match(/yjit=on of other had no effect.*yjit: off in both/, refused({"yjit" => "on"}, {}))
    assert_match(/affinity=on of other had no effect/, refused({"affinity" => "on"}, {}))
    assert_match(/gem.json=2.8.1 of other had no effect/, refused({"gem.json" => "2.8.1", "yjit" => "on"}, {[:yjit, nil] => "on"}))
  end

  test "a variable that is set is no effect, and a baseline that runs otherwise than declared is refused, too" do
    on = {"yjit" => "on"}
    assert_match(/yjit=on of other had no effect/, refused(on, {[:env, "RUBY_YJIT_ENABLE"] => "1"}))
    assert_match(/preload=libx.so of other had no effect/, refused({"preload" => "libx.so"}, {[:env, "LD_PRELOAD"] => "/lib/libx.so"}))
    assert_nil difference({"preload" => "libx.so"}, {[:env, "LD_PRELOAD"] => "/lib/libx.so", [:preloaded, nil] => "libx.so"}).ensure_declared
    one, other = Variant.new(name: "one", factors: {"yjit" => "on", "env.A" => "1"}), Variant.new(name: "other", factors: {"yjit" => "on", "env.A" => "2"})
    message = assert_raises(PumaTuner::UsageError) { DeclarationCheck.new(one, {one => SAME, other => SAME.merge([:env, "A"] => "2")}).ensure_declared }.message
    assert_match(/yjit=on of one did not come true: it runs with YJIT off/, message)
  end

  test "the same declared twice is an A/A pair, and fine" do
    assert_nil difference({"yjit" => "off"}, {}, baseline: {"yjit" => "off"}).ensure_declared
  end

  test "an allowed fact may differ" do
    assert_nil difference({"yjit" => "on"}, {[:yjit, nil] => "on", [:gem, "rack"] => "3"}, allowed: Factors.allowed(["gem rack"])).ensure_declared
    assert_nil difference({"yjit" => "on"}, {[:yjit, nil] => "on", [:gem, "rack"] => "3"}, allowed: [[:gem, nil]]).ensure_declared
    assert_match(/gem rack/, refused({"yjit" => "on"}, {[:yjit, nil] => "on", [:gem, "rack"] => "3"}, allowed: [[:gem, "json"], [:extension, nil]]))
    assert_match(/--allow "rack": a fingerprint has ruby, cores/, assert_raises(PumaTuner::UsageError) { Factors.allowed(["rack"]) }.message)
    assert_match(/--allow "": a fingerprint has ruby, cores/, assert_raises(PumaTuner::UsageError) { Factors.allowed([""]) }.message)
  end

  test "a server that tells nothing of Ruby is compared in what both tell" do
    one = Variant.new(name: "one")
    other = Variant.new(name: "other", factors: {"command" => "server {port}"})
    assert_nil DeclarationCheck.new(one, {one => SAME.merge([:program, nil] => "ruby"), other => {[:program, nil] => "server"}}).ensure_declared
  end
end
