# frozen_string_literal: true

require "test_helper"

class WilsonTest < TunerTest
  Wilson = PumaTuner::Stats::Wilson

  # Newcombe, Statistics in Medicine 17 (1998), 857-872, table I, method 3.
  {[81, 263] => [0.2553, 0.3662], [15, 148] => [0.0624, 0.1605], [0, 20] => [0.0, 0.1611], [1, 29] => [0.0061, 0.1718]}.each do |(count, total), (low, high)|
    test "the interval of #{count} of #{total} is Newcombe's" do
      interval = Wilson.interval(count, total)
      assert_in_delta low, interval.low, 0.00006
      assert_in_delta high, interval.high, 0.00006
      assert_in_delta count.fdiv(total), interval.value
    end
  end

  test "all of them may still be fewer" do
    interval = Wilson.interval(20, 20)
    assert_in_delta 1.0, interval.high
    assert_in_delta 1 - 0.1611, interval.low, 0.00006
  end
end
