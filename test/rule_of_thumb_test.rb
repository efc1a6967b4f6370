# frozen_string_literal: true

require "test_helper"

class RuleOfThumbTest < TunerTest
  def threads_count(cpu_ratio) = PumaTuner::RuleOfThumb.threads_count(cpu_ratio)

  test "it is 100 over the CPU percentage, rounded" do
    assert_equal 4, threads_count(0.25)
    assert_equal 3, threads_count(0.3)
    assert_equal 2, threads_count(0.65)
  end

  test "it is one thread at least" do
    assert_equal 1, threads_count(1.0)
  end

  test "the rule gives no number without a known share of CPU" do
    assert_nil threads_count(nil)
    assert_nil threads_count(0.0)
  end
end
