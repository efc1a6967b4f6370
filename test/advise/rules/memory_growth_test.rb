# frozen_string_literal: true

require "test_helper"
require "support/advising"

class MemoryGrowthRuleTest < TunerTest
  include Advising

  # Three workers and their master: 200 MiB shared, 400 MiB without.
  def asked(limit_mib, observation: cluster(3)) = ask(Advise::Rules::MemoryGrowth, observation:, today: "3x3", constraints: {max_memory_bytes: limit_mib && limit_mib << 20})

  test "workers that fit only while they share memory are told, with how many fit without" do
    advice = asked(310).first
    assert_match(/200 MiB \(PSS\) of 310 MiB; with nothing shared it would be 400 MiB \(RSS\)/, advice.evidence.first)
    assert_equal({"workers" => "2"}, advice.factors)
    assert_equal({"workers" => "1"}, asked(205).first.factors)
  end

  test "where they fit anyway, or not even today, or there is no limit or no cluster, nothing is said" do
    assert_empty asked(400)
    assert_empty asked(199)
    assert_empty asked(nil)
    assert_empty asked(310, observation: observation)
  end
end
