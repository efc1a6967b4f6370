# frozen_string_literal: true

require "test_helper"
require "support/advising"

class MemoryGrowthRuleTest < TunerTest
  include Advising

  # Three workers and their master: 200 MiB shared, 400 MiB without.
  def asked(limit_mib, observation: cluster(3), **constraints)
    ask(Advise::Rules::MemoryGrowth, observation:, today: "3x3", constraints: {max_memory_bytes: limit_mib && limit_mib << 20, **constraints})
  end

  test "workers that fit only while they share memory are told, with how many fit without" do
    advice = asked(310).first
    assert_match(/200 MiB \(PSS\) of 310 MiB; with nothing shared it would be 400 MiB \(RSS\)/, advice.evidence.first)
    assert_equal [{"config/puma.rb" => "workers 2"}, {"workers" => "2"}], [advice.lines, advice.factors]
    assert_equal({"workers" => "2"}, asked(300).first.factors)
    assert_match(/\A2 workers, which fit without sharing/, advice.change)
  end

  test "where a master and a worker do not fit by themselves, it is a single process" do
    [299, 200].each do |limit_mib|
      advice = asked(limit_mib).first
      assert_equal [{"config/puma.rb" => "workers 0"}, {"workers" => "0"}], [advice.lines, advice.factors]
      assert_match(/\Aa single process, which fits without sharing/, advice.change)
    end
  end

  test "in a container workers leave it some of its memory, and a single process may have it all" do
    workers = ->(limit_mib) { asked(limit_mib, memory_limited_by: "container", observation: cluster(3, pss_bytes: 20 << 20)).first.factors["workers"] }
    assert_equal %w[2 0 0], [345, 344, 100].map(&workers)
  end

  test "where nothing fits without sharing, nothing is said to" do
    advice = asked(90, observation: cluster(3, pss_bytes: 20 << 20)).first
    assert_empty [*advice.lines, *advice.factors]
    assert_match(/not even a single process fits without sharing \(100 MiB\)/, advice.change)
  end

  test "where they fit anyway, or not even today, or there is no limit or no cluster, nothing is said" do
    assert_empty asked(400)
    assert_empty asked(199)
    assert_empty asked(nil)
    assert_empty asked(310, observation: observation)
  end
end
