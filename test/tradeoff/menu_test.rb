# frozen_string_literal: true

require "test_helper"

class TradeoffMenuTest < TunerTest
  Menu = PumaTuner::Tradeoff::Menu

  def factors(*subjects, **) = Menu.variants(subjects, **).to_h { |variant| [variant.name, variant.factors] }

  test "the baseline of each menu is as Ruby comes" do
    assert_equal({"yjit" => "off"}, factors("yjit").values.first)
    assert_equal({}, factors("malloc").values.first)
    assert_equal({}, factors("gc").values.first)
  end

  test "YJIT's limit is of another flag since Ruby 3.4" do
    assert_includes factors("yjit", ruby_version: "3.4.5").values, {"yjit" => "on", "rubyopt" => "--yjit-mem-size=16"}
    assert_includes factors("yjit", ruby_version: "3.3.8").values, {"yjit" => "on", "rubyopt" => "--yjit-exec-mem-size=16"}
  end

  test "menus together are every combination" do
    both = factors("yjit", "gc", memory_mib: [8], call_thresholds: [])
    assert_equal 3 * Menu::GC.size, both.size
    assert_equal({"yjit" => "on", "env.RUBY_GC_HEAP_GROWTH_FACTOR" => "1.1"}, both["YJIT on + heap grows slowly"])
  end

  test "crossed, each limit goes with each threshold, in the flags of the version" do
    crossed = factors("yjit", cross: true, memory_mib: [8, 16], call_thresholds: [5, 200], ruby_version: "3.3.8")
    assert_equal 2 + 4 + 4, crossed.size
    assert_equal({"yjit" => "on", "rubyopt" => "--yjit-exec-mem-size=16 --yjit-call-threshold=200"}, crossed["YJIT on with 16 MiB after 200 calls"])
    assert_equal factors("yjit").keys, factors("yjit", cross: true).keys.first(6)
  end

  test "too many, and unknown ones, are refused" do
    assert_match(/are \d+ combinations/, assert_raises(PumaTuner::UsageError) { Menu.variants(%w[yjit malloc gc]) }.message)
    assert_match(/unknown subject magic; choose from yjit, malloc, gc/, assert_raises(PumaTuner::UsageError) { Menu.variants(%w[yjit magic]) }.message)
  end

  test "every factor is one that a proof understands" do
    %w[yjit malloc gc].each { |subject| Menu.variants([subject]).each { |variant| refute_nil PumaTuner::Prove::Factors.check(variant.factors) || variant } }
  end
end
